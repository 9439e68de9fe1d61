"""The state of async tool sources, as data and pure steps (spec: tools, "Async tool definitions").

A source registers tools for a while and says when it is done. Sends wait until none is loading.
Whoever runs the sources (app) keeps one :class:`Sources`, applies a step for each thing that
happens, shows the warning and resends the buffers that a step gives back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

WAITING_MESSAGE = "Waiting for tool definitions to load..."
"""Shown when a send has to wait."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Loading sources with the time (monotonic seconds) at which each is given up, and the buffers
    whose send waits for them, in order."""

    loading: Mapping[str, float] = field(default_factory=dict[str, float])
    waiting: tuple[int, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether a send may go."""
        return not self.loading

    @property
    def next_deadline(self) -> float | None:
        """When :func:`expire` has something to do, None if never."""
        return min(self.loading.values(), default=None)


@dataclass(frozen=True, slots=True)
class Settled:
    """The state after a step, with warnings to show and buffers to send now."""

    sources: Sources
    warnings: tuple[str, ...] = ()
    resume: tuple[int, ...] = ()


def begin(sources: Sources, name: str, now: float, timeout: float) -> Sources:
    """A source started; it has ``timeout`` seconds."""
    return replace(sources, loading={**sources.loading, name: now + timeout})


def finish(sources: Sources, name: str, error: str | None = None) -> Settled:
    """A source called `done`, or failed with ``error``. A second call changes nothing."""
    if name not in sources.loading:
        return Settled(sources)
    remaining = {key: end for key, end in sources.loading.items() if key != name}
    warnings = (f"Async tool source failed: {error}",) if error else ()
    if remaining:
        return Settled(replace(sources, loading=remaining), warnings)
    return Settled(Sources(), warnings, sources.waiting)


def expire(sources: Sources, now: float) -> Settled:
    """Give up the sources whose time is over, so that a broken one never blocks requests."""
    settled = Settled(sources)
    for name in [name for name, end in sources.loading.items() if end <= now]:
        step = finish(settled.sources, name, f"'{name}' did not finish in time")
        settled = Settled(step.sources, (*settled.warnings, *step.warnings), step.resume)
    return settled


def wait(sources: Sources, buffer_id: int) -> Sources:
    """A send of this buffer waits; asking twice sends once."""
    if sources.ready or buffer_id in sources.waiting:
        return sources
    return replace(sources, waiting=(*sources.waiting, buffer_id))


def forget(sources: Sources, buffer_id: int) -> Sources:
    """The buffer is gone, or its waiting send was cancelled."""
    return replace(sources, waiting=tuple(one for one in sources.waiting if one != buffer_id))

"""Async tool sources at run time: loading, time-outs, and sends that wait for them."""

import asyncio

from flemma.ports.clock import Clock
from flemma.ports.editor import Level, Screen
from flemma.ports.tasks import Tasks
from flemma.tools.sources import Settled, Sources, begin, expire, finish


class ToolSources:
    """Keeps :class:`flemma.tools.sources.Sources` and wakes who waits for it."""

    def __init__(self, clock: Clock, screen: Screen, tasks: Tasks) -> None:
        self._clock = clock
        self._screen = screen
        self._tasks = tasks
        self._sources = Sources()
        self._ready = asyncio.Event()
        self._ready.set()

    @property
    def loading(self) -> bool:
        """Whether a source has not finished."""
        return not self._sources.ready

    def begin(self, name: str, timeout: float) -> None:
        """A source starts; it is given up after ``timeout`` seconds."""
        self._sources = begin(self._sources, name, self._clock.monotonic(), timeout)
        self._ready.clear()
        self._tasks.spawn(self._give_up(timeout), f"time-out of tool source {name}")

    def finish(self, name: str, error: str | None = None) -> None:
        """A source is complete, or failed."""
        self._settle(finish(self._sources, name, error))

    async def ready(self) -> None:
        """Wait until no source is loading."""
        await self._ready.wait()

    async def _give_up(self, timeout: float) -> None:
        await self._clock.sleep(timeout)
        self._settle(expire(self._sources, self._clock.monotonic()))

    def _settle(self, settled: Settled) -> None:
        self._sources = settled.sources
        for warning in settled.warnings:
            self._screen.notify(warning, Level.WARN)
        if self._sources.ready:
            self._ready.set()

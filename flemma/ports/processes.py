"""Programs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A program to run: stdin is /dev/null, a new session without a controlling terminal."""

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str] | None = None
    """Variables on top of the inherited ones."""
    timeout: float | None = None
    """Seconds until the whole process tree is ended."""
    terminal: bool = False
    """Whether stdout and stderr are one pseudo-terminal (else two pipes)."""
    output_limit: int = 1 << 30
    """Bytes after which the tree is ended with reason ``output_limit``."""


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """How a program ended."""

    exit_code: int | None
    """None when it was ended by us; a negative signal number when a signal ended it."""
    ended_by: str | None
    """``timeout``, ``output_limit``, ``cancelled`` or None."""
    survivors: bool
    """Whether processes it started still run (and were left running)."""


class Processes(Protocol):
    """Runs programs and ends them with their whole tree."""

    async def run(
        self,
        spec: ProcessSpec,
        on_output: Callable[[bytes], None],
        on_error: Callable[[bytes], None] | None = None,
    ) -> ProcessOutcome:
        """Run to the end of the direct child (plus a short drain). Cancelling the awaiting task
        ends the tree before this returns. Without ``on_error`` both streams go to ``on_output`` in
        arrival order. Raises :class:`flemma.errors.ProcessError` when it cannot be started."""
        ...

    def which(self, program: str) -> str | None:
        """Return the absolute path of ``program`` on PATH, or None."""
        ...

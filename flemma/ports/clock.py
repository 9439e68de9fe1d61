"""Time."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall clock, monotonic clock and waiting."""

    def now(self) -> datetime:
        """Return the local wall-clock time, with time zone."""
        ...

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable at once."""
        ...

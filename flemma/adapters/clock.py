"""The Clock port on the system's clocks."""

import asyncio
import time
from datetime import datetime


class SystemClock:
    """Real time."""

    def now(self) -> datetime:
        """Return the local wall-clock time, with time zone."""
        return datetime.now().astimezone()  # noqa: TID251 - this is the Clock port

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable at once."""
        await asyncio.sleep(seconds)

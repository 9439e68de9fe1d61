"""The delay before a conversation goes on by itself (spec: behaviour 7.4)."""

import asyncio
from collections.abc import Callable

from flemma.app.services import Services


class AutoContinue:
    """The countdown of one buffer; starting it again begins anew."""

    def __init__(self, services: Services, buffer_id: int, due: Callable[[], None]) -> None:
        self._services = services
        self._buffer_id = buffer_id
        self._due = due
        self._task: asyncio.Task[None] | None = None
        self._deadline: float | None = None

    @property
    def deadline(self) -> float | None:
        """When the conversation goes on, in monotonic seconds; None when it does not."""
        return self._deadline

    def start(self, seconds: float) -> None:
        """Start the delay, or start it again."""
        self.end()
        self._deadline = self._services.clock.monotonic() + seconds
        data = {"bufnr": self._buffer_id, "delay": round(seconds * 1000)}
        self._services.screen.event("autopilot:resume-scheduled", data)
        self._task = self._services.tasks.spawn(
            self._wait(seconds), f"auto-continue of chat {self._buffer_id}"
        )

    def stop(self, *, resumed: bool) -> None:
        """Drop the delay, and say whether the conversation went on or not."""
        self.end()
        name = "autopilot:resumed" if resumed else "autopilot:resume-cancelled"
        self._services.screen.event(name, {"bufnr": self._buffer_id})

    def end(self) -> None:
        """Drop the delay without a word."""
        if self._task is not None:
            self._task.cancel()
        self._task = None
        self._deadline = None

    async def _wait(self, seconds: float) -> None:
        await self._services.clock.sleep(seconds)
        self._due()

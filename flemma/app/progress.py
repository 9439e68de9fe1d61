"""What the user sees of a request while it runs (spec: behaviour 12.6)."""

import math
from dataclasses import dataclass
from typing import Any

from flemma.conversation.events import (
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUseDelta,
    ToolUseStarted,
)
from flemma.errors import ProviderError
from flemma.ports.clock import Clock
from flemma.ports.editor import Screen
from flemma.providers.retry import MAX_ATTEMPTS
from flemma.tools.display_width import shorten

_REASON_WIDTH = 60
"""Columns for why a request is repeated."""


@dataclass(frozen=True, slots=True)
class _Pause:
    """The wait before a request is repeated."""

    reason: str
    until: float
    """Monotonic seconds."""
    attempt: int

    def words(self, now: float) -> str:
        rest = max(1, math.ceil(self.until - now))
        return f"{self.reason} — retrying in {rest}s ({self.attempt}/{MAX_ATTEMPTS})"


class RequestProgress:
    """Counts what arrives; shows it when asked, and only if it changed."""

    def __init__(self, screen: Screen, clock: Clock, buffer_id: int, timeout: float) -> None:
        self._screen = screen
        self._clock = clock
        self._buffer_id = buffer_id
        self._timeout = timeout
        self._phase = "waiting"
        self._characters = 0
        self._tool: str | None = None
        self._pause: _Pause | None = None
        self._shown: dict[str, Any] | None = None

    def take(self, event: StreamEvent) -> None:
        """Count an event."""
        match event:
            case TextDelta(text):
                self._count("streaming", len(text))
            case ThinkingDelta(text):
                self._count("thinking", len(text))
            case ToolUseStarted(_, name):
                self._count("buffering", 0)
                self._tool = name
            case ToolUseDelta(_, partial):
                self._count("buffering", len(partial))
            case _:
                pass

    def connecting(self) -> None:
        """A request leaves."""
        self._pause = None
        self._count("waiting", 0)
        self.show()

    def waiting(self, seconds: float, error: ProviderError, attempt: int) -> None:
        """The request is repeated after a pause; its rest is counted down (case S-05)."""
        reason = shorten(error.message.splitlines()[0], _REASON_WIDTH)
        self._pause = _Pause(reason, self._clock.monotonic() + seconds, attempt + 1)
        self._count("waiting", 0)
        self.show()

    def show(self) -> None:
        """Show the present state, if it is not on the screen yet."""
        state: dict[str, Any] = {
            "phase": self._phase,
            "characters": self._characters,
            "timeout": self._timeout,
        }
        if self._tool is not None and self._phase == "buffering":
            state["tool"] = self._tool
        if self._pause is not None:
            state["message"] = self._pause.words(self._clock.monotonic())
        if state != self._shown:
            self._shown = state
            self._screen.progress(self._buffer_id, state)

    def end(self) -> None:
        """Take the progress off the screen."""
        self._shown = None
        self._screen.progress(self._buffer_id, None)

    def _count(self, phase: str, characters: int) -> None:
        if phase != self._phase:
            self._phase = phase
            self._characters = 0
        self._characters += characters

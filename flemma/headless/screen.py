"""What an editor would show beside the text goes to stderr: :class:`flemma.ports.editor.Screen`."""

from collections.abc import Callable, Mapping
from typing import Any

from flemma.ports.editor import Level

JOB_COMPLETED = "job:completed"
_WORDS = {Level.INFO: "", Level.WARN: "warning: ", Level.ERROR: "error: "}


class TerminalScreen:
    """Writes notifications, and remembers them for the report."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._notifications: list[dict[str, str]] = []
        self._told_to_wait = False
        self.on_job_completed: Callable[[], None] = lambda: None
        """Called when the result of a background job is ready."""

    @property
    def notifications(self) -> tuple[Mapping[str, str], ...]:
        """Everything that was said, oldest first."""
        return tuple(self._notifications)

    def notify(self, message: str, level: Level = Level.INFO, *, once: bool = False) -> None:
        """Write a message; with ``once`` the same text only the first time."""
        entry = {"level": str(level), "message": message.strip("\n")}
        if once and entry in self._notifications:
            return
        self._notifications.append(entry)
        self._say(_WORDS[level] + entry["message"])

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Nobody listens, but the run waits for jobs."""
        del data
        if name == JOB_COMPLETED:
            self.on_job_completed()

    def progress(self, buffer_id: int, state: Mapping[str, Any] | None) -> None:
        """Say once that a request is about to be repeated; lines of a log need no countdown."""
        del buffer_id
        message = None if state is None else state.get("message")
        if message is not None and not self._told_to_wait:
            self._say(str(message))
        self._told_to_wait = message is not None

    def refresh(self, buffer_id: int) -> None:
        """There is no view."""

    def _say(self, text: str) -> None:
        first, *rest = text.split("\n")
        lines = [f"flemma: {first}", *(f"  {line}" if line else "" for line in rest)]
        self._write("\n".join(lines) + "\n")

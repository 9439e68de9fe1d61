"""The editor, as far as a conversation needs one. A plain file behind it works as well."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from flemma.chat.document import Document
from flemma.chat.nodes import Edit, ToolResult
from flemma.chat.pairing import CallKey, Located


class Level(StrEnum):
    """Severity of a notification."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A cursor position; ``line`` is 0-based and absolute, ``column`` a 0-based byte."""

    line: int
    column: int = 0


class ChatBuffer(Protocol):
    """One `.chat` buffer (or file)."""

    @property
    def id(self) -> int:
        """Buffer number; 0 for a file without an editor."""
        ...

    @property
    def path(self) -> str | None:
        """Absolute path, or None for an unnamed buffer."""
        ...

    @property
    def document(self) -> Document:
        """The newest document known; changes with every edit of the user."""
        ...

    async def edit(
        self, compute: Callable[[Document], Sequence[Edit]], *, undo_group: str | None = None
    ) -> Document:
        """Apply the edits that ``compute`` makes of the newest document, atomically.

        When the buffer moved on meanwhile, ``compute`` is called again with the new document.
        Edits with the same ``undo_group`` in a row are undone together. Works while the buffer is
        locked. Raises :class:`flemma.errors.BufferGone`.
        """
        ...

    async def set_locked(self, *, locked: bool) -> None:
        """Make the buffer (not) modifiable for the user."""
        ...

    async def move_cursor(self, line: int, *, force: bool = False) -> None:
        """Move to a line; unless forced, wait until the user has been still and is not typing."""
        ...

    async def save(self) -> None:
        """Write the buffer to its file, if it has one."""
        ...


class Screen(Protocol):
    """What the user sees beside the buffer text."""

    def notify(self, message: str, level: Level = Level.INFO, *, once: bool = False) -> None:
        """Show a message; with ``once`` the same text is shown one time per session."""
        ...

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Emit a lifecycle event such as ``request:sending`` (spec: behaviour 12.15)."""
        ...

    def progress(self, buffer_id: int, state: Mapping[str, Any] | None) -> None:
        """Show request progress (phase, characters, tool name), or end it with None."""
        ...

    def refresh(self, buffer_id: int) -> None:
        """Ask for the view of the buffer to be computed and drawn again soon."""
        ...


class RejectionPopup(Protocol):
    """Asks for the reason of a rejection, over the block it is about."""

    def open(self, buffer_id: int, key: CallKey, result: Located[ToolResult]) -> None:
        """Open it; the answer arrives as a `rejection` message, or never."""
        ...


class ExCommands(Protocol):
    """Runs commands of the editor that the user gave."""

    def run(self, buffer_id: int, command: str) -> None:
        """Run an Ex command in the buffer; a failure is told to the user."""
        ...


@dataclass(frozen=True, slots=True)
class Page:
    """A page of text in a buffer of its own. A mark is line, byte columns and highlight group."""

    name: str
    filetype: str
    lines: tuple[str, ...]
    marks: tuple[tuple[int, int, int, str], ...] = ()
    position: int | None = None
    """Line the cursor goes to, 0-based."""


class Pages(Protocol):
    """Shows pages, and asks the user to pick something."""

    def show(self, page: Page) -> None:
        """Show a page, in the window that shows it already or in a new one."""
        ...

    async def update(self, page: Page) -> bool:
        """Renew a page if it is on the screen; tell whether it is."""
        ...

    async def choose(self, prompt: str, items: Sequence[str]) -> int | None:
        """Let the user pick; return the index, or None when he picks nothing."""
        ...

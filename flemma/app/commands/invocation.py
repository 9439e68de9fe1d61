"""A command as the user gave it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from flemma.app.session import ChatSession
from flemma.chat.document import Document
from flemma.errors import FlemmaError


class CommandError(FlemmaError):
    """A command cannot be carried out; the message is shown as a warning."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One use of a command."""

    name: str
    arguments: str
    session: ChatSession | None
    """The chat it was given in; None elsewhere."""
    line: int = 0
    """Cursor line, 0-based."""
    key: bool = False
    """Whether a key was pressed instead of a command typed."""
    seen: Document | None = None
    """The chat as it was when the key was pressed, None for as it is now."""

    @property
    def chat(self) -> ChatSession:
        """The chat. Raises :class:`CommandError` outside of one."""
        if self.session is None:
            raise CommandError(f"'{self.name}' needs a chat: open a .chat file first.")
        return self.session

    @property
    def document(self) -> Document:
        """What the user looked at: a call that appeared later was not meant (case A-14)."""
        return self.seen or self.chat.buffer.document


Run: TypeAlias = Callable[[Invocation], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class CommandDefinition:
    """A command: its name, what it does, and what its arguments can be completed with."""

    name: str
    run: Run
    arguments: Sequence[Sequence[str]] = field(default=())
    complete: Callable[[Sequence[str]], Sequence[str]] | None = None
    """Returns candidates for the word after those given, where they change while running."""

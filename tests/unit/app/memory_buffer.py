"""A chat buffer in memory whose edits can be held up (:class:`flemma.ports.editor.ChatBuffer`)."""

import asyncio
from collections.abc import Callable, Sequence

from flemma.chat.document import Document
from flemma.chat.edits import apply_edits
from flemma.chat.nodes import Edit
from flemma.chat.parser import parse


class MemoryBuffer:
    """``gate`` holds an edit after it was applied; ``interfere`` changes the text before it is.

    As in an editor, an edit that was computed for another text is computed again.
    """

    def __init__(self, text: str) -> None:
        self.document: Document = parse(text)
        self.gate = asyncio.Event()
        self.gate.set()
        self.interfere: Callable[[str], str] | None = None
        self.id = 1
        self.path: str | None = None

    @property
    def text(self) -> str:
        """The text now."""
        return self.document.text

    async def edit(
        self, compute: Callable[[Document], Sequence[Edit]], *, undo_group: str | None = None
    ) -> Document:
        """Apply edits, and then wait for the gate."""
        del undo_group
        while True:
            seen = self.document
            edits = compute(seen)
            await asyncio.sleep(0)
            if self.interfere is not None:
                self.document = parse(self.interfere(self.document.text))
                self.interfere = None
            if self.document is seen:
                break
        self.document = apply_edits(seen, edits)
        await self.gate.wait()
        return self.document

    async def set_locked(self, *, locked: bool) -> None:
        """Nobody else writes here."""

    async def move_cursor(self, line: int, *, force: bool = False) -> None:
        """There is no cursor."""

    async def save(self) -> None:
        """There is no file."""

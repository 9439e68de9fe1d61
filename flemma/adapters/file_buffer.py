"""A chat file without an editor: implements :class:`flemma.ports.editor.ChatBuffer`."""

import asyncio
import os
from collections.abc import Callable, Sequence

from flemma.chat.document import Document
from flemma.chat.edits import apply_edits
from flemma.chat.nodes import Edit
from flemma.chat.parser import parse
from flemma.errors import EditorError
from flemma.ports.clock import Clock
from flemma.ports.files import Files

WRITE_INTERVAL = 0.25
"""Seconds at most between a change and its write, so that little is lost when we are killed."""


class FileBuffer:
    """The document of a file; every change reaches the file within :data:`WRITE_INTERVAL`."""

    def __init__(self, path: str, text: str, files: Files, clock: Clock) -> None:
        self._path = path
        self._files = files
        self._clock = clock
        self._final_newline = text.endswith("\n")
        self._document = parse(text[:-1] if self._final_newline else text)
        self._written: str = text
        self._last_write = 0.0
        self._writing = asyncio.Lock()

    @classmethod
    async def open(cls, path: str, files: Files, clock: Clock) -> "FileBuffer":
        """Read a chat file. Raises :class:`EditorError` when it is missing or no UTF-8."""
        try:
            data = await files.read(path)
            text = data.decode("utf-8")
        except OSError as error:
            raise EditorError(f"Cannot read {path}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise EditorError(f"{path} is not UTF-8 (byte {error.start}).") from error
        return cls(path, text, files, clock)

    @property
    def id(self) -> int:
        """Always 0: there is no editor that numbers buffers."""
        return 0

    @property
    def path(self) -> str | None:
        """Absolute path."""
        return self._path

    @property
    def document(self) -> Document:
        """The document as of the last edit."""
        return self._document

    async def edit(
        self, compute: Callable[[Document], Sequence[Edit]], *, undo_group: str | None = None
    ) -> Document:
        """Apply the edits that ``compute`` makes of the document."""
        del undo_group
        edits = compute(self._document)
        if edits:
            self._document = apply_edits(self._document, edits)
            if self._clock.monotonic() - self._last_write >= WRITE_INTERVAL:
                await self.save()
        return self._document

    async def set_locked(self, *, locked: bool) -> None:
        """Nobody types into a file."""

    async def move_cursor(self, line: int, *, force: bool = False) -> None:
        """A file has no cursor."""

    async def save(self) -> None:
        """Write the file if it changed. Raises :class:`EditorError`."""
        async with self._writing:
            text = self._document.text + ("\n" if self._final_newline else "")
            if text == self._written:
                return
            try:
                await self._files.write(self._path, text.encode("utf-8", "surrogateescape"))
            except OSError as error:
                raise EditorError(
                    f"Cannot write {self._path}: {error.strerror or os.strerror(error.errno or 0)}"
                ) from error
            self._written = text
            self._last_write = self._clock.monotonic()

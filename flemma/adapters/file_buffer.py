"""A chat file without an editor: implements :class:`flemma.ports.editor.ChatBuffer`."""

import asyncio
import codecs
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.edits import apply_edits
from flemma.chat.nodes import AppendText, Edit
from flemma.chat.parser import parse
from flemma.errors import BufferGone, EditorError
from flemma.ports.files import Files

BOM = codecs.BOM_UTF8.decode()


@dataclass(frozen=True, slots=True)
class FileForm:
    """What a file has around its lines, as an editor keeps it (`bomb`, `fileformat`, `eol`)."""

    bom: bool
    crlf: bool
    final_newline: bool

    @classmethod
    def of(cls, text: str) -> "FileForm":
        """Return the form of a text. One bare LF makes it a Unix file with stray CRs."""
        newlines = text.count("\n")
        crlf = newlines > 0 and text.count("\r\n") == newlines
        return cls(text.startswith(BOM), crlf, text.endswith("\n"))

    def strip(self, text: str) -> str:
        """Return the lines of a file, joined by LF."""
        text = text.removeprefix(BOM) if self.bom else text
        text = text.replace("\r\n", "\n") if self.crlf else text
        return text[:-1] if self.final_newline else text

    def restore(self, text: str) -> str:
        """Return what to write for these lines."""
        text = text + "\n" if self.final_newline else text
        text = text.replace("\n", "\r\n") if self.crlf else text
        return BOM + text if self.bom else text


class FileBuffer:
    """The document of a file.

    A change is in the file when :meth:`edit` returns, so that whatever follows (a tool runs, a
    request leaves) is never more than the file tells after a crash (cases L-01, S-18). Only
    streamed text waits for :meth:`save`, which its owner calls a few times a second.

    Whoever else writes the file meanwhile wins: from then on every edit raises
    :class:`BufferGone`, and nothing is overwritten.
    """

    def __init__(self, path: str, data: bytes, files: Files) -> None:
        text = data.decode("utf-8")
        self._path = path
        self._files = files
        self._form = FileForm.of(text)
        self._document = parse(self._form.strip(text))
        self._written = data
        self._dirty = False
        self._lost: str | None = None
        self._writing = asyncio.Lock()
        self.on_change: Callable[[Document], None] = lambda document: None
        """Called with each new document."""

    @classmethod
    async def open(cls, path: str, files: Files) -> "FileBuffer":
        """Read a chat file. Raises :class:`EditorError` when it is missing or no UTF-8."""
        try:
            return cls(path, await files.read(path), files)
        except OSError as error:
            raise EditorError(f"Cannot read {path}: {_reason(error)}") from error
        except UnicodeDecodeError as error:
            raise EditorError(f"{path} is not UTF-8 (byte {error.start}).") from error

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

    @property
    def lost(self) -> str | None:
        """Why the file is no longer ours, None while it is."""
        return self._lost

    async def edit(
        self, compute: Callable[[Document], Sequence[Edit]], *, undo_group: str | None = None
    ) -> Document:
        """Apply the edits that ``compute`` makes of the document.

        Raises :class:`BufferGone` when somebody else changed the file, and :class:`EditorError`
        when it cannot be written.
        """
        del undo_group
        self._require_ours()
        edits = compute(self._document)
        if edits:
            self._document = apply_edits(self._document, edits)
            self._dirty = True
            self.on_change(self._document)
            if not all(isinstance(edit, AppendText) for edit in edits):
                await self.save()
        return self._document

    async def set_locked(self, *, locked: bool) -> None:
        """Nobody types into a file."""

    async def move_cursor(self, line: int, *, force: bool = False) -> None:
        """A file has no cursor."""

    async def save(self) -> None:
        """Write the file if the document changed. Raises as :meth:`edit` does."""
        if self._dirty:
            # A cancelled caller must not leave a half of it to race with the next one.
            await asyncio.shield(self._save())

    async def _save(self) -> None:
        async with self._writing:
            self._require_ours()
            self._dirty = False
            data = self._form.restore(self._document.text).encode("utf-8", "surrogateescape")
            if data == self._written:
                return
            try:
                await self._check_ours()
                await self._files.write(self._path, data)
            except OSError as error:
                self._dirty = True
                raise EditorError(f"Cannot write {self._path}: {_reason(error)}") from error
            self._written = data

    async def _check_ours(self) -> None:
        try:
            found = await self._files.read(self._path)
        except FileNotFoundError:
            self._lost = f"{self._path} was deleted while Flemma worked on it; nothing is written."
        else:
            if found != self._written:
                self._lost = (
                    f"{self._path} was changed by somebody else while Flemma worked on it; "
                    "that version stays as it is."
                )
        self._require_ours()

    def _require_ours(self) -> None:
        if self._lost is not None:
            raise BufferGone(self._lost)


def _reason(error: OSError) -> str:
    return error.strerror or os.strerror(error.errno or 0)

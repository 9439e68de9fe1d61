"""Files and loaded buffers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class FileKind(StrEnum):
    """What a path names, symbolic links followed."""

    FILE = "file"
    DIRECTORY = "directory"
    OTHER = "other"
    """A FIFO, device or socket: never opened (case E-24)."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """One name in a directory. ``is_directory`` follows symbolic links, ``is_link`` does not."""

    name: str
    is_directory: bool
    is_link: bool


class Files(Protocol):
    """The disk. Paths are absolute. Failures are ``OSError`` with the system's own text."""

    def kind(self, path: str) -> FileKind:
        """Tell what ``path`` names without opening it."""
        ...

    def size(self, path: str) -> int:
        """Return the size in bytes."""
        ...

    async def read(self, path: str, *, limit: int | None = None) -> bytes:
        """Read a regular file, at most ``limit`` bytes."""
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Replace the content: through symbolic links, mode kept, by a temporary file, fsync and
        rename where possible, so that a failure leaves the old file. Parents are made."""
        ...

    async def rename(self, source: str, target: str) -> None:
        """Move a file."""
        ...

    async def copy(self, source: str, target: str) -> None:
        """Copy the content of a regular file, however large."""
        ...

    async def count_newlines(self, path: str) -> int:
        """Count the newlines of a regular file, however large."""
        ...

    async def list(self, path: str) -> Sequence[DirectoryEntry]:
        """List a directory in the file system's order."""
        ...

    def real_path(self, path: str) -> str:
        """Resolve symbolic links as far as the path exists."""
        ...

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents."""
        ...


@dataclass(frozen=True, slots=True)
class BufferText:
    """A loaded buffer: its lines, and what is needed to compare it with the file."""

    lines: tuple[str, ...]
    modified: bool
    final_newline: bool
    """Whether the file ends in a newline (`eol`)."""
    line_ending: str
    """``\\n``, ``\\r\\n`` or ``\\r`` (`fileformat`)."""
    revision: int
    encoding: str = ""
    """The editor's name of what it is written in (`fileencoding`), empty for UTF-8."""
    bom: bool = False
    """Whether it is written with a byte order mark (`bomb`)."""


@dataclass(frozen=True, slots=True)
class BufferChange:
    """New ``lines`` for the lines ``first`` to ``last`` (exclusive, 0-based) of a loaded buffer."""

    revision: int
    """Of the text that it was made for."""
    first: int
    last: int
    lines: Sequence[str]
    final_newline: bool
    """Whether the file is to end in a newline."""


class OpenBuffers(Protocol):
    """Files that the editor has loaded: for them the buffer is the truth (E-21, E-22)."""

    async def read(self, path: str) -> BufferText | None:
        """Return the loaded buffer of ``path``, or None."""
        ...

    async def replace(self, path: str, change: BufferChange) -> None:
        """Change lines as one undo step.

        Raises :class:`flemma.errors.BufferChanged` if the buffer has another revision by now, and
        :class:`flemma.errors.EditorError`.
        """
        ...

    async def save(self, path: str) -> None:
        """Write the buffer to its file without prompts."""
        ...

    async def reload(self, path: str) -> None:
        """Tell the editor that the file changed on disk (unmodified buffer only)."""
        ...

"""Text of a file as the user has it: of the loaded buffer if there is one, else of the disk.

Cases E-21, E-22.
"""

import asyncio
from dataclasses import dataclass

from flemma.ports.files import BufferText, FileKind
from flemma.text.encodings import TextEncoding, decode
from flemma.tools.context import ToolContext

_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LoadedText:
    """A text with its own line endings, and where it came from.

    ``encoding`` is that of the file on disk; a buffer is encoded by the editor when it is saved.
    """

    text: str
    encoding: TextEncoding
    buffer: BufferText | None = None


class NotTextError(Exception):
    """The bytes are no text; ``data`` is their beginning at least."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__("The file is not text")
        self.data = data
        self.size = size


class FileTooLargeError(Exception):
    """The file is too large to be read whole; ``size`` in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__("The file is too large")
        self.size = size


def find_file(context: ToolContext, path: str) -> str:
    """Return the absolute path of ``path``.

    An ``@`` in front, as chats write file references, is dropped if only that names something
    (case E-26).
    """
    found = context.path.resolve(path)
    if path.startswith("@") and context.files.kind(found) is FileKind.MISSING:
        without = context.path.resolve(path[1:])
        if context.files.kind(without) is not FileKind.MISSING:
            return without
    return found


def not_a_file(kind: FileKind, path: str) -> str | None:
    """Return why ``path`` cannot be read, None if it can (cases E-23, E-24)."""
    match kind:
        case FileKind.FILE:
            return None
        case FileKind.DIRECTORY:
            return f"File not found: {path} is a directory. Use ls to list it."
        case FileKind.OTHER:
            return f"File not found: {path} is a device, pipe or socket, not a regular file."
        case FileKind.MISSING:
            return f"File not found: {path}"


async def loaded_buffer(context: ToolContext, path: str) -> BufferText | None:
    """Return the buffer of a file, brought up to date if it has no changes of its own.

    Commands change files behind the editor's back; an unmodified buffer must not undo that.
    """
    buffer = await context.buffers.read(path)
    if buffer is None or buffer.modified or context.files.kind(path) is not FileKind.FILE:
        return buffer
    await context.buffers.reload(path)
    return await context.buffers.read(path)


async def load(context: ToolContext, path: str) -> LoadedText:
    """Load a regular file or its buffer.

    Raises `OSError`, :class:`NotTextError` or :class:`FileTooLargeError`.
    """
    buffer = await loaded_buffer(context, path)
    if buffer is not None:
        return LoadedText(buffer_text(buffer), TextEncoding(), buffer)
    size = context.files.size(path)
    if size > _LARGEST:
        head = await context.files.read(path, limit=8192)
        raise NotTextError(head, size) if b"\0" in head else FileTooLargeError(size)
    data = await context.files.read(path)
    decoded = None if data.startswith(b"%PDF-") else await asyncio.to_thread(decode, data)
    if decoded is None:
        raise NotTextError(data, len(data))
    return LoadedText(decoded.text, decoded.encoding)


def buffer_text(buffer: BufferText) -> str:
    """Return the text of a buffer, lines ended by ``\\n`` whatever the file has."""
    if buffer.lines in {(), ("",)}:
        return ""
    # Editors hold a NUL as a newline within a line.
    text = "\n".join(line.replace("\n", "\0") for line in buffer.lines)
    return text + "\n" if buffer.final_newline else text


def buffer_lines(text: str) -> list[str]:
    """Inverse of :func:`buffer_text`, without the final newline."""
    return [line.replace("\0", "\n") for line in text.removesuffix("\n").split("\n")]

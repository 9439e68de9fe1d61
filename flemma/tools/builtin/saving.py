"""Putting a changed text back where it came from (case E-21)."""

from dataclasses import dataclass

from flemma.errors import BufferChanged, EditorError
from flemma.ports.files import BufferChange, BufferText
from flemma.text.encodings import TextEncoding, editor_encoding
from flemma.text.lines import common_ends, to_newlines
from flemma.tools.builtin.loading import buffer_lines
from flemma.tools.context import ToolContext

NOT_SAVED = "The file has unsaved changes in the editor: the change was made there and is not saved"


class SaveError(Exception):
    """The text could not be put back; the message says why."""


@dataclass(frozen=True, slots=True)
class Saved:
    """``size`` in bytes; ``note`` tells the model what it has to know besides."""

    size: int
    note: str | None = None


async def save_to_disk(context: ToolContext, path: str, text: str, encoding: TextEncoding) -> Saved:
    """Write a text in the encoding of the file. Raises :class:`SaveError`."""
    data = encoded(text, encoding)
    try:
        await context.files.write(path, data)
    except OSError as error:
        raise SaveError(error.strerror or str(error)) from error
    return Saved(len(data))


async def save_to_buffer(context: ToolContext, path: str, text: str, buffer: BufferText) -> Saved:
    """Change only the lines that differ, as one undo step, and save if nothing else was unsaved.

    Raises :class:`SaveError`, or :class:`BufferChanged` if the user typed meanwhile.
    """
    text = text.removeprefix("\ufeff") if buffer.bom else text
    # With "\n" as its ending a buffer holds what else ends a line as text.
    text = text if buffer.line_ending == "\n" else to_newlines(text)
    encoding = editor_encoding(buffer.encoding, bom=buffer.bom)
    size = len(encoded(text.replace("\n", buffer.line_ending), encoding))
    old = list(buffer.lines) or [""]
    new = buffer_lines(text)
    before, after = common_ends(old, new)
    change = BufferChange(
        revision=buffer.revision,
        first=before,
        last=len(old) - after,
        lines=new[before : len(new) - after],
        final_newline=text.endswith("\n"),
    )
    ends_otherwise = change.final_newline is not buffer.final_newline
    try:
        if before + after < max(len(old), len(new)) or ends_otherwise:
            await context.buffers.replace(path, change)
        if not buffer.modified:
            await context.buffers.save(path)
    except BufferChanged:
        raise
    except (EditorError, OSError) as error:
        raise SaveError(str(error)) from error
    return Saved(size, NOT_SAVED if buffer.modified else None)


def encoded(text: str, encoding: TextEncoding) -> bytes:
    """Encode, or raise :class:`SaveError` naming the first character that cannot be (E-04)."""
    try:
        return encoding.encode(text)
    except UnicodeEncodeError as error:
        character = text[error.start]
        shown = character if character.isprintable() else ""
        raise SaveError(
            f"'{shown}' (U+{ord(character):04X}) cannot be encoded in {encoding.codec}, "
            "the encoding of the file"
        ) from error

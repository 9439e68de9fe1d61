"""The `write` tool: create a file or replace its whole content (behaviour 4.3)."""

from dataclasses import dataclass

from flemma import schema as s
from flemma.errors import BufferChanged, EditorError
from flemma.ports.files import FileKind
from flemma.text.encodings import TextEncoding
from flemma.text.lines import adopt_endings, dominant_ending
from flemma.text.safe import byte_length
from flemma.text.sizes import counted, format_size
from flemma.tools.builtin.inputs import text_input
from flemma.tools.builtin.label import label_field
from flemma.tools.builtin.loading import (
    FileTooLargeError,
    LoadedText,
    NotTextError,
    buffer_text,
    load,
    loaded_buffer,
)
from flemma.tools.builtin.path_locks import path_lock
from flemma.tools.builtin.saving import Saved, SaveError, save_to_buffer, save_to_disk
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

_ATTEMPTS = 5


def definition() -> ToolDefinition:
    """Return the tool."""
    return ToolDefinition(
        name="write",
        description=(
            "Write a file: create it, with the directories above it, or replace all of its "
            "content. For a change within a file use edit. Encoding, line endings and permissions "
            "of an existing file are kept; no newline is added at the end."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "path": s.string().describe("File to write, relative or absolute"),
                "content": s.string().describe("The whole new content"),
            }
        ).strict(),
        execute=_execute,
        strict=True,
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "Create or overwrite files",
                "guidelines": ["Use write for new files or when most of a file changes."],
            }
        },
    )


@dataclass(frozen=True, slots=True)
class _Write:
    shown_path: str
    path: str
    content: str


async def _execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
    path = text_input(tool_input, "path")
    content = text_input(tool_input, "content")
    if not path:
        return ToolResult.failure("No path provided")
    if content is None:
        return ToolResult.failure("No content provided")
    write = _Write(path, context.path.resolve(path), content)
    if not await context.sandbox.is_path_writable(write.path):
        return ToolResult.failure(
            f"Sandbox: write denied – path is outside writable directories: {path}"
        )
    try:
        async with path_lock(context, write.path):
            saved = await _apply(write, context)
    except SaveError as error:
        return ToolResult.failure(f"Cannot write file: {error}")
    note = f". {saved.note}" if saved.note else ""
    return ToolResult.ok(f"Successfully wrote {counted(saved.size, 'byte')} to {path}{note}")


async def _apply(write: _Write, context: ToolContext) -> Saved:
    """Raises :class:`SaveError`."""
    kind = context.files.kind(write.path)
    if kind is FileKind.DIRECTORY or write.shown_path.endswith("/"):
        raise SaveError(f"{write.shown_path} is a directory")
    if kind is FileKind.OTHER:
        raise SaveError(f"{write.shown_path} is a device, pipe or socket, not a regular file")
    for _ in range(_ATTEMPTS):
        buffer = await loaded_buffer(context, write.path)
        if buffer is None:
            return await _write_to_disk(write, context, kind)
        text = _like(buffer_text(buffer), write.content)
        try:
            return await save_to_buffer(context, write.path, text, buffer)
        except BufferChanged:
            continue
    raise SaveError(f"{write.shown_path} keeps changing in the editor")


async def _write_to_disk(write: _Write, context: ToolContext, kind: FileKind) -> Saved:
    existing = LoadedText("", TextEncoding())
    if kind is FileKind.FILE:
        try:
            existing = await load(context, write.path)
        except (NotTextError, FileTooLargeError):
            pass  # nothing in it is kept
        except (OSError, EditorError) as error:
            raise SaveError(str(error)) from error
    text = write.content
    if existing.encoding.bom:
        text = text.removeprefix("\ufeff")
    text = _like(existing.text, text)
    return await save_to_disk(context, write.path, text, existing.encoding)


def _like(existing: str, text: str) -> str:
    """Give a text the line endings of the one it replaces, unless it has some of its own."""
    if "\r" in existing and "\r" not in text:
        return adopt_endings(text, existing, dominant_ending(existing))
    return text


def _preview(tool_input: ToolInput) -> ToolPreview:
    path = text_input(tool_input, "path") or ""
    size = format_size(byte_length(text_input(tool_input, "content") or ""))
    return ToolPreview(detail=(path, f"({size})"), label=text_input(tool_input, "label"))

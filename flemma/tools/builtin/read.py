"""The `read` tool: text of a file, or a reference to a file that is not text (behaviour 4.2)."""

import asyncio
import shlex
from dataclasses import dataclass

from flemma import schema as s
from flemma.chat.references import write_reference
from flemma.errors import EditorError
from flemma.text.safe import byte_length, without_surrogates
from flemma.text.sizes import counted, format_size
from flemma.text.truncate import MAX_BYTES, truncate_head
from flemma.tools.builtin.inputs import position_input, text_input
from flemma.tools.builtin.label import label_field
from flemma.tools.builtin.loading import (
    FileTooLargeError,
    LoadedText,
    NotTextError,
    find_file,
    load,
    loaded_buffer,
    not_a_file,
)
from flemma.tools.builtin.media import attachment_problem, media_type
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

_LIMIT = format_size(MAX_BYTES)


def definition() -> ToolDefinition:
    """Return the tool."""
    return ToolDefinition(
        name="read",
        description=(
            "Read a file. Text comes as it is, without line numbers, at most 2000 lines or 50KB at "
            "a time: go on with offset. Images and PDF files are attached so that you see them. "
            "A file that is open in the editor is read with its unsaved changes."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "path": s.string().describe("File to read, relative or absolute"),
                "offset": s.number().nullable().describe("First line to read, from 1"),
                "limit": s.number().nullable().describe("Most lines to read"),
            }
        ).strict(),
        execute=_execute,
        strict=True,
        capabilities=frozenset({"emits_template"}),
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "Read files",
                "guidelines": ["Use read to look at a file, before you change it too."],
            }
        },
    )


async def _execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
    path = text_input(tool_input, "path")
    if not path:
        return ToolResult.failure("No path provided")
    found = find_file(context, path)
    try:
        problem = await _problem(context, found, path)
        if problem:
            return ToolResult.failure(problem)
        loaded = await load(context, found)
    except NotTextError as binary:
        return _attached(binary, path, found)
    except FileTooLargeError as error:
        return ToolResult.failure(
            f"File is too large to read: {path} has {format_size(error.size)}. "
            f"Use bash: sed -n '1,200p' {shlex.quote(path)}"
        )
    except (OSError, EditorError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.message
        return ToolResult.failure(f"File not found: {path} cannot be read: {reason}")
    request = _Request(
        path, position_input(tool_input, "offset"), position_input(tool_input, "limit")
    )
    return await asyncio.to_thread(_excerpt, loaded, request)


async def _problem(context: ToolContext, found: str, path: str) -> str | None:
    problem = not_a_file(context.files.kind(found), path)
    # A new file may so far exist in the editor only.
    if problem and await loaded_buffer(context, found) is not None:
        return None
    return problem


def _attached(binary: NotTextError, path: str, found: str) -> ToolResult:
    mime = media_type(binary.data, found)
    problem = attachment_problem(mime, binary.data, binary.size, path)
    if problem:
        return ToolResult.failure(problem)
    as_given = found.endswith(path.removeprefix("./")) and not path.startswith(("@", "$"))
    written = path if as_given or path.startswith(("~/", "../")) else found
    return ToolResult.ok(write_reference(written, mime))


@dataclass(frozen=True, slots=True)
class _Request:
    path: str
    offset: int | None
    limit: int | None


def _excerpt(loaded: LoadedText, request: _Request) -> ToolResult:
    lines = _lines(loaded.text)
    total = len(lines)
    first = request.offset or 1
    if not lines and request.offset is None:
        return ToolResult.ok("\n\n".join(["(empty file)", *_notes(loaded)]))
    if first > total:
        return ToolResult.failure(f"Offset {first} is beyond end of file ({total} lines total)")
    last = total if request.limit is None else min(total, first + request.limit - 1)
    parts = _cut(lines, first, last, request.path)
    return ToolResult.ok("\n\n".join([*parts, *_notes(loaded)]))


def _cut(lines: list[str], first: int, last: int, path: str) -> list[str]:
    """Return the lines that fit, and a notice if that is not the end of the file."""
    total = len(lines)
    cut = truncate_head("\n".join(lines[first - 1 : last]))
    if cut.first_line_exceeds_limit:
        size = format_size(byte_length(lines[first - 1]))
        command = f"sed -n '{first}p' {shlex.quote(path)} | head -c {MAX_BYTES}"
        return [f"[Line {first} is {size}, exceeds {_LIMIT} limit. Use bash: {command}]"]
    if cut.truncated:
        shown = first + cut.output_lines - 1
        limit = f" ({_LIMIT} limit)" if cut.truncated_by == "bytes" else ""
        range_shown = f"Showing lines {first}-{shown} of {total}{limit}"
        return [cut.content, f"[{range_shown}. Use offset={shown + 1} to continue.]"]
    if last < total:
        more = counted(total - last, "more line")
        return [cut.content, f"[{more} in file. Use offset={last + 1} to continue.]"]
    return [cut.content]


def _lines(text: str) -> list[str]:
    """Split as editors do: a final newline ends the last line, it does not begin another."""
    unix = without_surrogates(text).replace("\r\n", "\n").replace("\0", "\\x00")
    if "\n" not in unix:
        unix = unix.replace("\r", "\n")
    lines = unix.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _notes(loaded: LoadedText) -> list[str]:
    if loaded.buffer is not None:
        return ["[unsaved: changes in the editor are included]"] if loaded.buffer.modified else []
    codec = loaded.encoding.codec
    return [] if codec == "utf-8" else [f"[The file is encoded in {codec}.]"]


def _preview(tool_input: ToolInput) -> ToolPreview:
    offset = position_input(tool_input, "offset")
    limit = position_input(tool_input, "limit")
    where = f"+{offset or 0}" + (f",{limit}" if limit else "") if offset or limit else ""
    path = text_input(tool_input, "path") or ""
    return ToolPreview(
        detail=tuple(part for part in (path, where) if part),
        label=text_input(tool_input, "label"),
    )

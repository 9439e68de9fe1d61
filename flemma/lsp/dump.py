"""A compact description of a node, as a hover shows it."""

import json
from collections.abc import Iterator

from flemma.chat.message import Message
from flemma.chat.nodes import (
    Aborted,
    Code,
    Expression,
    FileReference,
    Frontmatter,
    JobResult,
    Meta,
    Segment,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

_PREVIEW = 60


def dump_segment(node: Segment, message_start: int) -> str:
    """Describe a segment; ``message_start`` is the absolute line of its message."""
    first, last = message_start + node.start, message_start + node.end
    fields = "".join(f"\n  {name}: {value}" for name, value in _fields(node))
    return f"{_kind(node)} {_lines(first, last)}{fields}"


def dump_message(message: Message, start: int) -> str:
    """Describe a message with its segments, one line each."""
    head = f"message {_lines(start, start + message.line_count - 1)}\n  role: {message.role}"
    segments = "".join(
        f"\n  {_kind(node)} {_lines(start + node.start, start + node.end)}{_identity(node)}"
        for node in message.segments
    )
    return head + segments


def dump_frontmatter(frontmatter: Frontmatter) -> str:
    """Describe the frontmatter."""
    lines = _lines(0, frontmatter.line_count - 1)
    return f"frontmatter {lines}\n  language: {frontmatter.language}"


def _lines(first: int, last: int) -> str:
    return f"[{first + 1}]" if first == last else f"[{first + 1}-{last + 1}]"


def _kind(node: Segment) -> str:
    match node:
        case ToolUse():
            return "tool_use"
        case ToolResult():
            return "tool_result"
        case JobResult():
            return "job_result"
        case FileReference():
            return "file_reference"
        case _:
            return type(node).__name__.lower()


def _identity(node: Segment) -> str:
    match node:
        case ToolUse(id=identifier, name=name):
            return f" {name} ({identifier})"
        case ToolResult(tool_use_id=identifier):
            return f" ({identifier})"
        case JobResult(job_id=identifier):
            return f" ({identifier})"
        case _:
            return ""


def _fields(node: Segment) -> Iterator[tuple[str, object]]:
    match node:
        case Text(text=text):
            yield "text", _preview(text)
        case Expression(code=code) | Code(code=code):
            yield "code", _preview(code)
        case FileReference():
            yield "path", node.path
            if node.mime:
                yield "mime", node.mime
        case Thinking():
            yield from _thinking_fields(node)
        case ToolUse():
            yield from _tool_use_fields(node)
        case ToolResult():
            yield "id", node.tool_use_id
            yield from _result_fields(node)
        case JobResult():
            yield "job", node.job_id
            yield from _result_fields(node)
        case Aborted(message=message):
            yield "message", message


def _thinking_fields(node: Thinking) -> Iterator[tuple[str, object]]:
    if node.provider:
        yield "provider", node.provider
    if node.signature is not None:
        yield "signature", f"{len(node.signature)} characters"
    if node.redacted:
        yield "redacted", "yes"
    yield "text", _preview(node.text)


def _tool_use_fields(node: ToolUse) -> Iterator[tuple[str, object]]:
    yield "id", node.id
    yield "name", node.name
    if node.error:
        yield "error", node.error
    for key, value in node.input.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"input.{key}", _preview(text)


def _result_fields(node: ToolResult | JobResult) -> Iterator[tuple[str, object]]:
    if node.status:
        yield "status", node.status.value
    if node.meta:
        yield "meta", _meta(node.meta)
    yield "content", _preview(node.content)


def _meta(meta: Meta) -> str:
    words = [str(value) for value in meta.positionals]
    return " ".join(words + [f"{key}={value}" for key, value in meta.keywords])


def _preview(text: str) -> str:
    """Return the first line, cut, and how many lines there are when it is not all."""
    lines = text.strip().split("\n")
    first = lines[0] if len(lines[0]) <= _PREVIEW else lines[0][: _PREVIEW - 1] + "…"
    return first if len(lines) == 1 else f"{first} (+{len(lines) - 1} lines)"

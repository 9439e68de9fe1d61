"""Turning blocks of a message into segments, re-using those of an earlier version of it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn, cast

from flemma.chat.blocks import BlockKind, Span, find_blocks
from flemma.chat.fences import block_opener
from flemma.chat.headers import (
    ASSISTANT,
    THINKING_CLOSE,
    read_aborted,
    read_job_result,
    read_thinking,
    read_tool_result,
    read_tool_use,
)
from flemma.chat.inline import parse_inline
from flemma.chat.marks import Mark
from flemma.chat.nodes import (
    Aborted,
    Diagnostic,
    JobResult,
    JsonValue,
    Segment,
    Severity,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)


class Block(NamedTuple):
    """What one block of lines came to."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A message in segments. ``blocks`` keeps the parts, to be used again after an edit."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...]
    blocks: dict[Span, Block] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Basis:
    """An earlier version of a message: its first ``head`` and last ``tail`` lines are unchanged."""

    parsed: Parsed
    line_count: int
    head: int
    tail: int


class MessageLines(NamedTuple):
    """Access to the lines of one message; ``end`` is one past the last line with content."""

    role: str
    line_count: int
    end: int
    marks: Sequence[Mark]
    line: Callable[[int], str]
    between: Callable[[int, int], list[str]]


def parse_message(source: MessageLines, basis: Basis | None) -> Parsed:
    """Parse all segments of a message, taking what did not change from ``basis``."""
    spans, diagnostics = find_blocks(source.role, source.marks, source.line, source.end)
    blocks = {span: _reuse(span, source, basis) or _parse(span, source) for span in spans}
    segments = tuple(segment for block in blocks.values() for segment in block.segments)
    found = [*diagnostics, *(d for block in blocks.values() for d in block.diagnostics)]
    found.sort(key=lambda diagnostic: diagnostic.line)
    return Parsed(segments, tuple(found), blocks)


def _reuse(span: Span, source: MessageLines, basis: Basis | None) -> Block | None:
    if basis is None:
        return None
    if span.end < basis.head:
        return basis.parsed.blocks.get(span)
    if span.start < source.line_count - basis.tail:
        return None
    delta = source.line_count - basis.line_count
    old = basis.parsed.blocks.get(Span(span.kind, span.start - delta, span.end - delta))
    return old if old is None or delta == 0 else _shifted(old, delta)


def _shifted(block: Block, delta: int) -> Block:
    return Block(
        tuple(_shift_segment(segment, delta) for segment in block.segments),
        tuple(replace(d, line=d.line + delta) for d in block.diagnostics),
    )


def _shift_segment(segment: Segment, delta: int) -> Segment:
    start, end = segment.start + delta, segment.end + delta
    match segment:
        case ToolResult():
            parts = tuple(
                replace(part, start=part.start + delta, end=part.end + delta)
                for part in segment.segments
            )
            fence = segment.fence_start + delta
            return replace(segment, start=start, end=end, fence_start=fence, segments=parts)
        case JobResult():
            return replace(segment, start=start, end=end, fence_start=segment.fence_start + delta)
        case _:
            return replace(segment, start=start, end=end)


def _parse(span: Span, source: MessageLines) -> Block:
    lines = source.between(span.start, span.end + 1)
    match span.kind:
        case BlockKind.TEXT:
            return _parse_text(span, lines, source.role)
        case BlockKind.THINKING:
            return Block((_parse_thinking(span, lines),))
        case BlockKind.ABORTED:
            return Block((Aborted(read_aborted(lines[0]) or "", span.start, span.end),))
        case BlockKind.TOOL_USE:
            return _parse_tool_use(span, lines)
        case BlockKind.TOOL_RESULT:
            return _parse_tool_result(span, lines)
        case BlockKind.JOB_RESULT:
            return _parse_job_result(span, lines)


def _parse_text(span: Span, lines: list[str], role: str) -> Block:
    text = "\n".join(lines)
    if role == ASSISTANT:
        return Block((Text(text, span.start, span.end),) if text else ())
    return Block(parse_inline(text, span.start))


def _parse_thinking(span: Span, lines: list[str]) -> Thinking:
    tag = read_thinking(lines[0])
    assert tag is not None
    closed = len(lines) > 1 and lines[-1].rstrip("\r") == THINKING_CLOSE
    content = [read_thought(line) for line in (lines[1:-1] if closed else lines[1:])]
    text = "\n".join(content)
    return Thinking(text, tag.provider, tag.signature, tag.redacted, span.start, span.end)


def write_thought(line: str) -> str:
    """Return a line of thinking as it is written: one that would end the block gets a space."""
    return line + " " if line.rstrip(" ") == THINKING_CLOSE else line


def read_thought(line: str) -> str:
    """Undo :func:`write_thought`."""
    return line[:-1] if line.endswith(" ") and line.rstrip(" ") == THINKING_CLOSE else line


class _Fence(NamedTuple):
    line: int
    language: str
    content: str


def _fence(lines: list[str]) -> _Fence:
    opening = next(index for index in range(1, len(lines)) if lines[index].strip())
    found = block_opener(lines[opening])
    language = found[1] if found else ""
    return _Fence(opening, language, "\n".join(lines[opening + 1 : -1]))


def _parse_tool_use(span: Span, lines: list[str]) -> Block:
    header = read_tool_use(lines[0])
    assert header is not None
    name, tool_use_id = header
    fence = _fence(lines)
    value, error = _parse_input(fence.language, fence.content)
    use = ToolUse(tool_use_id, name, value, span.start, span.end, error, fence.content)
    if error is None:
        return Block((use,))
    message = f"Failed to parse tool input: {error}"
    return Block(
        (use,), (Diagnostic("tool_use", Severity.WARNING, message, span.start, role=ASSISTANT),)
    )


def _parse_input(language: str, body: str) -> tuple[dict[str, JsonValue], str | None]:
    if language.lower() not in ("", "json"):
        return {}, f"unsupported language '{language}', write the input as json"
    try:
        value: object = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return {}, str(error) or type(error).__name__
    if not isinstance(value, dict):
        return {}, f"expected a JSON object, got {_json_type(value)}"
    return cast("dict[str, JsonValue]", value), None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "number"


def _parse_tool_result(span: Span, lines: list[str]) -> Block:
    header = read_tool_result(lines[0])
    assert header is not None
    fence = _fence(lines)
    fence_start = span.start + fence.line
    result = ToolResult(
        header.id, header.status, header.meta, fence.content, span.start, span.end, fence_start
    )
    if not result.is_placeholder:
        parts = parse_inline(fence.content, fence_start + 1)
        result = replace(result, segments=parts)
    return Block((result,))


def _parse_job_result(span: Span, lines: list[str]) -> Block:
    header = read_job_result(lines[0])
    assert header is not None
    fence = _fence(lines)
    fence_start = span.start + fence.line
    return Block(
        (
            JobResult(
                header.id,
                header.status,
                header.meta,
                fence.content,
                span.start,
                span.end,
                fence_start,
            ),
        )
    )

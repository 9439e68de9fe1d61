"""Turning blocks of a message into segments, re-using those of an earlier version of it."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn, cast

from flemma.chat.blocks import BlockKind, Span, cut_blocks
from flemma.chat.fences import block_opener
from flemma.chat.headers import (
    ASSISTANT,
    closes_thinking,
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

_ENDS_THOUGHT = re.compile(r" *(?:@[A-Za-z0-9]+:|</thinking>)[ \t\r\f\v]*")


class Block(NamedTuple):
    """What one block of lines came to."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A message in segments; the other fields are its parts, to be used again after an edit."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...]
    spans: list[Span] = field(repr=False)
    blocks: list[Block] = field(repr=False)
    dropped: list[Diagnostic] = field(repr=False)


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
    marks_from: Callable[[int], Iterator[Mark]]
    line: Callable[[int], str]
    between: Callable[[int, int], list[str]]


def parse_message(source: MessageLines, basis: Basis | None) -> Parsed:
    """Parse all segments of a message, taking what did not change from ``basis``.

    Blocks that end above the edit are kept; cutting starts behind them and stops at the first
    block below the edit that was a block before.
    """
    parts = _Parts() if basis is None else _kept_above(basis)
    begin = parts.spans[-1].end + 1 if parts.spans else 1
    marks = source.marks_from(begin)
    for item in cut_blocks(source.role, marks, source.line, begin, source.end):
        if isinstance(item, Diagnostic):
            parts.dropped.append(item)
            continue
        if basis is not None and _keep_below(parts, item, source, basis):
            break
        parts.spans.append(item)
        parts.blocks.append(_parse(item, source))
    segments = tuple(segment for block in parts.blocks for segment in block.segments)
    diagnostics = [*parts.dropped, *(d for block in parts.blocks for d in block.diagnostics)]
    diagnostics.sort(key=lambda diagnostic: diagnostic.line)
    return Parsed(segments, tuple(diagnostics), parts.spans, parts.blocks, parts.dropped)


@dataclass(slots=True)
class _Parts:
    spans: list[Span] = field(default_factory=list[Span])
    blocks: list[Block] = field(default_factory=list[Block])
    dropped: list[Diagnostic] = field(default_factory=list[Diagnostic])


def _kept_above(basis: Basis) -> _Parts:
    old = basis.parsed
    # The last block may be one that reaches to the end only because nothing closes it.
    kept = min(bisect_left(old.spans, basis.head, key=lambda span: span.end), len(old.spans) - 1)
    while kept > 0 and old.spans[kept - 1].kind is BlockKind.TEXT:
        kept -= 1
    if kept <= 0:
        return _Parts()
    spans = old.spans[:kept]
    dropped = [diagnostic for diagnostic in old.dropped if diagnostic.line <= spans[-1].end]
    return _Parts(spans, old.blocks[:kept], dropped)


def _keep_below(parts: _Parts, span: Span, source: MessageLines, basis: Basis) -> bool:
    """Append the rest of the old blocks when ``span`` is one of them; False when it is not."""
    if span.kind is BlockKind.TEXT or span.start < source.line_count - basis.tail:
        return False
    old, delta = basis.parsed, source.line_count - basis.line_count
    known = Span(span.kind, span.start - delta, span.end - delta)
    index = bisect_left(old.spans, known.start, key=lambda candidate: candidate.start)
    if index == len(old.spans) or old.spans[index] != known:
        return False
    spans, blocks = old.spans[index:], old.blocks[index:]
    dropped = [diagnostic for diagnostic in old.dropped if diagnostic.line > known.end]
    if delta:
        spans = [Span(kind, start + delta, end + delta) for kind, start, end in spans]
        blocks = [_shifted(block, delta) for block in blocks]
        dropped = [replace(diagnostic, line=diagnostic.line + delta) for diagnostic in dropped]
    parts.spans += spans
    parts.blocks += blocks
    parts.dropped += dropped
    return True


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
    return Block(parse_inline(text, span.start, span.end))


def _parse_thinking(span: Span, lines: list[str]) -> Thinking:
    tag = read_thinking(lines[0])
    assert tag is not None
    closed = len(lines) > 1 and closes_thinking(lines[-1])
    content = [read_thought(line) for line in (lines[1:-1] if closed else lines[1:])]
    text = "\n".join(content)
    return Thinking(text, tag.provider, tag.signature, tag.redacted, span.start, span.end)


def write_thought(line: str) -> str:
    """Return a line of thinking as it is written: one that would end the block gets a space."""
    return " " + line if _ENDS_THOUGHT.fullmatch(line) else line


def read_thought(line: str) -> str:
    """Undo :func:`write_thought`."""
    return line[1:] if line.startswith(" ") and _ENDS_THOUGHT.fullmatch(line) else line


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
        parts = parse_inline(fence.content, fence_start + 1, span.end - 1)
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

"""All that is drawn over the lines of one message."""

import re
from collections.abc import Iterator

from flemma.chat.message import Message
from flemma.chat.nodes import (
    Aborted,
    Code,
    Expression,
    FileReference,
    JobResult,
    Segment,
    Status,
    Thinking,
    ToolResult,
    ToolUse,
)
from flemma.ui.indicators import indicator, preview_mark, wants_preview
from flemma.ui.payloads import Mark
from flemma.ui.scene import Scene
from flemma.ui.spans import background, raw_span, span, whole_line

_ROLES = {"system": "System", "user": "User", "assistant": "Assistant"}
_NAME = re.compile(r"@([A-Za-z0-9]+):")
_HEADER = re.compile(r"(\*\*[A-Za-z ]+:\*\*)\s*(`[^`]*`)?")
_SUFFIX = re.compile(r"`\s*(\(.*\))\s*$")
_DELIMITER = re.compile(r"\{[{%][-+]?|[-+]?[}%]\}")


def message_marks(scene: Scene, index: int) -> list[Mark]:
    """Return the marks of message ``index``; rows count from its marker line."""
    message = scene.message(index)
    marks = list(_role_marks(message))
    for segment in message.segments:
        marks.extend(_segment_marks(scene, index, message, segment))
    return marks


def _role_marks(message: Message) -> Iterator[Mark]:
    role = _ROLES.get(message.role)
    found = _NAME.match(message.marker)
    if found:
        yield {
            "kind": "ruler",
            "row": 0,
            "column": found.start(1),
            "end_column": found.end(1),
            "group": f"FlemmaRole{role or 'User'}Name",
        }
    if role:
        yield background(0, message.line_count - 1, f"FlemmaLine{role}")


def _segment_marks(scene: Scene, index: int, message: Message, segment: Segment) -> Iterator[Mark]:
    match segment:
        case Thinking():
            return _thinking(segment)
        case ToolUse():
            return _tool_use(scene, index, message, segment)
        case ToolResult():
            return _tool_result(scene, index, message, segment)
        case JobResult():
            return _header(message, segment.start, "FlemmaToolResultTitle", segment.status)
        case Expression():
            return _template(message, segment, "FlemmaLuaExpression")
        case Code():
            return _template(message, segment, "FlemmaLuaCodeBlock")
        case FileReference(start=row, column=column, raw=raw):
            return iter([raw_span(message, row, column, raw, "FlemmaUserFileReference")])
        case Aborted(start=row):
            return iter([whole_line(row, "FlemmaToolResultAborted")])
        case _:
            return iter(())


def _thinking(node: Thinking) -> Iterator[Mark]:
    yield background(node.start, node.end, "FlemmaThinkingBlock")
    for row in {node.start, node.end}:
        yield whole_line(row, "FlemmaThinkingTag")


def _header(message: Message, row: int, title: str, status: Status | None) -> Iterator[Mark]:
    line = message.line(row)
    found = _HEADER.match(line)
    if found is None:
        return
    yield span(message, row, *found.span(1), title)
    if found.group(2):
        yield span(message, row, *found.span(2), "FlemmaToolName")
    suffix = _SUFFIX.search(line) if status else None
    if status and suffix:
        group = f"FlemmaToolResult{str(status).capitalize()}"
        yield span(message, row, *suffix.span(1), group)


def _tool_use(scene: Scene, index: int, message: Message, use: ToolUse) -> Iterator[Mark]:
    yield from _header(message, use.start, "FlemmaToolUseTitle", None)
    if scene.result_of(index, use) is None:
        # Without a result block there is no other place for it.
        mark = indicator(scene, use.start, use.id, None)
        if mark:
            yield mark


def _tool_result(scene: Scene, index: int, message: Message, result: ToolResult) -> Iterator[Mark]:
    yield from _header(message, result.start, "FlemmaToolResultTitle", result.status)
    mark = indicator(scene, result.start, result.tool_use_id, result)
    if mark:
        yield mark
    if wants_preview(result, scene.run):
        use = scene.use_of(index, result)
        if use is not None:
            yield preview_mark(result.fence_start, scene.preview(use))


def _template(message: Message, node: Expression | Code, group: str) -> Iterator[Mark]:
    yield raw_span(message, node.start, node.column, node.raw, group)
    opening = _DELIMITER.match(node.raw)
    if opening:
        first = node.column
        yield span(message, node.start, first, first + opening.end(), "FlemmaLuaDelimiter")
    if "\n" not in node.raw:
        last = node.column + len(node.raw)
        width = 3 if node.raw[-3:-2] in ("-", "+") else 2
        yield span(message, node.start, last - width, last, "FlemmaLuaDelimiter")

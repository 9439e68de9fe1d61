"""Questions about a document, answered without changing it."""

from collections.abc import Collection
from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.headers import ASSISTANT, USER
from flemma.chat.message import Message
from flemma.chat.nodes import (
    Aborted,
    Code,
    Expression,
    FileReference,
    Frontmatter,
    JobResult,
    Segment,
    Text,
    ToolResult,
)
from flemma.chat.pairing import (
    CallKey,
    CallReference,
    Located,
    ToolCall,
    find_call,
    job_results,
    orphan_results,
    siblings,
    tool_index,
    tool_results,
    tool_uses,
)
from flemma.errors import FlemmaError

__all__ = [
    "CallKey",
    "CallReference",
    "Located",
    "NoToolAtCursor",
    "NodeAt",
    "ToolCall",
    "aborted_message",
    "find_call",
    "has_draft",
    "is_aborted",
    "job_placeholders",
    "job_results",
    "last_assistant",
    "next_prompt",
    "node_at",
    "orphan_results",
    "orphaned_jobs",
    "placeholders",
    "siblings",
    "tool_at",
    "tool_index",
    "tool_results",
    "tool_uses",
    "unresolved",
    "without_result",
]


class NoToolAtCursor(FlemmaError):
    """No tool call belongs to the line; the message says why (spec: behaviour 2.11)."""


def unresolved(document: Document) -> tuple[ToolCall, ...]:
    """Return the calls without a final result: no result at all, or a placeholder."""
    return tuple(call for call in siblings(document) if not call.is_resolved)


def without_result(document: Document) -> tuple[ToolCall, ...]:
    """Return the calls that have not even a placeholder (spec: behaviour 2.3)."""
    return tuple(call for call in siblings(document) if not call.results)


def placeholders(document: Document) -> tuple[ToolCall, ...]:
    """Return the calls whose ``result`` is a placeholder, in document order of the calls."""
    return tuple(call for call in unresolved(document) if call.results)


def next_prompt(document: Document, message: int) -> int | None:
    """Return the first line below the marker of the next `@You:` after message ``message``."""
    for index in range(message + 1, len(document.messages)):
        if document.messages[index].role == USER:
            return min(document.start_of(index) + 1, document.line_count - 1)
    return None


def last_assistant(document: Document) -> tuple[int, Message] | None:
    """Return index and message of the last assistant message, or None."""
    for index in range(len(document.messages) - 1, -1, -1):
        if document.messages[index].role == ASSISTANT:
            return index, document.messages[index]
    return None


def aborted_message(message: Message) -> str | None:
    """Return the text of the aborted marker a message ends with, or None.

    Whitespace may follow the marker, anything else makes it an old one (spec: behaviour 1.8).
    """
    if message.role != ASSISTANT:
        return None
    for segment in reversed(message.segments):
        match segment:
            case Aborted(message=text):
                return text
            case Text(text=text) if not text.strip():
                continue
            case _:
                return None
    return None


def is_aborted(message: Message) -> bool:
    """Whether the tool calls of ``message`` count as aborted."""
    return aborted_message(message) is not None


def job_placeholders(document: Document) -> tuple[Located[ToolResult], ...]:
    """Return the tool results that stand for a background job, in document order."""
    return tuple(result for result in tool_results(document) if result.node.job_id is not None)


def has_draft(document: Document) -> bool:
    """Tell whether the chat ends in a `@You:` with more than results: the user is writing it."""
    if not document.messages or document.messages[-1].role != USER:
        return False
    return any(
        not (
            isinstance(segment, ToolResult | JobResult)
            or (isinstance(segment, Text) and not segment.text.strip())
        )
        for segment in document.messages[-1].segments
    )


def orphaned_jobs(
    document: Document, live_job_ids: Collection[str]
) -> tuple[Located[ToolResult], ...]:
    """Return the job placeholders whose job neither lives nor has delivered its result.

    A job id stands in the answer once, however many placeholders name it (spec: behaviour 7.5).
    """
    known = {*live_job_ids, *(result.node.job_id for result in job_results(document))}
    orphans: list[Located[ToolResult]] = []
    for placeholder in job_placeholders(document):
        job_id = placeholder.node.job_id
        if job_id is not None and job_id not in known:
            known.add(job_id)
            orphans.append(placeholder)
    return tuple(orphans)


@dataclass(frozen=True, slots=True)
class NodeAt:
    """What is on a line: the frontmatter, or a message and perhaps one of its segments."""

    frontmatter: Frontmatter | None = None
    message_index: int | None = None
    message: Message | None = None
    segment: Located[Segment] | None = None


def node_at(document: Document, line: int, column: int | None = None) -> NodeAt:
    """Return what is on an absolute line.

    Of several segments on one line the one over ``column`` (a 0-based character) is taken, without
    a column the first that is not plain text.
    """
    frontmatter = document.frontmatter
    if frontmatter is not None and 0 <= line < frontmatter.line_count:
        return NodeAt(frontmatter=frontmatter)
    found = document.message_at(line)
    if found is None:
        return NodeAt()
    index, message = found
    start = document.start_of(index)
    here = [
        Located(index, number, node, start + node.start, start + node.end)
        for number, node in enumerate(message.segments)
        if node.start <= line - start <= node.end
    ]
    return NodeAt(None, index, message, _pick(here, column))


def _pick(here: list[Located[Segment]], column: int | None) -> Located[Segment] | None:
    special = [located for located in here if not isinstance(located.node, Text)]
    if column is None:
        return next(iter(special or here), None)
    over = (located for located in special if _covers(located.node, column))
    plain = (located for located in here if isinstance(located.node, Text))
    return next(over, next(plain, None))


def _covers(node: Segment, column: int) -> bool:
    match node:
        case Expression() | Code() | FileReference():
            multiline = node.end > node.start
            return column >= node.column and (multiline or column < node.column + len(node.raw))
        case _:
            return True


def tool_at(document: Document, line: int) -> ToolCall:
    """Return the tool call that a command at absolute ``line`` means.

    Raises :class:`NoToolAtCursor` when there is none (spec: behaviour 2.11).
    """
    found = document.message_at(line)
    if found is None:
        raise NoToolAtCursor("No tool call at cursor position")
    index, message = found
    calls = siblings(document)
    match message.role:
        case role if role == ASSISTANT:
            spans = [(call.use.line, call.use.end, call) for call in _calls_in(calls, index)]
        case role if role == USER:
            spans = [
                (result.line, result.end, call)
                for call in calls
                for result in call.results
                if result.message == index
            ]
            spans.sort(key=lambda span: span[0])
        case _:
            spans = []
    if spans:
        return min(spans, key=lambda span: max(span[0] - line, line - span[1], 0))[2]
    return _call_before(document, index, calls)


def _call_before(document: Document, index: int, calls: tuple[ToolCall, ...]) -> ToolCall:
    message = document.messages[index]
    follows = index > 0 and document.messages[index - 1].role == ASSISTANT
    before = _calls_in(calls, index - 1) if message.role == USER and follows else []
    if before:
        return before[-1]
    if message.tools.results:
        raise NoToolAtCursor("No tool call found near cursor")
    raise NoToolAtCursor("No tool call found in message")


def _calls_in(calls: tuple[ToolCall, ...], index: int) -> list[ToolCall]:
    return [call for call in calls if call.use.message == index]

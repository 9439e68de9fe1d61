"""Delivering the results of background jobs into the text (spec: behaviour 7.3, 7.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.edits.layout import below, block_lines, closing_lines
from flemma.chat.headers import USER, job_result_header, role_marker
from flemma.chat.message import Message
from flemma.chat.nodes import Edit, JobResult, ReplaceLines, Status, Text, ToolResult
from flemma.chat.query import orphaned_jobs

JOB_LOST = "Job lost: session ended before completion."


@dataclass(frozen=True, slots=True)
class JobDelivery:
    """The result of a job; ``language`` is ``json`` for structured output."""

    job_id: str
    content: str
    status: Status | None = None
    language: str = ""


def insert_job_results(
    document: Document, deliveries: Sequence[JobDelivery], *, compact_headers: bool = True
) -> tuple[Edit, ...]:
    """Insert job results, in the order given, into the last `@You:`.

    They never come below what the user is typing: they go above it, behind the result blocks that
    are there already, in a `@You:` of their own if need be (case L-06).
    """
    if not deliveries:
        return ()
    blocks = [
        block_lines(
            job_result_header(delivery.job_id, delivery.status),
            delivery.content,
            delivery.language,
            compact_headers=compact_headers,
        )
        for delivery in deliveries
    ]
    last = len(document.messages) - 1
    if last < 0 or document.messages[last].role != USER:
        return (_message_at_end(document, blocks),)
    line = _line_behind_results(document, last)
    if line is None and last > 0 and _holds_only_results(document.messages[last - 1]):
        line = _line_behind_results(document, last - 1)
    if line is not None:
        return (ReplaceLines(line, line, below(document, line, blocks)),)
    return (_message_above(document, last, blocks),)


def resolve_orphaned_jobs(
    document: Document, live_job_ids: Sequence[str], *, compact_headers: bool = True
) -> tuple[Edit, ...]:
    """Insert an error result for each job that died with its session (case 88)."""
    deliveries = [
        JobDelivery(job_id, JOB_LOST, Status.ERROR)
        for orphan in orphaned_jobs(document, live_job_ids)
        if (job_id := orphan.node.job_id) is not None
    ]
    return insert_job_results(document, deliveries, compact_headers=compact_headers)


def _line_behind_results(document: Document, index: int) -> int | None:
    """Return the line below the results a message begins with; None when it begins with text.

    An empty message begins behind its marker.
    """
    message = document.messages[index]
    end = 0
    for segment in message.segments:
        match segment:
            case ToolResult() | JobResult():
                end = segment.end
            case Text(text=text) if not text.strip():
                continue
            case _ if end == 0:
                return None
            case _:
                break
    return document.start_of(index) + end + 1


def _holds_only_results(message: Message) -> bool:
    if message.role != USER or not (message.tools.results or message.tools.jobs):
        return False
    return all(
        isinstance(segment, ToolResult | JobResult)
        or (isinstance(segment, Text) and not segment.text.strip())
        for segment in message.segments
    )


def _message_at_end(document: Document, blocks: list[tuple[str, ...]]) -> Edit:
    line = document.line_count
    while line > 0 and not document.line(line - 1):
        line -= 1
    lines = (*closing_lines(document), "", role_marker(USER), *below(document, line, blocks))
    return ReplaceLines(line, line, lines if line else lines[1:])


def _message_above(document: Document, index: int, blocks: list[tuple[str, ...]]) -> Edit:
    line = document.start_of(index)
    gap = ("",) if line > 0 and document.line(line - 1) else ()
    return ReplaceLines(line, line, (*gap, role_marker(USER), *below(document, line, blocks)))

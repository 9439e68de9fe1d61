"""Writing tool results: placeholders, statuses, final results (spec: behaviour 2.10, 2.11)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flemma.chat.document import Document
from flemma.chat.edits.layout import below, block_lines, closing_lines
from flemma.chat.headers import USER, make_meta, role_marker, tool_result_header
from flemma.chat.nodes import Edit, Meta, ReplaceLines, Status, ToolResult
from flemma.chat.pairing import CallReference, Located, ToolCall, find_call, siblings

JOB_RUNNING = (
    "Running as a background job `{job_id}`. Use `flemma.jobs.status` with this job ID to check "
    "progress. Do not retry — the result will be delivered to you automatically when the job "
    "completes."
)
JOB_RUNNING_WITHOUT_STATUS_TOOL = (
    "Running as a background job. Do not retry or attempt to check progress — the result will be "
    "delivered to you automatically when the job completes."
)


@dataclass(frozen=True, slots=True)
class ResultText:
    """What a tool result block is to hold.

    ``language`` goes behind the opening fence: ``json`` for structured output, else empty.
    ``job_id`` makes it the placeholder of that background job.
    """

    content: str = ""
    status: Status | None = None
    language: str = ""
    job_id: str | None = None


def error_text(message: str | None, partial_output: str | None = None) -> str:
    """Return the content of a failed result, with what the tool had put out until then."""
    text = message or "Unknown error"
    return f"{text}\n\nPartial output:\n{partial_output}" if partial_output else text


def insert_placeholders(
    document: Document,
    wanted: Iterable[tuple[CallReference, Status | None]],
    *,
    compact_headers: bool = True,
) -> tuple[Edit, ...]:
    """Insert an empty result with a status for each call that has no result block yet."""
    missing = [
        (reference, ResultText(status=status))
        for reference, status in wanted
        if (call := find_call(document, reference)) is not None and not call.results
    ]
    return put_results(document, missing, compact_headers=compact_headers)


def put_result(
    document: Document,
    reference: CallReference,
    result: ResultText,
    *,
    compact_headers: bool = True,
) -> tuple[Edit, ...]:
    """Write the result of one call, in place of the block it has, or where one belongs."""
    return put_results(document, [(reference, result)], compact_headers=compact_headers)


def put_results(
    document: Document,
    results: Iterable[tuple[CallReference, ResultText]],
    *,
    compact_headers: bool = True,
) -> tuple[Edit, ...]:
    """Write the results of several calls.

    A block that is there is replaced from header to closing fence, and what its header says beside
    status and job is kept. New blocks go below the message of the calls, in their order. Calls
    that are not in the document any more are passed over.
    """
    replaced: list[Edit] = []
    new: list[_NewBlock] = []
    for reference, result in results:
        call = find_call(document, reference)
        if call is None:
            continue
        meta = _meta(call.result, result.job_id)
        header = tool_result_header(call.id, result.status, meta)
        lines = block_lines(
            header, result.content, result.language, compact_headers=compact_headers
        )
        if call.result is None:
            new.append((call, lines))
        else:
            replaced.append(ReplaceLines(call.result.line, call.result.end + 1, lines))
    return (*replaced, *_insertions(document, new))


def put_job_placeholder(
    document: Document,
    reference: CallReference,
    job_id: str,
    *,
    has_status_tool: bool,
    compact_headers: bool = True,
) -> tuple[Edit, ...]:
    """Write the result that stands for a running background job (spec: behaviour 7.1)."""
    text = JOB_RUNNING if has_status_tool else JOB_RUNNING_WITHOUT_STATUS_TOOL
    result = ResultText(text.format(job_id=job_id), job_id=job_id)
    return put_result(document, reference, result, compact_headers=compact_headers)


def set_status(
    document: Document, reference: CallReference, status: Status | None
) -> tuple[Edit, ...]:
    """Change the status in the header of a result, or take it away with None.

    Content and whatever else the header says stay as they are. No result, no edit.
    """
    return set_statuses(document, [(reference, status)])


def set_statuses(
    document: Document, wanted: Iterable[tuple[CallReference, Status | None]]
) -> tuple[Edit, ...]:
    """Change the status of several results, see :func:`set_status`."""
    edits: list[Edit] = []
    for reference, status in wanted:
        call = find_call(document, reference)
        if call is None or call.result is None:
            continue
        header = tool_result_header(call.id, status, call.result.node.meta)
        if header != document.line(call.result.line):
            edits.append(ReplaceLines(call.result.line, call.result.line + 1, (header,)))
    return tuple(edits)


def reject_call(
    document: Document, reference: CallReference, message: str, *, compact_headers: bool = True
) -> tuple[Edit, ...]:
    """Mark a placeholder as rejected, with what the model is to read about it (case 43, A-08).

    Without a message only the status changes, and what the user typed into the fence stays.
    """
    if not message.strip():
        return set_status(document, reference, Status.REJECTED)
    text = ResultText(f"User feedback: {message}", Status.REJECTED)
    return put_result(document, reference, text, compact_headers=compact_headers)


def _meta(existing: Located[ToolResult] | None, job_id: str | None) -> Meta | None:
    known = existing.node.meta if existing is not None else None
    raw = known.raw if known is not None else ()
    kept = tuple(token for token in raw if not token.startswith("job="))
    return make_meta((f"job={job_id}", *kept) if job_id else kept)


_NewBlock: TypeAlias = tuple[ToolCall, tuple[str, ...]]


def _insertions(document: Document, new: Sequence[_NewBlock]) -> tuple[Edit, ...]:
    by_message: defaultdict[int, list[_NewBlock]] = defaultdict(list)
    for call, lines in sorted(new, key=lambda block: block[0].use.line):
        by_message[call.use.message].append((call, lines))
    calls = siblings(document) if new else ()
    edits: list[Edit] = []
    for index, blocks in by_message.items():
        following = document.messages[index + 1 : index + 2]
        if following and following[0].role == USER:
            edits.extend(_into_user_message(document, index, blocks, calls))
        else:
            edits.append(_new_user_message(document, index, blocks))
    return tuple(edits)


def _new_user_message(document: Document, index: int, blocks: list[_NewBlock]) -> Edit:
    line = document.start_of(index) + document.messages[index].content_end + 1
    closing = closing_lines(document) if index == len(document.messages) - 1 else ()
    lines = below(document, line, [lines for _, lines in blocks])
    return ReplaceLines(line, line, (*closing, "", role_marker(USER), *lines))


def _into_user_message(
    document: Document, index: int, blocks: list[_NewBlock], calls: Sequence[ToolCall]
) -> list[Edit]:
    """Insert after the results of earlier calls of the message, or before those of later ones."""
    present = [
        (call.use.segment, result)
        for call in calls
        if call.use.message == index
        for result in call.results
        if result.message == index + 1
    ]
    after: defaultdict[int, list[tuple[str, ...]]] = defaultdict(list)
    first: list[tuple[str, ...]] = []
    for call, lines in blocks:
        earlier = [pair for pair in present if pair[0] < call.use.segment]
        if earlier:
            nearest = max(earlier, key=lambda pair: (pair[0], pair[1].line))
            after[nearest[1].end + 1].append(lines)
        else:
            first.append(lines)
    edits: list[Edit] = [
        ReplaceLines(line, line, below(document, line, group)) for line, group in after.items()
    ]
    if first:
        edits.append(_first_results(document, index + 1, first, [pair[1] for pair in present]))
    return edits


def _first_results(
    document: Document,
    target: int,
    blocks: list[tuple[str, ...]],
    present: list[Located[ToolResult]],
) -> Edit:
    if present:
        line = min(result.line for result in present)
        return ReplaceLines(line, line, tuple(x for block in blocks for x in (*block, "")))
    line = document.start_of(target) + 1
    return ReplaceLines(line, line, below(document, line, blocks))

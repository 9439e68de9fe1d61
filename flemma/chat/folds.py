"""What can be folded: messages, and the frontmatter, thinking, tool and job blocks in them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from flemma.chat.document import Document
from flemma.chat.message import Message
from flemma.chat.nodes import JobResult, Status, Thinking, ToolResult, ToolUse
from flemma.chat.pairing import ToolCall, siblings


class FoldKind(StrEnum):
    """What a fold hides."""

    MESSAGE = "message"
    FRONTMATTER = "frontmatter"
    THINKING = "thinking"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    JOB_RESULT = "job_result"


_TOOL_KINDS = frozenset({FoldKind.TOOL_USE, FoldKind.TOOL_RESULT, FoldKind.JOB_RESULT})


class Fold(NamedTuple):
    """Absolute lines ``start`` to ``end`` (inclusive) at level 1 or 2."""

    kind: FoldKind
    level: int
    start: int
    end: int
    id: str
    """Stays the same while the block moves; for closing each fold once."""
    message: int | None = None
    segment: int | None = None
    terminal: bool = False
    """Of a tool block: nothing will happen to it any more."""
    job_id: str | None = None
    """Of a tool result: the background job it stands for."""


def fold_ranges(document: Document) -> tuple[Fold, ...]:
    """Return all folds, by line, the outer before the inner (spec: behaviour 12.1)."""
    calls = {(c.use.message, c.use.segment): c for c in siblings(document)}
    folds: list[Fold] = []
    seen: Counter[str] = Counter()
    if document.frontmatter is not None and document.frontmatter.line_count > 1:
        end = document.frontmatter.line_count - 1
        folds.append(Fold(FoldKind.FRONTMATTER, 2, 0, end, "frontmatter"))
    for index, message in enumerate(document.messages):
        start = document.start_of(index)
        end = start + message.line_count - 1
        folds.append(Fold(FoldKind.MESSAGE, 1, start, end, f"message:{index}", index))
        folds.extend(_over_gaps(_inner_folds(message, index, start, calls, seen), message, start))
    return tuple(folds)


def _inner_folds(
    message: Message,
    index: int,
    start: int,
    calls: Mapping[tuple[int, int], ToolCall],
    seen: Counter[str],
) -> Iterator[Fold]:
    thoughts = 0
    for number, node in enumerate(message.segments):
        if node.end == node.start:
            continue
        kind, fold_id, terminal, job_id = FoldKind.THINKING, "", False, None
        match node:
            case Thinking():
                fold_id = f"thinking:{index}:{thoughts}"
                thoughts += 1
            case ToolUse():
                call = calls.get((index, number))
                if call is None or call.last_result is None:
                    continue
                kind, terminal = FoldKind.TOOL_USE, is_terminal(call.last_result.node)
                fold_id = f"tool_use:{node.id}:{call.key.occurrence}"
            case ToolResult():
                terminal, job_id = is_terminal(node), node.job_id
                if not terminal:
                    continue
                kind = FoldKind.TOOL_RESULT
                fold_id = f"tool_result:{node.tool_use_id}:{seen[node.tool_use_id]}"
                seen[node.tool_use_id] += 1
            case JobResult():
                kind, terminal = FoldKind.JOB_RESULT, True
                fold_id = f"job_result:{node.job_id}"
            case _:
                continue
        first, last = start + node.start, start + node.end
        yield Fold(kind, 2, first, last, fold_id, index, number, terminal, job_id)


def is_terminal(result: ToolResult) -> bool:
    """Whether a result is completed with content, failed, or was refused."""
    match result.status:
        case None:
            return bool(result.content)
        case Status.PENDING | Status.APPROVED:
            return False
        case _:
            return True


def _over_gaps(folds: Iterator[Fold], message: Message, start: int) -> Iterator[Fold]:
    """Extend tool folds over the blank lines up to the next tool fold."""
    previous: Fold | None = None
    for fold in folds:
        if previous is not None:
            yield _extended(previous, fold, message, start)
        previous = fold
    if previous is not None:
        yield previous


def _extended(fold: Fold, following: Fold, message: Message, start: int) -> Fold:
    if fold.kind not in _TOOL_KINDS or following.kind not in _TOOL_KINDS:
        return fold
    if following.start == fold.end + 1:
        return fold
    gap = message.lines_between(fold.end + 1 - start, following.start - start)
    return fold if any(line.strip() for line in gap) else fold._replace(end=following.start - 1)

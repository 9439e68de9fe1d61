"""The folds of one message, and of the frontmatter (spec: behaviour 12.1)."""

from collections.abc import Iterator

from flemma.chat.folds import is_terminal
from flemma.chat.message import Message
from flemma.chat.nodes import (
    Frontmatter,
    JobResult,
    Segment,
    Status,
    Thinking,
    ToolResult,
    ToolUse,
)
from flemma.ui.fold_text import (
    Chunk,
    call_chunks,
    content_preview,
    result_chunks,
    result_head,
    text_entries,
    thinking_parts,
    use_head,
)
from flemma.ui.payloads import Fold
from flemma.ui.scene import Scene

_UNKNOWN_TOOL = "result"
_ROLE_GROUPS = {"system": "System", "user": "User", "assistant": "Assistant"}


def message_folds(scene: Scene, index: int) -> list[Fold]:
    """Return the folds of message ``index``, the outer one first."""
    message = scene.message(index)
    folds: list[Fold] = []
    if message.line_count > 1:
        folds.append(_message_fold(scene, index, message))
    folds.extend(_over_gaps(message, list(_inner_folds(scene, index, message))))
    return folds


def frontmatter_fold(frontmatter: Frontmatter, close: bool) -> Fold:
    """Return the fold of the settings block."""
    fence = "FlemmaFoldMeta"
    preview = content_preview(frontmatter.code)
    entries: list[list[Chunk]] = [[[preview, "FlemmaFoldPreview"]]] if preview else []
    return {
        "id": "frontmatter",
        "row": 0,
        "end_row": frontmatter.line_count - 1,
        "level": 2,
        "close": close,
        "head": [[f"```{frontmatter.language}{' ' if preview else ''}", fence]],
        "entries": entries,
        "tail": [[" ```", fence]] if preview else [],
    }


def _message_fold(scene: Scene, index: int, message: Message) -> Fold:
    name = message.marker.strip().removeprefix("@").removesuffix(":")
    group = f"FlemmaRole{_ROLE_GROUPS.get(message.role, 'User')}Name"
    head: list[Chunk] = (
        [["─ ", "FlemmaRuler"], [f"{name} ", group]]
        if scene.options.rulers
        else [[f"@{name}: ", group]]
    )
    return {
        "id": f"message:{index}",
        "row": 0,
        "end_row": message.line_count - 1,
        "level": 1,
        "close": False,
        "head": head,
        "entries": list(_message_entries(scene, index, message)),
        "tail": [],
    }


def _message_entries(scene: Scene, index: int, message: Message) -> Iterator[list[Chunk]]:
    for text, node in text_entries(message):
        match node:
            case ToolUse():
                yield [[f"{node.name}: ", "FlemmaToolName"], *call_chunks(scene.preview(node))]
            case ToolResult():
                use = scene.use_of(index, node)
                name = use.name if use else _UNKNOWN_TOOL
                yield [[f"{name}: ", "FlemmaToolName"], *result_chunks(node.content, None)]
            case JobResult():
                name = scene.tool_of_job(index, node) or _UNKNOWN_TOOL
                yield [[f"{name}: ", "FlemmaToolName"], *result_chunks(node.content, None)]
            case None:
                yield [[text, "FlemmaFoldPreview"]]


def _inner_folds(scene: Scene, index: int, message: Message) -> Iterator[Fold]:
    thoughts = 0
    for segment in message.segments:
        fold: Fold | None = None
        match segment:
            case Thinking():
                fold = _thinking_fold(scene, index, thoughts, segment)
                thoughts += 1
            case ToolUse():
                fold = _use_fold(scene, index, segment)
            case ToolResult():
                fold = _result_fold(scene, index, segment)
            case JobResult():
                fold = _job_fold(scene, index, segment)
            case _:
                pass
        # A block of one line has nothing to hide, one on the marker line would hide the role.
        if fold is not None and 0 < fold["row"] < fold["end_row"]:
            yield fold


def _thinking_fold(scene: Scene, index: int, number: int, thinking: Thinking) -> Fold:
    head, entries, tail = thinking_parts(thinking)
    return {
        "id": f"thinking:{index}:{number}",
        "row": thinking.start,
        "end_row": thinking.end,
        "level": 2,
        "close": scene.options.close_thinking and not scene.is_last(index),
        "head": head,
        "entries": entries,
        "tail": tail,
    }


def _use_fold(scene: Scene, index: int, use: ToolUse) -> Fold | None:
    result = scene.result_of(index, use)
    if result is None:
        return None
    entry = call_chunks(scene.preview(use))
    return {
        "id": f"tool_use:{use.id}",
        "row": use.start,
        "end_row": use.end,
        "level": 2,
        "close": scene.options.close_tool_use and _is_done(scene, result),
        "head": use_head(use.name),
        "entries": [entry] if entry else [],
        "tail": [],
    }


def _result_fold(scene: Scene, index: int, result: ToolResult) -> Fold | None:
    if not is_terminal(result):
        return None
    use = scene.use_of(index, result)
    label = scene.preview(use).label if use else None
    entry = result_chunks(result.content, label)
    name = use.name if use else _UNKNOWN_TOOL
    return {
        "id": f"tool_result:{result.tool_use_id}",
        "row": result.start,
        "end_row": result.end,
        "level": 2,
        "close": scene.options.close_tool_result and _is_done(scene, result),
        "head": result_head("Tool Result", name, result.status),
        "entries": [entry] if entry else [],
        "tail": [],
    }


def _job_fold(scene: Scene, index: int, job: JobResult) -> Fold:
    name = scene.tool_of_job(index, job) or _UNKNOWN_TOOL
    entry = result_chunks(job.content, None)
    return {
        "id": f"job_result:{job.job_id}",
        "row": job.start,
        "end_row": job.end,
        "level": 2,
        "close": scene.options.close_tool_result,
        "head": result_head("Job Result", name, _failed(job.status)),
        "entries": [entry] if entry else [],
        "tail": [],
    }


def _failed(status: Status | None) -> Status | None:
    return status if status is Status.ERROR else None


def _is_done(scene: Scene, result: ToolResult) -> bool:
    """Whether nothing will happen to a call any more; a running job keeps its block open."""
    if result.tool_use_id in scene.run.executing or result.job_id in scene.run.jobs:
        return False
    return is_terminal(result)


def _over_gaps(message: Message, folds: list[Fold]) -> Iterator[Fold]:
    """Extend tool folds over the blank lines up to the next tool fold."""
    for number, fold in enumerate(folds):
        following = folds[number + 1] if number + 1 < len(folds) else None
        if following and _is_tool(fold) and _is_tool(following):
            gap = message.lines_between(fold["end_row"] + 1, following["row"])
            if not any(line.strip() for line in gap):
                yield {**fold, "end_row": following["row"] - 1}
                continue
        yield fold


def _is_tool(fold: Fold) -> bool:
    return not fold["id"].startswith("thinking:")


def inner_rows(message: Message, segments: tuple[Segment, ...]) -> list[int] | None:
    """Return first and last row of the content without thinking and blank lines around (`im`)."""
    thinking = [(s.start, s.end) for s in segments if isinstance(s, Thinking)]

    def is_content(row: int) -> bool:
        in_thinking = any(first <= row <= last for first, last in thinking)
        return not in_thinking and bool(message.line(row).strip())

    first = next((row for row in range(1, message.line_count) if is_content(row)), None)
    if first is None:
        return None
    last = next(row for row in range(message.line_count - 1, 0, -1) if is_content(row))
    return [first, last]

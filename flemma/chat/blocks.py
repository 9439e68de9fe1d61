"""Cutting a message into blocks: which lines are text, thinking, tool uses, results, markers.

Headers and tags inside a code fence are content: quoting a tool block in prose never makes one.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple

from flemma.chat.fences import block_opener
from flemma.chat.headers import ASSISTANT, USER
from flemma.chat.marks import Mark, MarkKind
from flemma.chat.nodes import Diagnostic, Severity


class BlockKind(Enum):
    """Kind of a block."""

    TEXT = auto()
    THINKING = auto()
    TOOL_USE = auto()
    TOOL_RESULT = auto()
    JOB_RESULT = auto()
    ABORTED = auto()


class Span(NamedTuple):
    """Where a block is, counted from the marker of its message; ``end`` is inclusive."""

    kind: BlockKind
    start: int
    end: int


_BLOCKS_OF_ROLE = {
    ASSISTANT: {
        MarkKind.THINKING_OPEN: BlockKind.THINKING,
        MarkKind.TOOL_USE: BlockKind.TOOL_USE,
        MarkKind.ABORTED: BlockKind.ABORTED,
    },
    USER: {
        MarkKind.TOOL_RESULT: BlockKind.TOOL_RESULT,
        MarkKind.JOB_RESULT: BlockKind.JOB_RESULT,
    },
}
_FAMILY = {
    BlockKind.TOOL_USE: ("tool_use", "Tool use requires a fenced code block with JSON input"),
    BlockKind.TOOL_RESULT: ("tool_result", "Tool result requires a fenced code block"),
    BlockKind.JOB_RESULT: ("job_result", "Job result requires a fenced code block"),
}


def find_blocks(
    role: str, marks: Sequence[Mark], line: Callable[[int], str], end: int
) -> tuple[list[Span], list[Diagnostic]]:
    """Cut lines 1 up to ``end`` (exclusive) of a message into blocks.

    ``marks`` are those of the message in order; ``line`` gives a line of it. Returns the blocks
    and what is wrong with those that had to be dropped.
    """
    cutter = _Cutter(role, [mark for mark in marks if 0 < mark.offset < end], line, end)
    cutter.run()
    return cutter.spans, cutter.diagnostics


class _Cutter:
    def __init__(self, role: str, marks: list[Mark], line: Callable[[int], str], end: int) -> None:
        self.spans: list[Span] = []
        self.diagnostics: list[Diagnostic] = []
        self._role = role
        self._kinds = _BLOCKS_OF_ROLE.get(role, {})
        self._marks = marks
        self._line = line
        self._end = end
        self._text_from = 1

    def run(self) -> None:
        index = 0
        while index < len(self._marks):
            index = self._handle(index, self._marks[index])
        self._flush_text(self._end)

    def _handle(self, index: int, mark: Mark) -> int:
        if mark.kind in (MarkKind.FENCE_OPENER, MarkKind.FENCE_BARE):
            if mark.length < 3:
                return index + 1
            closing = self._closing_fence(index + 1, mark.length)
            return len(self._marks) if closing is None else closing + 1
        match self._kinds.get(mark.kind):
            case None:
                return index + 1
            case BlockKind.THINKING:
                return self._thinking(index, mark)
            case BlockKind.ABORTED:
                self._take(Span(BlockKind.ABORTED, mark.offset, mark.offset))
                return index + 1
            case kind:
                return self._fenced_block(index, mark.offset, kind)

    def _thinking(self, index: int, mark: Mark) -> int:
        closed = bool(mark.length)
        if closed:
            self._take(Span(BlockKind.THINKING, mark.offset, mark.offset))
            return index + 1
        for later in range(index + 1, len(self._marks)):
            if self._marks[later].kind is MarkKind.THINKING_CLOSE:
                self._take(Span(BlockKind.THINKING, mark.offset, self._marks[later].offset))
                return later + 1
        self._take(Span(BlockKind.THINKING, mark.offset, self._end - 1))
        return len(self._marks)

    def _fenced_block(self, index: int, header: int, kind: BlockKind) -> int:
        opening = header + 1
        while opening < self._end and not self._line(opening).strip():
            opening += 1
        fence = block_opener(self._line(opening)) if opening < self._end else None
        if fence is None:
            self._drop(kind, header, opening, _FAMILY[kind][1])
            return self._first_mark_from(index + 1, opening)
        inside = self._first_mark_from(index + 1, opening + 1)
        closing = self._closing_fence(inside, fence[0])
        if closing is None:
            what = _FAMILY[kind][0].replace("_", " ")
            message = f"Unclosed fenced code block in {what} (missing closing fence)"
            self._drop(kind, header, self._end, message)
            return len(self._marks)
        self._take(Span(kind, header, self._marks[closing].offset))
        return closing + 1

    def _closing_fence(self, index: int, length: int) -> int | None:
        for later in range(index, len(self._marks)):
            mark = self._marks[later]
            if mark.kind is MarkKind.FENCE_BARE and mark.length >= length:
                return later
        return None

    def _first_mark_from(self, index: int, offset: int) -> int:
        while index < len(self._marks) and self._marks[index].offset < offset:
            index += 1
        return index

    def _flush_text(self, before: int) -> None:
        if self._text_from < before:
            self.spans.append(Span(BlockKind.TEXT, self._text_from, before - 1))

    def _take(self, span: Span) -> None:
        self._flush_text(span.start)
        self.spans.append(span)
        self._text_from = span.end + 1

    def _drop(self, kind: BlockKind, header: int, resume: int, message: str) -> None:
        self._flush_text(header)
        self._text_from = resume
        self.diagnostics.append(
            Diagnostic(_FAMILY[kind][0], Severity.WARNING, message, header, role=self._role)
        )

"""Cutting a message into blocks: which lines are text, thinking, tool uses, results, markers.

Headers and tags inside a code fence are content: quoting a tool block in prose never makes one.
"""

from collections.abc import Callable, Iterator
from enum import Enum, auto
from itertools import takewhile
from typing import NamedTuple

from flemma.chat.fences import MINIMUM_LENGTH, block_opener
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


def cut_blocks(
    role: str, marks: Iterator[Mark], line: Callable[[int], str], begin: int, end: int
) -> Iterator[Span | Diagnostic]:
    """Yield the blocks of a message between lines ``begin`` and ``end`` (exclusive).

    ``begin`` must be where a block may begin. ``marks`` are those of the message from there on, in
    order; ``line`` gives a line of it. Blocks that had to be dropped come as diagnostics.
    """
    return _Cutter(role, marks, line, begin, end).blocks()


class _Cutter:
    """Goes over the marks once, forwards: what is not closed reaches to the end."""

    def __init__(
        self,
        role: str,
        marks: Iterator[Mark],
        line: Callable[[int], str],
        begin: int,
        end: int,
    ) -> None:
        self._role = role
        self._kinds = _BLOCKS_OF_ROLE.get(role, {})
        self._marks = takewhile(lambda mark: mark.offset < end, marks)
        self._line = line
        self._end = end
        self._text_from = begin

    def blocks(self) -> Iterator[Span | Diagnostic]:
        for mark in self._marks:
            if mark.kind in (MarkKind.FENCE_OPENER, MarkKind.FENCE_BARE):
                if mark.length >= MINIMUM_LENGTH:
                    self._closing_fence(mark.offset, mark.length)
                continue
            match self._kinds.get(mark.kind):
                case None:
                    pass
                case BlockKind.THINKING:
                    yield from self._take(BlockKind.THINKING, mark.offset, self._thought_end(mark))
                case BlockKind.ABORTED:
                    yield from self._take(BlockKind.ABORTED, mark.offset, mark.offset)
                case kind:
                    yield from self._fenced_block(mark.offset, kind)
        yield from self._text(self._end)

    def _thought_end(self, mark: Mark) -> int:
        if mark.length:
            return mark.offset
        closings = (m.offset for m in self._marks if m.kind is MarkKind.THINKING_CLOSE)
        return next(closings, self._end - 1)

    def _fenced_block(self, header: int, kind: BlockKind) -> Iterator[Span | Diagnostic]:
        opening = header + 1
        while opening < self._end and not self._line(opening).strip():
            opening += 1
        fence = block_opener(self._line(opening)) if opening < self._end else None
        if fence is None:
            yield from self._drop(kind, header, opening, _FAMILY[kind][1])
            return
        closing = self._closing_fence(opening, fence[0])
        if closing is not None:
            yield from self._take(kind, header, closing)
            return
        what = _FAMILY[kind][0].replace("_", " ")
        message = f"Unclosed fenced code block in {what} (missing closing fence)"
        yield from self._drop(kind, header, self._end, message)

    def _closing_fence(self, opening: int, length: int) -> int | None:
        for mark in self._marks:
            if mark.kind is MarkKind.FENCE_BARE and mark.length >= length and mark.offset > opening:
                return mark.offset
        return None

    def _text(self, before: int) -> Iterator[Span]:
        if self._text_from < before:
            yield Span(BlockKind.TEXT, self._text_from, before - 1)

    def _take(self, kind: BlockKind, start: int, end: int) -> Iterator[Span]:
        yield from self._text(start)
        yield Span(kind, start, end)
        self._text_from = end + 1

    def _drop(
        self, kind: BlockKind, header: int, resume: int, message: str
    ) -> Iterator[Span | Diagnostic]:
        yield from self._text(header)
        self._text_from = resume
        yield Diagnostic(_FAMILY[kind][0], Severity.WARNING, message, header, role=self._role)

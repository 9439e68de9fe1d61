"""Marks: the few lines of a text that can change its structure, found once for a chunk of lines."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from flemma.chat.fences import bare_length, opening_length
from flemma.chat.headers import (
    THINKING_CLOSE,
    read_aborted,
    read_job_result,
    read_role_marker,
    read_thinking,
    read_tool_result,
    read_tool_use,
)


class MarkKind(Enum):
    """What a marked line could be, if its surroundings allow."""

    ROLE = auto()
    FENCE_OPENER = auto()
    FENCE_BARE = auto()
    THINKING_OPEN = auto()
    THINKING_CLOSE = auto()
    TOOL_USE = auto()
    TOOL_RESULT = auto()
    JOB_RESULT = auto()
    ABORTED = auto()


class Mark(NamedTuple):
    """A line that matters. ``length`` counts the backticks of a fence; ``role`` is a role's key."""

    offset: int
    kind: MarkKind
    length: int = 0
    role: str = ""


_FIRST_CHARACTERS = frozenset("@`*<")


def find_marks(lines: Sequence[str]) -> tuple[Mark, ...]:
    """Return the marks of ``lines`` in order."""
    found: list[Mark] = []
    for offset, line in enumerate(lines):
        if line[:1] in _FIRST_CHARACTERS:
            mark = _classify(offset, line)
            if mark is not None:
                found.append(mark)
    return tuple(found)


def _classify(offset: int, line: str) -> Mark | None:
    match line[0]:
        case "@":
            role = read_role_marker(line)
            return None if role is None else Mark(offset, MarkKind.ROLE, role=role)
        case "`":
            return _classify_fence(offset, line)
        case "*":
            return _classify_header(offset, line)
        case _:
            return _classify_tag(offset, line)


def _classify_fence(offset: int, line: str) -> Mark | None:
    length = bare_length(line)
    if length:
        return Mark(offset, MarkKind.FENCE_BARE, length)
    length = opening_length(line)
    return Mark(offset, MarkKind.FENCE_OPENER, length) if length else None


def _classify_header(offset: int, line: str) -> Mark | None:
    if line.startswith("**Tool Use:") and read_tool_use(line):
        return Mark(offset, MarkKind.TOOL_USE)
    if line.startswith("**Tool Result:") and read_tool_result(line):
        return Mark(offset, MarkKind.TOOL_RESULT)
    if line.startswith("**Job Result:") and read_job_result(line):
        return Mark(offset, MarkKind.JOB_RESULT)
    return None


def _classify_tag(offset: int, line: str) -> Mark | None:
    if line.startswith("<thinking"):
        tag = read_thinking(line)
        return None if tag is None else Mark(offset, MarkKind.THINKING_OPEN, int(tag.closed))
    if line.rstrip("\r") == THINKING_CLOSE:
        return Mark(offset, MarkKind.THINKING_CLOSE)
    if line.startswith("<!--") and read_aborted(line) is not None:
        return Mark(offset, MarkKind.ABORTED)
    return None

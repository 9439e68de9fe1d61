"""Marks: the few lines of a text that can change its structure, found once for a chunk of lines."""

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from flemma.chat.fences import MINIMUM_LENGTH, bare_length
from flemma.chat.headers import (
    closes_thinking,
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
    """A line that matters.

    ``length`` counts the backticks of a fence, and is 1 for a thinking tag that closes itself;
    ``role`` is the key of a role.
    """

    offset: int
    kind: MarkKind
    length: int = 0
    role: str = ""


_FIRST_CHARACTERS = frozenset("@`*<")
_FENCE = re.compile(r"(`+)([^`]*)")


def find_marks(lines: Sequence[str]) -> tuple[Mark, ...]:
    """Return the marks of ``lines`` in order."""
    found: list[Mark] = []
    for offset, line in enumerate(lines):
        if line[:1] in _FIRST_CHARACTERS:
            mark = _CLASSIFIERS[line[0]](offset, line)
            if mark is not None:
                found.append(mark)
    return tuple(found)


def _classify_role(offset: int, line: str) -> Mark | None:
    role = read_role_marker(line)
    return None if role is None else Mark(offset, MarkKind.ROLE, 0, role)


def _classify_fence(offset: int, line: str) -> Mark | None:
    found = _FENCE.fullmatch(line)
    if found is None:
        return None
    backticks, rest = found.groups()
    if not rest or bare_length(line):
        return Mark(offset, MarkKind.FENCE_BARE, len(backticks))
    if len(backticks) < MINIMUM_LENGTH:
        return None
    return Mark(offset, MarkKind.FENCE_OPENER, len(backticks))


def _classify_header(offset: int, line: str) -> Mark | None:
    if line.startswith("**Tool Result:"):
        return Mark(offset, MarkKind.TOOL_RESULT) if read_tool_result(line) else None
    if line.startswith("**Tool Use:"):
        return Mark(offset, MarkKind.TOOL_USE) if read_tool_use(line) else None
    if line.startswith("**Job Result:") and read_job_result(line):
        return Mark(offset, MarkKind.JOB_RESULT)
    return None


def _classify_tag(offset: int, line: str) -> Mark | None:
    if line.startswith("<thinking"):
        tag = read_thinking(line)
        return None if tag is None else Mark(offset, MarkKind.THINKING_OPEN, int(tag.closed))
    if line.startswith("<!--") and read_aborted(line) is not None:
        return Mark(offset, MarkKind.ABORTED)
    return Mark(offset, MarkKind.THINKING_CLOSE) if closes_thinking(line) else None


_CLASSIFIERS = {
    "@": _classify_role,
    "`": _classify_fence,
    "*": _classify_header,
    "<": _classify_tag,
}

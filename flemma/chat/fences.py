"""Code fences of backticks: which lines open and close one, and how long a new one must be."""

import re
from collections.abc import Sequence

_OPENER = re.compile(r"(`{3,})[^`]*")
_BARE = re.compile(r"(`+)[ \t\r\f\v]*")
_BLOCK_OPENER = re.compile(r"(`+)([A-Za-z0-9:._-]*)[ \t\r\f\v]*")
_RUN = re.compile(r"`+")

MINIMUM_LENGTH = 3


def opening_length(line: str) -> int:
    """Return how many backticks open a fence on ``line``; 0 when it opens none.

    A fence in prose starts at column 1, has three backticks or more, and no further backtick on
    its line (spec: behaviour 1.1).
    """
    found = _OPENER.fullmatch(line)
    return len(found.group(1)) if found else 0


def bare_length(line: str) -> int:
    """Return the number of backticks of a line that holds nothing else; 0 for any other line."""
    found = _BARE.fullmatch(line)
    return len(found.group(1)) if found else 0


def block_opener(line: str) -> tuple[int, str] | None:
    """Return length and info word of the fence below a tool header, or None.

    One backtick is enough there (spec: behaviour 1.3).
    """
    found = _BLOCK_OPENER.fullmatch(line)
    return (len(found.group(1)), found.group(2)) if found else None


def fence_for(content: str) -> str:
    """Return the backticks that can hold ``content``: one more than its longest run, at least 3."""
    longest = max((len(run) for run in _RUN.findall(content)), default=0)
    return "`" * max(MINIMUM_LENGTH, longest + 1)


def fenced(content: str, language: str = "") -> tuple[str, ...]:
    """Return the lines of a fenced block around ``content``; nothing inside for empty content."""
    fence = fence_for(content)
    body = content.split("\n") if content else ()
    return (fence + language, *body, fence)


def open_fence(lines: Sequence[str]) -> int:
    """Return the length of the fence that is still open after ``lines``; 0 when none is."""
    length = 0
    for line in lines:
        length = next_fence(length, line)
    return length


def next_fence(length: int, line: str) -> int:
    """Return the open fence after ``line`` when one of ``length`` backticks (0: none) was open."""
    if not line.startswith("`"):
        return length
    if length:
        return 0 if bare_length(line) >= length else length
    return opening_length(line)

"""Cutting text to what a model should be given (behaviour 5.2 to 5.4).

Sizes are UTF-8 bytes; a cut never splits a code point (cases B-14, B-15, X-16).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from flemma.text.safe import byte_length, first_bytes, last_bytes

MAX_LINES = 2000
MAX_BYTES = 51200
MAX_LINE_BYTES = 500

Direction: TypeAlias = Literal["head", "tail"]

_LINE_SUFFIX = "... [truncated]"


@dataclass(frozen=True, slots=True)
class Truncation:
    """What was kept, what there was, and why it was cut (None: it was not)."""

    content: str
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool = False
    """Only the end of one over-long last line is kept (tail only)."""
    first_line_exceeds_limit: bool = False
    """Nothing is kept, because the first line alone is over the limit (head only)."""

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self.truncated_by is not None


def truncate_head(
    text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> Truncation:
    """Keep whole lines from the start."""
    total_lines = text.count("\n") + 1
    total_bytes = byte_length(text)
    if total_lines <= max_lines and total_bytes <= max_bytes:
        return _untouched(text, total_lines, total_bytes)
    lines = text.split("\n", max_lines)
    kept, size = _take(lines[:max_lines], max_bytes)
    if kept == 0 and byte_length(lines[0]) > max_bytes:
        return Truncation(
            "", "bytes", total_lines, total_bytes, 0, 0, first_line_exceeds_limit=True
        )
    cause = "lines" if kept == max_lines else "bytes"
    content = "\n".join(lines[:kept])
    return Truncation(content, cause, total_lines, total_bytes, kept, size)


def truncate_tail(
    text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> Truncation:
    """Keep whole lines from the end, or the end of the last line if that alone is too long."""
    total_lines = text.count("\n") + 1
    total_bytes = byte_length(text)
    if total_lines <= max_lines and total_bytes <= max_bytes:
        return _untouched(text, total_lines, total_bytes)
    return tail_of(text, total_lines, total_bytes, max_lines=max_lines, max_bytes=max_bytes)


def tail_of(
    ending: str, total_lines: int, total_bytes: int, *, max_lines: int, max_bytes: int
) -> Truncation:
    """Truncate a text that is over the limits and of which only ``ending`` is at hand.

    The ending must hold at least ``max_lines`` lines or more than ``max_bytes`` bytes; the totals
    are those of the whole text.
    """
    lines = ending.rsplit("\n", max_lines)[-max_lines:] if max_lines > 0 else []
    lines.reverse()
    kept, size = _take(lines, max_bytes)
    if kept == 0 and lines:
        content = last_bytes(lines[0], max_bytes)
        size = byte_length(content)
        return Truncation(
            content, "bytes", total_lines, total_bytes, 1, size, last_line_partial=True
        )
    cause = "lines" if kept == max_lines else "bytes"
    content = "\n".join(reversed(lines[:kept]))
    return Truncation(content, cause, total_lines, total_bytes, kept, size)


def truncate_line(line: str, max_bytes: int = MAX_LINE_BYTES) -> str:
    """Cut one line to about ``max_bytes`` and mark it with ``... [truncated]``."""
    if byte_length(line) <= max_bytes:
        return line
    return first_bytes(line, max(1, max_bytes - len(_LINE_SUFFIX))) + _LINE_SUFFIX


def _take(lines: list[str], max_bytes: int) -> tuple[int, int]:
    """Count the lines from the start of the list that fit, and their size with newlines."""
    kept = 0
    size = 0
    for line in lines:
        needed = byte_length(line) + (1 if kept else 0)
        if size + needed > max_bytes:
            break
        size += needed
        kept += 1
    return kept, size


def _untouched(text: str, lines: int, size: int) -> Truncation:
    return Truncation(text, None, lines, size, lines, size)

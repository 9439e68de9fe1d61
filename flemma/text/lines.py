"""Lines that keep their own ending (cases E-01, E-02)."""

import re
from collections import Counter
from collections.abc import Sequence

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ENDING = re.compile(r"\r\n|\n|\r")


def split_lines(text: str) -> list[tuple[str, str]]:
    """Split into (line, ending) with endings ``\\r\\n``, ``\\n``, ``\\r``, or none on the last.

    Unlike ``str.splitlines`` nothing else ends a line (not U+2028, not a form feed).
    """
    return [_parted(match.group()) for match in _LINE.finditer(text)]


def join_lines(lines: Sequence[tuple[str, str]]) -> str:
    """Inverse of :func:`split_lines`."""
    return "".join(line + ending for line, ending in lines)


def dominant_ending(text: str) -> str:
    """Return the ending most lines of ``text`` have; ``\\n`` when there is none or on a tie."""
    counts = Counter(_ENDING.findall(text))
    if not counts:
        return "\n"
    return max(counts, key=lambda ending: (counts[ending], ending == "\n"))


def to_newlines(text: str) -> str:
    """Put ``\\n`` for every ``\\r\\n``; a lone ``\\r`` stays."""
    return text.replace("\r\n", "\n")


def adopt_endings(new: str, old: str, default: str) -> str:
    """Give the lines of ``new`` (ending in ``\\n``) the endings of the lines they replace.

    Lines that stand unchanged at the start and the end of ``old`` keep their own endings; with as
    many new lines as old ones each takes the ending at its place; all others get ``default``.
    """
    new_lines = split_lines(new)
    old_lines = split_lines(old)
    if len(new_lines) == len(old_lines):
        endings = [ending for _, ending in old_lines]
    else:
        endings = _endings_around(new_lines, old_lines, default)
    return "".join(
        line + ((kept or default) if ending == "\n" else ending)
        for (line, ending), kept in zip(new_lines, endings, strict=True)
    )


def _endings_around(
    new: list[tuple[str, str]], old: list[tuple[str, str]], default: str
) -> list[str]:
    before, after = common_ends([line for line, _ in old], [line for line, _ in new])
    middle = len(new) - before - after
    first = [ending for _, ending in old[:before]]
    last = [ending for _, ending in old[len(old) - after :]]
    return [*first, *[default] * middle, *last]


def common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Count the equal items at the start and, not overlapping them, at the end."""
    shortest = min(len(old), len(new))
    before = 0
    while before < shortest and old[before] == new[before]:
        before += 1
    after = 0
    while after < shortest - before and old[-1 - after] == new[-1 - after]:
        after += 1
    return before, after


def _parted(line: str) -> tuple[str, str]:
    if line.endswith("\r\n"):
        return line[:-2], "\r\n"
    if line.endswith(("\n", "\r")):
        return line[:-1], line[-1]
    return line, ""

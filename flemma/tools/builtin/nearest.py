"""What to tell a model whose text was not found: the nearest place and what differs there.

Cases E-05, E-06.
"""

from difflib import SequenceMatcher
from unicodedata import name

from flemma.text.truncate import truncate_line
from flemma.tools.builtin.matching import plain

_LIKENESS = 0.6
_SHOWN_LINES = 8
_MOST_LINES = 3000
"""Lines that are compared letter by letter."""


def nearest_hint(text: str, wanted: str) -> str | None:
    """Describe the place most like ``wanted``, None if nothing is. Both have ``\\n`` endings."""
    lines = text.split("\n")
    wanted_lines = wanted.strip("\n").split("\n")
    start = _nearest(lines, wanted_lines)
    if start is None:
        return None
    found = lines[start : start + len(wanted_lines)]
    excerpt = [truncate_line(line, 200) for line in found[:_SHOWN_LINES]]
    if len(found) > _SHOWN_LINES:
        excerpt.append("...")
    shown = "\n".join(excerpt)
    difference = _difference(found, wanted_lines, start)
    return f"The nearest text is at line {start + 1}:\n{shown}\n{difference}".rstrip()


def _nearest(lines: list[str], wanted: list[str]) -> int | None:
    """Return the index of the first line of the window most like ``wanted``."""
    wanted_keys = [_key(line) for line in wanted]
    keys = [_key(line) for line in lines]
    places: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        if key:
            places.setdefault(key, []).append(index)
    scores: dict[int, int] = {}
    for offset, key in enumerate(wanted_keys):
        # A line that stands everywhere says nothing of where.
        for index in places.get(key, [])[:200]:
            if index >= offset:
                scores[index - offset] = scores.get(index - offset, 0) + len(key)
    if scores:
        return max(scores, key=lambda start: (scores[start], -start))
    return _most_like(keys, wanted_keys)


def _most_like(keys: list[str], wanted: list[str]) -> int | None:
    """Return where the longest wanted line has its best likeness."""
    offset = max(range(len(wanted)), key=lambda index: len(wanted[index]))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[offset][:500])
    best: tuple[float, int] | None = None
    compared = 0
    for index, key in enumerate(keys):
        matcher.set_seq1(key[:500])
        if not key or index < offset or matcher.real_quick_ratio() < _LIKENESS:
            continue
        if matcher.quick_ratio() < max(_LIKENESS, best[0] if best else 0):
            continue
        compared += 1
        ratio = matcher.ratio()
        if ratio >= _LIKENESS and (best is None or ratio > best[0]):
            best = (ratio, index)
        if compared >= _MOST_LINES:
            break
    return best[1] - offset if best else None


def _key(line: str) -> str:
    return " ".join(plain(line).split())


def _difference(found: list[str], wanted: list[str], start: int) -> str:
    for index, wanted_line in enumerate(wanted):
        if index >= len(found):
            return f"The file ends after line {start + index}, the given text goes on."
        line = found[index]
        if line != wanted_line:
            return f"Line {start + index + 1} differs{_line_difference(line, wanted_line)}"
    return "Only empty lines around it differ."


def _line_difference(line: str, wanted: str) -> str:
    indent, wanted_indent = _indent(line), _indent(wanted)
    if line.strip() == wanted.strip() and indent != wanted_indent:
        return (
            f" in its indentation: the file has {_described_indent(indent)}, "
            f"the given text {_described_indent(wanted_indent)}."
        )
    if line.rstrip() == wanted.rstrip():
        return " in white space at its end."
    column = next(
        (at for at, pair in enumerate(zip(line, wanted, strict=False)) if pair[0] != pair[1]),
        min(len(line), len(wanted)),
    )
    return (
        f" at column {column + 1}: the file has {_character(line, column)}, "
        f"the given text {_character(wanted, column)}."
    )


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _described_indent(indent: str) -> str:
    if not indent:
        return "none"
    tabs, spaces = indent.count("\t"), indent.count(" ")
    parts = [
        f"{count} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((tabs, "tab"), (spaces, "space"))
        if count
    ]
    others = len(indent) - tabs - spaces
    return " and ".join([*parts, *([f"{others} other"] if others else [])])


def _character(line: str, column: int) -> str:
    if column >= len(line):
        return "the end of the line"
    character = line[column]
    if character.isascii() and character.isprintable() and character != " ":
        return f"'{character}'"
    described = name(character, "").lower() or ("tab" if character == "\t" else "control")
    return f"{described} (U+{ord(character):04X})"

"""Glob patterns for paths, the same for every search program.

``*`` and ``?`` stay within a directory, ``**`` crosses directories, ``[a-z]``, ``[!a]`` and
``{one,two}`` work as in a shell. Matching is case sensitive.
"""

import re
from collections.abc import Iterable

_SPECIAL = frozenset("*?[{")
_SYNTAX = frozenset("*?[{},\\")
_BRACES = {"{": 1, "}": -1}
_STAR = "[^/]*"


def has_wildcard(text: str) -> bool:
    """Tell whether ``text`` means anything but itself."""
    return not _SPECIAL.isdisjoint(text)


def split_path(pattern: str) -> list[str]:
    """Split at the slashes that are not inside braces."""
    if not _balanced(pattern):
        return pattern.split("/")
    parts = [""]
    depth = 0
    for character in pattern:
        depth += _BRACES.get(character, 0)
        if character == "/" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def name_below(directories: Iterable[str], name: str) -> re.Pattern[str]:
    """Return what matches paths of files called ``name`` at any depth below the directories."""
    prefix = "".join(_segment(part) for part in directories)
    return re.compile(f"{prefix}(?:.*/)?{_translate(name)}", re.DOTALL)


def path_glob(glob: str) -> re.Pattern[str]:
    """Return what matches relative paths as a line of a gitignore file does: without a slash the
    name at any depth, with one the whole path."""
    *directories, name = split_path(glob.removeprefix("/"))
    if not directories and not glob.startswith("/"):
        return name_below((), name)
    prefix = "".join(_segment(part) for part in directories)
    last = ".*" if name in {"**", ""} else _translate(name)
    return re.compile(prefix + last, re.DOTALL)


def _segment(part: str) -> str:
    return "(?:.*/)?" if part == "**" else f"{_translate(part)}/"


def _translate(glob: str) -> str:
    """Write one path segment as a regular expression."""
    parts, depth = _pieces(glob, _SYNTAX)
    if depth:
        # A brace that is never closed stands for itself, and so do the others.
        parts, _ = _pieces(glob, _SYNTAX - {"{"})
    return "".join(parts)


def _pieces(glob: str, syntax: frozenset[str]) -> tuple[list[str], int]:
    """Translate piece by piece; also return how many braces are still open."""
    parts: list[str] = []
    position, depth = 0, 0
    while position < len(glob):
        piece, position, depth = _next(glob, position, depth, syntax)
        # Adjacent stars mean one; left apart they make the matching slow.
        if piece != _STAR or parts[-1:] != [_STAR]:
            parts.append(piece)
    return parts, depth


def _next(glob: str, position: int, depth: int, syntax: frozenset[str]) -> tuple[str, int, int]:
    character = glob[position]
    match character if character in syntax else "":
        case "*":
            return _STAR, position + 1, depth
        case "?":
            return "[^/]", position + 1, depth
        case "[" if (end := _class_end(glob, position)) > 0:
            return _character_class(glob[position + 1 : end]), end + 1, depth
        case "{":
            return "(?:", position + 1, depth + 1
        case "}" if depth:
            return ")", position + 1, depth - 1
        case "," if depth:
            return "|", position + 1, depth
        case "\\" if position + 1 < len(glob):
            return re.escape(glob[position + 1]), position + 2, depth
        case _:
            return re.escape(character), position + 1, depth


def _class_end(glob: str, start: int) -> int:
    """Return the place of the closing bracket, -1 if the bracket stands for itself."""
    first = start + 1
    if glob[first : first + 1] in {"!", "^"}:
        first += 1
    return glob.find("]", first + 1)


def _character_class(inner: str) -> str:
    negated = inner[0] in "!^"
    members = inner[1:] if negated else inner
    # The slash is never in a class: it separates directories.
    escaped = re.sub(r"([\\\[\]^&|~])", r"\\\1", members)
    if _descending(escaped):
        escaped = re.escape(members)
    return f"[^/{escaped}]" if negated else f"(?!/)[{escaped}]"


def _descending(members: str) -> bool:
    """Ranges such as ``z-a`` are no regular expression; take their characters literally."""
    return any(low > high for low, high in re.findall(r"(.)-(.)", members))


def _balanced(glob: str) -> bool:
    depth = 0
    for character in glob:
        depth += _BRACES.get(character, 0)
        if depth < 0:
            return False
    return depth == 0

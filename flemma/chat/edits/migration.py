"""Bringing old files up to date (spec: behaviour 1.12)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.fences import next_fence
from flemma.chat.headers import (
    ASSISTANT,
    SYSTEM,
    USER,
    read_role_marker,
    read_tool_use,
    role_marker,
)
from flemma.chat.nodes import Edit, ReplaceLines

TOOL_NAMES_NOTICE = (
    "Tool names were migrated from ':' to '.' in Tool Use headers and frontmatter. "
    "Review the frontmatter to confirm the changes are correct."
)

_INLINE_MARKER = re.compile(r"(@(?:System|You|Assistant):)[ \t]?(.*\S.*)", re.DOTALL)
_STRING = re.compile(r"(?P<quote>[\"'])(?P<text>[!+^-]?[A-Za-z_][\w-]*(?::[\w*-]+)+)(?P=quote)")
_TOOL_SETTING = re.compile(r"\b(?:tools|auto_approve)\b")
_FOREIGN = frozenset({"urn", "http", "https", "file"})
_ROLES = {role_marker(role): role for role in (SYSTEM, USER, ASSISTANT)}


@dataclass(frozen=True, slots=True)
class Migration:
    """The edits that bring a file up to date; none when it is."""

    edits: tuple[Edit, ...]
    renames_tools: bool
    """Whether to show :data:`TOOL_NAMES_NOTICE`."""


def migrate(document: Document) -> Migration:
    """Return what `:Flemma format` and opening an old file change.

    Text behind a marker moves to a line of its own, ``:`` in tool names becomes ``.``. Lines in
    code fences are content and stay.
    """
    first = document.frontmatter.line_count if document.frontmatter else 0
    walk = _Walk(first)
    edits = list(walk.edits(document.lines_between(first, document.line_count)))
    renamed = list(_frontmatter_edits(document, walk.namespaces))
    return Migration((*renamed, *edits), bool(renamed or walk.namespaces))


class _Walk:
    """One pass over the lines below the frontmatter."""

    def __init__(self, first: int) -> None:
        self.namespaces: set[str] = set()
        self._first = first
        self._fence = 0
        self._role: str | None = None

    def edits(self, lines: list[str]) -> Iterator[Edit]:
        for number, line in enumerate(lines, self._first):
            if line[:1] not in ("@", "`", "*"):
                continue
            new = (line,) if self._fence else self._renewed(line)
            self._fence = next_fence(self._fence, new[-1])
            if new != (line,):
                yield ReplaceLines(number, number + 1, new)

    def _renewed(self, line: str) -> tuple[str, ...]:
        role = read_role_marker(line)
        if role is not None:
            self._role = role
            return (line,)
        inline = _INLINE_MARKER.fullmatch(line)
        if inline is not None:
            marker, text = inline.groups()
            self._role = _ROLES[marker]
            return (marker, text)
        return (self._renamed(line),) if self._role == ASSISTANT else (line,)

    def _renamed(self, line: str) -> str:
        header = read_tool_use(line)
        if header is None or ":" not in header[0]:
            return line
        self.namespaces.add(header[0].partition(":")[0])
        return line.replace(f"`{header[0]}`", f"`{header[0].replace(':', '.')}`", 1)


def _frontmatter_edits(document: Document, namespaces: set[str]) -> Iterator[Edit]:
    """Rename in strings that name tools: known namespaces, or on a line about tools."""
    if document.frontmatter is None:
        return
    for number in range(1, document.frontmatter.line_count - 1):
        line = document.line(number)
        about_tools = _TOOL_SETTING.search(line) is not None

        def rename(found: re.Match[str], about_tools: bool = about_tools) -> str:
            text = found["text"]
            namespace = text.lstrip("!+^-").partition(":")[0]
            ours = about_tools or namespace == "flemma" or namespace in namespaces
            if not ours or namespace in _FOREIGN:
                return found.group()
            return found["quote"] + text.replace(":", ".") + found["quote"]

        renamed = _STRING.sub(rename, line)
        if renamed != line:
            yield ReplaceLines(number, number + 1, (renamed,))

"""One message of a document, parsed into segments when somebody asks for them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from flemma.chat.lines import Lines
from flemma.chat.marks import Mark
from flemma.chat.nodes import Diagnostic, JobResult, Segment, ToolResult, ToolUse
from flemma.chat.segments import Basis, MessageLines, Parsed, parse_message


class MessageTools(NamedTuple):
    """The tool and job blocks of a message: pairs of segment index and node, in order."""

    uses: tuple[tuple[int, ToolUse], ...] = ()
    results: tuple[tuple[int, ToolResult], ...] = ()
    jobs: tuple[tuple[int, JobResult], ...] = ()


_NO_TOOLS = MessageTools()


def find_tools(segments: Sequence[Segment]) -> MessageTools:
    """Pick the tool and job blocks out of segments."""
    found = MessageTools(
        tuple((i, node) for i, node in enumerate(segments) if isinstance(node, ToolUse)),
        tuple((i, node) for i, node in enumerate(segments) if isinstance(node, ToolResult)),
        tuple((i, node) for i, node in enumerate(segments) if isinstance(node, JobResult)),
    )
    return found if any(found) else _NO_TOOLS


class Message:
    """A message: the lines from its marker up to the next marker. Treat it as frozen.

    All line numbers are relative to the marker, which is line 0. While its lines do not change a
    message stays the same object through all edits of the document, wherever it moves.
    """

    __slots__ = (
        "_basis",
        "_content_end",
        "_first",
        "_lines",
        "_parsed",
        "_tools",
        "line_count",
        "role",
    )

    def __init__(
        self, lines: Lines, first: int, last: int, role: str, basis: Basis | None = None
    ) -> None:
        self._lines = lines
        self._first = first
        self._basis = basis
        self._parsed: Parsed | None = None
        self._content_end: int | None = None
        self._tools: MessageTools | None = None
        self.line_count = last - first
        """Number of lines: marker, content and the blank lines up to the next marker."""
        self.role = role
        """``system``, ``user``, ``assistant``; another lower-cased word is never sent."""

    @property
    def marker(self) -> str:
        """The marker line as it is written."""
        return self.line(0)

    @property
    def content_end(self) -> int:
        """Last line that is not empty; 0 (the marker) when there is no content."""
        if self._content_end is None:
            line = self.line_count - 1
            while line > 0 and not self.line(line):
                line -= 1
            self._content_end = line
        return self._content_end

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts of the content in order."""
        return self._parse().segments

    @property
    def tools(self) -> MessageTools:
        """Its tool uses, tool results and job results, each with the index of its segment."""
        if self._tools is None:
            self._tools = find_tools(self.segments)
        return self._tools

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Problems of the parts, lines relative to the marker."""
        return self._parse().diagnostics

    @property
    def lines(self) -> list[str]:
        """All lines, the marker first."""
        return self.lines_between(0, self.line_count)

    @property
    def text(self) -> str:
        """The content as written: the lines below the marker up to the last that is not empty."""
        return "\n".join(self.lines_between(1, self.content_end + 1))

    def line(self, number: int) -> str:
        """Return a line; 0 is the marker."""
        return self._lines.line(self._first + number)

    def lines_between(self, first: int, last: int) -> list[str]:
        """Return the lines from ``first`` up to, not including, ``last``."""
        last = min(last, self.line_count)
        return self._lines.between(self._first + max(0, first), self._first + last)

    def basis(self, head: int, tail: int) -> Basis | None:
        """Return what a new version can re-use that keeps this many first and last lines."""
        if self._parsed is not None:
            return Basis(self._parsed, self.line_count, head, tail)
        if self._basis is None:
            return None
        kept_head, kept_tail = min(head, self._basis.head), min(tail, self._basis.tail)
        return replace(self._basis, head=kept_head, tail=kept_tail)

    def _parse(self) -> Parsed:
        if self._parsed is None:
            self._keep_only_own_lines()
            source = MessageLines(
                self.role,
                self.line_count,
                self.content_end + 1,
                self._marks_from,
                self.line,
                self.lines_between,
            )
            self._parsed = parse_message(source, self._basis)
            self._basis = None
        return self._parsed

    def _marks_from(self, line: int) -> Iterator[Mark]:
        return self._lines.marks(self._first, self._first + line, self._first + self.line_count)

    def _keep_only_own_lines(self) -> None:
        """Let go of the rest of the text as it was when this message was made."""
        self._lines, self._first = self._lines.narrow(self._first, self._first + self.line_count)

    def __repr__(self) -> str:
        return f"Message({self.marker!r}, {self.line_count} lines)"

"""The document: a `.chat` text with its frontmatter and messages, and how an edit changes it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flemma.chat.lines import Lines, Replacement
from flemma.chat.message import Message
from flemma.chat.nodes import Change, Diagnostic, Frontmatter
from flemma.chat.scan import FRONTMATTER, PREAMBLE, Marker, ScanState, closes_frontmatter

_FRONTMATTER_OPENER = re.compile(r"```([A-Za-z0-9]+)[ \t\r\f\v]*")


class Document:
    """A parsed `.chat` text. Treat it as frozen: :meth:`apply` returns a new document.

    Line numbers are absolute and 0-based. Unchanged messages are the same objects in the new
    document, so ``is`` tells what changed.
    """

    __slots__ = (
        "__weakref__",
        "_frontmatter",
        "_lines",
        "_states",
        "_text",
        "messages",
        "starts",
    )

    def __init__(
        self,
        lines: Lines,
        states: list[ScanState],
        starts: list[int],
        messages: tuple[Message, ...],
        frontmatter: Frontmatter | None,
    ) -> None:
        self._lines = lines
        self._states = states
        self._frontmatter = frontmatter
        self._text: str | None = None
        self.messages = messages
        """The messages in order."""
        self.starts: Sequence[int] = starts
        """The line of the marker of each message."""

    @classmethod
    def from_lines(cls, lines: Sequence[str]) -> "Document":
        """Parse lines; no line at all counts as one empty line."""
        stored = Lines.of(lines or ("",))
        frontmatter = _frontmatter(stored)
        scan = _scan(stored, 0, FRONTMATTER if frontmatter else PREAMBLE)
        starts = [marker.line for marker in scan.markers]
        messages = tuple(
            Message(stored, first, last, role)
            for (first, role), last in zip(scan.markers, [*starts[1:], len(stored)], strict=False)
        )
        return cls(stored, scan.states, starts, messages, frontmatter)

    @property
    def frontmatter(self) -> Frontmatter | None:
        """The settings block on line 0, if there is a closed one."""
        return self._frontmatter

    @property
    def line_count(self) -> int:
        """Number of lines, at least 1."""
        return len(self._lines)

    @property
    def text(self) -> str:
        """The whole text, lines joined by newlines."""
        if self._text is None:
            self._text = "\n".join(self._lines)
        return self._text

    @property
    def open_fence(self) -> int:
        """Length of the code fence that is still open at the end of the text; 0 when none is.

        A marker written there would be content of that fence.
        """
        return self._states[-1].fence

    def serialize(self) -> str:
        """Return the text this document was parsed from, to the letter."""
        return self.text

    def line(self, number: int) -> str:
        """Return one line; raises IndexError outside the document."""
        return self._lines.line(number)

    def lines_between(self, first: int, last: int) -> list[str]:
        """Return the lines from ``first`` up to, not including, ``last``."""
        return self._lines.between(max(0, first), min(last, len(self._lines)))

    def start_of(self, index: int) -> int:
        """Return the line of the marker of message ``index``; raises IndexError."""
        return self.starts[index]

    def message_at(self, line: int) -> tuple[int, Message] | None:
        """Return index and message that hold ``line``; None above the first message."""
        index = bisect_right(self.starts, line) - 1
        if index < 0 or line >= len(self._lines):
            return None
        return index, self.messages[index]

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the problems of all messages, with absolute lines."""
        return tuple(
            replace(diagnostic, line=start + diagnostic.line)
            for start, message in zip(self.starts, self.messages, strict=True)
            for diagnostic in message.diagnostics
        )

    def apply(self, change: Change) -> "Document":
        """Return the document after ``change``; positions outside the text are clamped.

        Costs about as much as the change is long, not as the text is.
        """
        first = min(max(0, change.first), len(self._lines))
        last = min(max(first, change.last), len(self._lines))
        new = change.lines
        if not new and first == 0 and last == len(self._lines):
            new = ("",)
        replaced = self._lines.replace(first, last, new)
        frontmatter = self._frontmatter_after(first, replaced.lines)
        rescan = self._rescan(replaced, FRONTMATTER if frontmatter else PREAMBLE)
        delta = len(new) - (last - first)
        edit = _Edit(self, replaced.lines, first, first + len(new), delta)
        return edit.document(rescan, frontmatter)

    def _frontmatter_after(self, first: int, lines: Lines) -> Frontmatter | None:
        known = self._frontmatter
        if known is not None and first >= known.line_count:
            return known
        return _frontmatter(lines)

    def _rescan(self, replaced: Replacement, initial: ScanState) -> "_Rescan":
        lines, kept_before, kept_after = replaced
        shift = len(lines.chunks) - len(self._lines.chunks)
        if initial != self._states[0]:
            kept_before = 0
        state = self._states[kept_before] if kept_before else initial
        states = self._states[:kept_before]
        markers: list[Marker] = []
        index = kept_before
        while index < len(lines.chunks):
            in_step = index >= len(lines.chunks) - kept_after
            if in_step and self._states[index - shift] == state:
                break
            states.append(state)
            transition = lines.chunks[index].scan(state)
            start = lines.starts[index]
            markers.extend(Marker(start + line, role) for line, role in transition.markers)
            state = transition.after
            index += 1
        states.extend(self._states[index - shift :] if index < len(lines.chunks) else ())
        if index == len(lines.chunks):
            states.append(state)
        return _Rescan(states, markers, lines.starts[kept_before], lines.starts[index])


@dataclass(frozen=True, slots=True)
class _Scanned:
    states: list[ScanState]
    markers: list[Marker]


@dataclass(frozen=True, slots=True)
class _Rescan:
    """States before each chunk, and the markers between two lines of the new text."""

    states: list[ScanState]
    markers: list[Marker]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """One edit: ``first`` up to ``last`` are the new lines in the new text."""

    old: Document
    lines: Lines
    first: int
    last: int
    delta: int

    def document(self, rescan: _Rescan, frontmatter: Frontmatter | None) -> Document:
        old_starts, delta = self.old.starts, self.delta
        before = bisect_left(old_starts, rescan.first)
        after = bisect_left(old_starts, rescan.last - delta)
        moved = old_starts[after:]
        if delta:
            moved = [start + delta for start in moved]
        starts = [*old_starts[:before], *(marker.line for marker in rescan.markers), *moved]
        kept = max(0, before - 1)
        fresh = [Marker(old_starts[i], self.old.messages[i].role) for i in range(kept, before)]
        fresh += rescan.markers
        ends = [*starts[kept + 1 :], len(self.lines)]
        middle = (self._message(marker, end) for marker, end in zip(fresh, ends, strict=False))
        messages = (*self.old.messages[:kept], *middle, *self.old.messages[after:])
        return Document(self.lines, rescan.states, starts, messages, frontmatter)

    def _message(self, marker: Marker, last: int) -> Message:
        """Return the old message that is on these lines unchanged, or a new one."""
        first, role = marker
        old_starts, messages = self.old.starts, self.old.messages
        old_first = first - self.delta if first >= self.last else first
        index = bisect_right(old_starts, old_first) - 1
        if index < 0 or messages[index].role != role:
            return Message(self.lines, first, last, role)
        old, old_start = messages[index], old_starts[index]
        old_end = old_start + old.line_count
        head, tail = 0, 0
        if first < self.first and old_start == first:
            head = min(self.first, last, old_end) - first
        if last >= self.last and last - self.delta == old_end:
            tail = last - max(self.last, first)
        if last - first == old.line_count and (head or tail) == old.line_count:
            return old
        basis = old.basis(head, tail) if head or tail else None
        return Message(self.lines, first, last, role, basis)


def _scan(lines: Lines, index: int, state: ScanState) -> _Scanned:
    states = [state]
    markers: list[Marker] = []
    for start, chunk in zip(lines.starts[index:], lines.chunks[index:], strict=False):
        transition = chunk.scan(state)
        markers.extend(Marker(start + line, role) for line, role in transition.markers)
        state = transition.after
        states.append(state)
    return _Scanned(states, markers)


def _frontmatter(lines: Lines) -> Frontmatter | None:
    opener = _FRONTMATTER_OPENER.fullmatch(lines.line(0))
    if opener is None:
        return None
    for start, chunk in zip(lines.starts, lines.chunks, strict=False):
        for mark in chunk.marks:
            if start + mark.offset > 0 and closes_frontmatter(mark):
                closing = start + mark.offset
                code = "\n".join(lines.between(1, closing))
                return Frontmatter(opener.group(1), code, closing + 1)
    return None

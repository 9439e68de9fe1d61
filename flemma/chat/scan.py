"""The scan for role markers: a fold of a small state over chunks of lines.

A chunk remembers, for each state it was ever entered with, the state it is left with and the
markers in it. Scanning again after an edit therefore only costs the chunks that changed, and
stops as soon as the state is the one it was before at the same place.
"""

from enum import Enum, auto
from typing import NamedTuple

from flemma.chat.fences import MINIMUM_LENGTH
from flemma.chat.headers import ASSISTANT
from flemma.chat.marks import Mark, MarkKind, find_marks

# Bound once: this loop runs over every marked line of a chat.
_ROLE = MarkKind.ROLE
_FENCE_BARE = MarkKind.FENCE_BARE
_FENCE_OPENER = MarkKind.FENCE_OPENER
_THINKING_OPEN = MarkKind.THINKING_OPEN
_THINKING_CLOSE = MarkKind.THINKING_CLOSE


class Place(Enum):
    """The part of the file a line is in."""

    FRONTMATTER = auto()
    PREAMBLE = auto()
    MESSAGE = auto()


class ScanState(NamedTuple):
    """What the scan knows at the start of a line.

    ``fence`` is the length of the open fence (0: none). A closing thinking tag of an assistant
    also ends a fence that the thinking left open, so that unbalanced thoughts cannot swallow the
    rest of the chat.
    """

    place: Place
    assistant: bool = False
    fence: int = 0
    thinking: bool = False


FRONTMATTER = ScanState(Place.FRONTMATTER)
PREAMBLE = ScanState(Place.PREAMBLE)


class Marker(NamedTuple):
    """A role marker that begins a message."""

    line: int
    role: str


class Transition(NamedTuple):
    """Result of scanning one chunk: the state behind it, and its markers counted from its start."""

    after: ScanState
    markers: tuple[Marker, ...]


class Chunk:
    """A run of lines that never changes, with what was found out about it."""

    __slots__ = ("_longest_closer", "_marks", "_transitions", "lines")

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines = lines
        self._marks: tuple[Mark, ...] | None = None
        self._longest_closer = 0
        self._transitions: dict[ScanState, Transition] = {}

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the lines, offsets counted from the start of the chunk."""
        if self._marks is None:
            self._marks = find_marks(self.lines)
            closers = (mark.length for mark in self._marks if mark.kind is _FENCE_BARE)
            self._longest_closer = max(closers, default=0)
        return self._marks

    def scan(self, before: ScanState) -> Transition:
        """Scan the chunk, entered with the state ``before``."""
        known = self._transitions.get(before)
        if known is None:
            known = self._transitions[before] = self._scan(before)
        return known

    def _scan(self, before: ScanState) -> Transition:
        marks = self.marks
        if before.fence > self._longest_closer and not before.thinking:
            return Transition(before, ())
        return _scan(marks, before)


def closes_frontmatter(mark: Mark) -> bool:
    """Whether the marked line is exactly three backticks (spec: behaviour 1.2)."""
    return mark.kind is MarkKind.FENCE_BARE and mark.length == 3


def _scan(marks: tuple[Mark, ...], before: ScanState) -> Transition:
    match before.place:
        case Place.FRONTMATTER:
            closing = next((i for i, mark in enumerate(marks) if closes_frontmatter(mark)), None)
            if closing is None:
                return Transition(before, ())
            return _scan(marks[closing + 1 :], PREAMBLE)
        case Place.PREAMBLE:
            first = next((i for i, m in enumerate(marks) if m.kind is MarkKind.ROLE), None)
            if first is None:
                return Transition(before, ())
            return _scan_messages(marks[first:], ScanState(Place.MESSAGE))
        case Place.MESSAGE:
            return _scan_messages(marks, before)


def _scan_messages(marks: tuple[Mark, ...], before: ScanState) -> Transition:
    _, assistant, fence, thinking = before
    markers: list[Marker] = []
    for offset, kind, length, role in marks:
        if fence:
            if kind is _FENCE_BARE:
                if length >= fence:
                    fence = 0
            elif kind is _THINKING_CLOSE and thinking:
                fence, thinking = 0, False
        elif kind is _FENCE_OPENER or (kind is _FENCE_BARE and length >= MINIMUM_LENGTH):
            fence = length
        elif kind is _ROLE:
            markers.append(Marker(offset, role))
            assistant, thinking = role == ASSISTANT, False
        elif kind is _THINKING_OPEN:
            thinking = thinking or (assistant and not length)
        elif kind is _THINKING_CLOSE:
            thinking = False
    after = ScanState(Place.MESSAGE, assistant, fence, thinking)
    return Transition(after, tuple(markers))

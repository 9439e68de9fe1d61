"""The scan for role markers: a fold of a small state over chunks of lines.

A chunk remembers, for each state it was ever entered with, the state it is left with and the
markers in it. Scanning again after an edit therefore only costs the chunks that changed, and
stops as soon as the state is the one it was before at the same place.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from flemma.chat.headers import ASSISTANT
from flemma.chat.marks import Mark, MarkKind, find_marks


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


class Transition(NamedTuple):
    """Result of scanning one chunk: the state behind it, and the offsets of its role markers."""

    after: ScanState
    markers: tuple[int, ...]


class Chunk:
    """A run of lines that never changes, with what was found out about it."""

    __slots__ = ("_marks", "_transitions", "lines")

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines = lines
        self._marks: tuple[Mark, ...] | None = None
        self._transitions: dict[ScanState, Transition] = {}

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the lines, offsets counted from the start of the chunk."""
        if self._marks is None:
            self._marks = find_marks(self.lines)
        return self._marks

    def scan(self, before: ScanState) -> Transition:
        """Scan the chunk, entered with the state ``before``."""
        known = self._transitions.get(before)
        if known is None:
            known = self._transitions[before] = _scan(self.marks, before)
        return known


@dataclass(slots=True)
class _Scan:
    place: Place
    assistant: bool
    fence: int
    thinking: bool


def _scan(marks: tuple[Mark, ...], before: ScanState) -> Transition:
    scan = _Scan(*before)
    markers: list[int] = []
    for mark in marks:
        if scan.place is Place.MESSAGE:
            if mark.kind is MarkKind.ROLE:
                if not scan.fence:
                    _enter_message(scan, mark, markers)
            else:
                _step(scan, mark)
        elif scan.place is Place.PREAMBLE:
            if mark.kind is MarkKind.ROLE:
                _enter_message(scan, mark, markers)
        elif closes_frontmatter(mark):
            scan.place = Place.PREAMBLE
    after = ScanState(scan.place, scan.assistant, scan.fence, scan.thinking)
    return Transition(after, tuple(markers))


def closes_frontmatter(mark: Mark) -> bool:
    """Whether the marked line is exactly three backticks (spec: behaviour 1.2)."""
    return mark.kind is MarkKind.FENCE_BARE and mark.length == 3


def _enter_message(scan: _Scan, mark: Mark, markers: list[int]) -> None:
    scan.place = Place.MESSAGE
    scan.assistant = mark.role == ASSISTANT
    scan.thinking = False
    markers.append(mark.offset)


def _step(scan: _Scan, mark: Mark) -> None:
    match mark.kind:
        case MarkKind.FENCE_BARE if scan.fence:
            if mark.length >= scan.fence:
                scan.fence = 0
        case MarkKind.FENCE_BARE | MarkKind.FENCE_OPENER:
            if not scan.fence and mark.length >= 3:
                scan.fence = mark.length
        case MarkKind.THINKING_OPEN if scan.assistant and not scan.fence:
            scan.thinking = not mark.length
        case MarkKind.THINKING_CLOSE if scan.thinking:
            scan.thinking = False
            scan.fence = 0
        case _:
            pass

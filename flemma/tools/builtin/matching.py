"""Finding the text that an edit replaces: exactly, then with more and more tolerance.

Exact; with line endings put aside; with look-alike characters taken as one (case E-07). A step is
only tried when the one before found nothing, and no step chooses among several places (E-08, E-09).
"""

from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum

from flemma.text.lines import to_newlines

# Look-alikes, one character for one, so that positions stay the same.
_LOOKALIKES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"), " "),
    **dict.fromkeys(map(ord, "\u202f\u205f\u3000"), " "),
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
}


class Tolerance(Enum):
    """How much had to be put aside for a match."""

    NONE = "none"
    LINE_ENDINGS = "line endings"
    LOOKALIKES = "look-alikes"


@dataclass(frozen=True, slots=True)
class Matches:
    """The places in the text where the wanted text stands, as (start, end) offsets."""

    places: tuple[tuple[int, int], ...]
    tolerance: Tolerance


def find_matches(text: str, wanted: str) -> Matches:
    """Find all places of ``wanted``, overlapping ones too, at the strictest step with any."""
    places = tuple((start, start + len(wanted)) for start in occurrences(text, wanted))
    if places:
        return Matches(places, Tolerance.NONE)
    unix = Unix(text)
    wanted = to_newlines(wanted)
    found = occurrences(unix.text, wanted)
    if found:
        return Matches(unix.places(found, len(wanted)), Tolerance.LINE_ENDINGS)
    found = occurrences(plain(unix.text), plain(wanted))
    return Matches(unix.places(found, len(wanted)), Tolerance.LOOKALIKES)


def occurrences(text: str, wanted: str) -> list[int]:
    """Return every start of ``wanted``, searching on one character after each."""
    found: list[int] = []
    start = text.find(wanted)
    while start >= 0:
        found.append(start)
        start = text.find(wanted, start + 1)
    return found


def plain(text: str) -> str:
    """Put the ASCII character for each look-alike; the length stays."""
    return text if text.isascii() else text.translate(_LOOKALIKES)


def line_number(text: str, offset: int) -> int:
    """Return the 1-based line of an offset."""
    before = text[:offset]
    newlines = before.count("\n")
    return newlines + before.count("\r") - before.count("\r\n") + 1


class Unix:
    """A text whose lines end in ``\\n``, and the way back to offsets in the original."""

    def __init__(self, original: str) -> None:
        lone_returns = "\r" in original and "\n" not in original
        self.text = original.replace("\r", "\n") if lone_returns else to_newlines(original)
        self._returns: list[int] = []
        """Offsets in ``text`` of the newlines that were two characters."""
        position = original.find("\r\n")
        while position >= 0:
            self._returns.append(position - len(self._returns))
            position = original.find("\r\n", position + 2)

    def places(self, starts: list[int], length: int) -> tuple[tuple[int, int], ...]:
        """Return the original (start, end) of stretches of ``text``."""
        return tuple((self._original(start), self._original(start + length)) for start in starts)

    def _original(self, offset: int) -> int:
        return offset + bisect_left(self._returns, offset)

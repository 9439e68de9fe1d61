"""A long sequence of lines that never changes, kept in chunks so that an edit copies little."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from flemma.chat.marks import Mark
from flemma.chat.scan import Chunk

CHUNK_LINES = 256
_SMALLEST = 32


class Replacement(NamedTuple):
    """The lines after an edit, and how many chunks at both ends are the same as before."""

    lines: "Lines"
    kept_before: int
    kept_after: int


class Lines:
    """Lines in chunks. All positions are 0-based line numbers, ends are exclusive."""

    __slots__ = ("_starts", "chunks")

    def __init__(self, chunks: tuple[Chunk, ...]) -> None:
        self.chunks = chunks
        self._starts: list[int] | None = None

    @classmethod
    def of(cls, lines: Sequence[str]) -> "Lines":
        """Cut ``lines`` into chunks."""
        return cls(tuple(_cut(tuple(lines))))

    @property
    def starts(self) -> list[int]:
        """First line of each chunk, and the number of lines at the end."""
        if self._starts is None:
            self._starts = list(accumulate((len(c.lines) for c in self.chunks), initial=0))
        return self._starts

    def __len__(self) -> int:
        return self.starts[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(chunk.lines for chunk in self.chunks)

    def chunk_at(self, line: int) -> int:
        """Return the index of the chunk that holds ``line``."""
        return bisect_right(self.starts, line, 0, len(self.chunks)) - 1

    def line(self, number: int) -> str:
        """Return one line; raises IndexError outside the text."""
        if not 0 <= number < len(self):
            raise IndexError(f"line {number} is not in a text of {len(self)} lines")
        index = self.chunk_at(number)
        return self.chunks[index].lines[number - self.starts[index]]

    def between(self, first: int, last: int) -> list[str]:
        """Return the lines from ``first`` up to, not including, ``last``."""
        if last <= first:
            return []
        found: list[str] = []
        for index in range(self.chunk_at(first), len(self.chunks)):
            start = self.starts[index]
            if start >= last:
                break
            found.extend(self.chunks[index].lines[max(0, first - start) : last - start])
        return found

    def marks(self, origin: int, first: int, last: int) -> Iterator[Mark]:
        """Yield the marks from ``first`` up to ``last``, offsets counted from ``origin``."""
        if last <= first:
            return
        for index in range(self.chunk_at(first), len(self.chunks)):
            start = self.starts[index]
            if start >= last:
                return
            for offset, kind, length, role in self.chunks[index].marks:
                if first <= start + offset < last:
                    yield Mark(start + offset - origin, kind, length, role)

    def narrow(self, first: int, last: int) -> tuple["Lines", int]:
        """Return the chunks that hold these lines, and the place of ``first`` in them."""
        begin = self.chunk_at(first)
        end = self.chunk_at(max(first, last - 1)) + 1
        if begin == 0 and end == len(self.chunks):
            return self, first
        return Lines(self.chunks[begin:end]), first - self.starts[begin]

    def replace(self, first: int, last: int, new: Iterable[str]) -> Replacement:
        """Return the text with lines ``first`` up to ``last`` replaced by ``new``."""
        begin = self.chunk_at(first)
        end = max(begin, self.chunk_at(max(first, last - 1))) + 1
        head = self.chunks[begin].lines[: first - self.starts[begin]]
        tail = self.chunks[end - 1].lines[last - self.starts[end - 1] :]
        middle = (*head, *new, *tail)
        while len(middle) < _SMALLEST and end < len(self.chunks):
            middle += self.chunks[end].lines
            end += 1
        chunks = (*self.chunks[:begin], *_cut(middle), *self.chunks[end:])
        return Replacement(Lines(chunks), begin, len(self.chunks) - end)


def _cut(lines: tuple[str, ...]) -> Iterator[Chunk]:
    if len(lines) <= 2 * CHUNK_LINES:
        if lines:
            yield Chunk(lines)
        return
    for start in range(0, len(lines), CHUNK_LINES):
        yield Chunk(lines[start : start + CHUNK_LINES])

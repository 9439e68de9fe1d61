"""The tail of an output of any size, in bounded memory (case X-12)."""

from flemma.text.safe import start_of_code_point
from flemma.text.truncate import MAX_BYTES, MAX_LINES, Truncation, tail_of, truncate_tail


class TailBuffer:
    """Takes UTF-8 as it arrives; keeps only the ending that truncation can need, and exact totals.

    Trailing white space does not count: :meth:`truncation` is that of the output stripped at its
    end, as `bash` reports it (behaviour 4.1). Memory is bounded by about four times ``max_bytes``
    plus one chunk.
    """

    def __init__(self, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> None:
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._kept = bytearray()
        self._blank = bytearray()
        self._total_bytes = 0
        self._newlines = 0
        self._blank_bytes = 0
        self._blank_newlines = 0

    @property
    def overflowed(self) -> bool:
        """Whether what came so far is over a limit, so that the ending alone is not all."""
        return self._total_bytes > self._max_bytes or self._newlines >= self._max_lines

    def feed(self, data: bytes) -> None:
        """Take the next bytes; chunks may split characters."""
        solid = data.rstrip()
        if solid:
            self._settle_blank()
            self._kept += solid
            self._total_bytes += len(solid)
            self._newlines += solid.count(b"\n")
        blank = data[len(solid) :]
        self._blank += blank
        self._blank_bytes += len(blank)
        self._blank_newlines += blank.count(b"\n")
        self._shrink()

    def truncation(self) -> Truncation:
        """Return the tail of the output so far, without its trailing white space."""
        start = start_of_code_point(bytes(self._kept[:4]), 0) if self.overflowed else 0
        ending = self._kept[start:].decode("utf-8", "replace")
        if not self.overflowed:
            return truncate_tail(ending, max_lines=self._max_lines, max_bytes=self._max_bytes)
        return tail_of(
            ending,
            self._newlines + 1,
            self._total_bytes,
            max_lines=self._max_lines,
            max_bytes=self._max_bytes,
        )

    def _settle_blank(self) -> None:
        """White space that is followed by more output is output."""
        self._kept += self._blank
        self._total_bytes += self._blank_bytes
        self._newlines += self._blank_newlines
        self._blank.clear()
        self._blank_bytes = 0
        self._blank_newlines = 0

    def _shrink(self) -> None:
        # One byte over the limit has to stay: it tells that the last line is not whole.
        # Cutting at twice the size only keeps the cost per byte constant.
        wanted = self._max_bytes + 8
        for buffer in (self._kept, self._blank):
            if len(buffer) > 2 * wanted:
                del buffer[:-wanted]

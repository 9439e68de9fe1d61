"""Server-sent events from bytes, incrementally (spec: providers 0.1; cases S-01, S-02).

Linear in the size of the input, also for one huge line that comes in many pieces.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")
_FIELDS = frozenset({"data", "event", "id", "retry"})

MAX_UNFRAMED = 16 * 1024 * 1024
"""Characters kept of what is not an event stream; a whole answer must fit."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event. ``name`` is empty when there was no `event:` line."""

    name: str
    data: str


class ServerSentEvents:
    """Cuts a byte stream into events. Lines that are no part of the format are kept aside.

    Not `str.splitlines` and nothing built on it: JSON may hold U+2028 and its like unescaped, and
    they are no line ends here.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._after_return = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []
        self._unframed: list[str] = []
        self._unframed_size = 0

    @property
    def unframed(self) -> str:
        """The lines that belong to no event: a JSON or HTML body, say."""
        return "\n".join(self._unframed)

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Take the next bytes; return the events they complete."""
        return list(self._events(self._lines(self._decoder.decode(data))))

    def finish(self) -> list[ServerSentEvent]:
        """Take the end of the stream. An event whose blank line is missing still counts."""
        lines = [*self._lines(self._decoder.decode(b"", final=True)), "".join(self._line), ""]
        self._line = []
        return list(self._events(iter(lines)))

    def _lines(self, text: str) -> Iterator[str]:
        if self._at_start and text:
            text = text.removeprefix("\ufeff")
            self._at_start = False
        if self._after_return and text:
            text = text.removeprefix("\n")
            self._after_return = False
        if not text:
            return
        # A return at the end may be half of a line end; the line is complete either way.
        self._after_return = text.endswith("\r")
        *complete, rest = _LINE_END.split(text)
        for line in complete:
            if self._line:
                line = "".join((*self._line, line))
                self._line = []
            yield line
        if rest:
            self._line.append(rest)

    def _events(self, lines: Iterator[str]) -> Iterator[ServerSentEvent]:
        for line in lines:
            if line:
                self._take(line)
                continue
            if self._data:
                yield ServerSentEvent(self._name, "\n".join(self._data))
            self._name, self._data = "", []

    def _take(self, line: str) -> None:
        field, _, value = line.partition(":")
        if line.startswith(":"):
            return
        if field not in _FIELDS:
            self._set_aside(line)
            return
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value

    def _set_aside(self, line: str) -> None:
        kept = line[: MAX_UNFRAMED - self._unframed_size]
        if kept:
            self._unframed.append(kept)
            self._unframed_size += len(kept)

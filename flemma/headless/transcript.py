"""Prints what is new in a chat while it grows.

What can still change is held back: calls that wait or run, from the first one on, and markers with
nothing below them. So a line is printed once and in order, and the output is what the file gained.
"""

import re
from collections.abc import Callable

from flemma.chat.document import Document
from flemma.chat.nodes import ToolResult
from flemma.chat.query import siblings, tool_results

_MARKER = re.compile(r"@[A-Za-z0-9]+:")


class Transcript:
    """The part of a document behind what was there at the start."""

    def __init__(self, document: Document, write: Callable[[str], None]) -> None:
        self._write = write
        self._first = _first_new_line(document)
        self._printed = _text(document, self._first)
        unsettled = _first_unsettled(document, self._first)
        if unsettled is not None:
            self._printed = _join(document, self._first, unsettled)
        self._printed = _settled(self._printed)
        self._silent = True

    def follow(self, document: Document) -> None:
        """Print what is new and will stay."""
        unsettled = _first_unsettled(document, self._first)
        last = document.line_count if unsettled is None else unsettled
        self._print(_settled(_join(document, self._first, last)))

    def finish(self, document: Document) -> None:
        """Print the rest, calls that wait included, up to the empty prompt."""
        self._print(_settled(_text(document, self._first)))
        if not self._silent and not self._printed.endswith("\n"):
            self._write("\n")

    def _print(self, text: str) -> None:
        if len(text) <= len(self._printed) and self._printed.startswith(text):
            return
        kept = self._printed if text.startswith(self._printed) else _common(self._printed, text)
        new = text[len(kept) :]
        self._write(new.lstrip("\n") if self._silent else new)
        self._silent = False
        self._printed = text


def _first_new_line(document: Document) -> int:
    """Return the first line that can change: behind it results or answers are written."""
    first = document.line_count
    for call in siblings(document):
        last = call.last_result
        if last is None:
            following = call.use.message + 1
            if following < len(document.messages):
                first = min(first, document.start_of(following))
        elif is_unsettled(last.node):
            first = min(first, last.line)
    return first


def _first_unsettled(document: Document, first: int) -> int | None:
    lines = (
        result.line
        for result in tool_results(document)
        if result.line >= first and is_unsettled(result.node)
    )
    return next(lines, None)


def is_unsettled(result: ToolResult) -> bool:
    """Tell whether a block waits for its result, or for the tool that runs."""
    running = result.status is None and not result.content and result.job_id is None
    return result.is_placeholder or running


def _text(document: Document, first: int) -> str:
    return _join(document, first, document.line_count)


def _join(document: Document, first: int, last: int) -> str:
    return "\n".join(document.lines_between(first, last))


def _settled(text: str) -> str:
    """Return ``text`` without blank lines and bare markers at its end."""
    while True:
        text = text.rstrip()
        start = text.rfind("\n") + 1
        if not _MARKER.fullmatch(text, start):
            return text
        text = text[:start]


def _common(one: str, other: str) -> str:
    """Return the whole lines that both texts begin with."""
    length = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return one[: one.rfind("\n", 0, length) + 1]

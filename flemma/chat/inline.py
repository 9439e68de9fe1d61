"""Template parts of a run of text: expressions, statements and file references.

Anything that is not closed is literal: from the first unclosed delimiter on only file references
are found (spec: behaviour 1.10, 1.11).
"""

import re
from collections.abc import Generator, Iterator
from typing import TypeAlias

from flemma.chat.nodes import Code, Expression, FileReference, Text
from flemma.chat.references import read_reference

InlineSegment: TypeAlias = Text | Expression | Code | FileReference

_OPENING = re.compile(r"\{\{|\{%|@(?=\.\.?/|~/|//)")
_FILE_OPENING = re.compile(r"@(?=\.\.?/|~/|//)")
_REFERENCE_OPENINGS = ("@./", "@../", "@~/", "@//")
_STRING = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_EXPRESSION_TOKEN = re.compile(rf"{_STRING}|[{{}}]")
_CODE_TOKEN = re.compile(rf"{_STRING}|%\}}")
# A word of punctuation only; looking at it once keeps the scan linear.
_NO_REFERENCE = re.compile(r"@[^\s{]*")
_END_RAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")


def parse_inline(text: str, start: int, end: int) -> tuple[InlineSegment, ...]:
    """Split ``text``, which is lines ``start`` to ``end`` of its message, into its parts.

    The parts in order make up ``text`` again, except for ``{% raw %}`` tags: what is between them
    is plain text.
    """
    if not text:
        return ()
    if not _may_have_parts(text):
        return (Text(text, start, end),)
    return tuple(_Scanner(text, start).parts())


def _may_have_parts(text: str) -> bool:
    # Searching for one character is many times faster than for two.
    if "{" in text and ("{{" in text or "{%" in text):
        return True
    return "@" in text and any(opening in text for opening in _REFERENCE_OPENINGS)


class _Scanner:
    """One pass over a text, counting lines as it goes."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._line = start
        self._counted = 0
        self._literal_from = 0
        self._opening = _OPENING
        self._may_end_raw = True

    def parts(self) -> Iterator[InlineSegment]:
        position = 0
        while found := self._opening.search(self._text, position):
            position = found.end()
            match found.group():
                case "{{":
                    end = _expression_end(self._text, position)
                case "{%":
                    end = _code_end(self._text, position)
                case _:
                    position = yield from self._reference(found.start())
                    continue
            if end is None:
                self._opening = _FILE_OPENING
                continue
            position = yield from self._delimited(found.start(), end)
        yield from self._literal(len(self._text))

    def _reference(self, begin: int) -> Generator[InlineSegment, None, int]:
        reference = read_reference(self._text, begin)
        if reference is None:
            return _end_of(_NO_REFERENCE, self._text, begin)
        yield from self._literal(begin)
        line, column = self._place(begin)
        yield FileReference(reference.path, reference.mime, reference.raw, line, line, column)
        self._literal_from = begin + len(reference.raw)
        return self._literal_from

    def _delimited(self, begin: int, end: int) -> Generator[InlineSegment, None, int]:
        yield from self._literal(begin)
        raw = self._text[begin:end]
        code = _inner(raw)
        line, column = self._place(begin)
        last = line + raw.count("\n")
        self._literal_from = end
        if raw.startswith("{{"):
            yield Expression(code, raw, line, last, column)
            return end
        closing = self._end_of_raw(end) if code == "raw" else None
        if closing is None:
            yield Code(code, raw, line, last, column)
            return end
        yield from self._literal(closing.start())
        self._literal_from = closing.end()
        return closing.end()

    def _end_of_raw(self, position: int) -> re.Match[str] | None:
        found = _END_RAW.search(self._text, position) if self._may_end_raw else None
        self._may_end_raw = found is not None
        return found

    def _literal(self, end: int) -> Iterator[Text]:
        if end <= self._literal_from:
            return
        text = self._text[self._literal_from : end]
        line, _ = self._place(self._literal_from)
        yield Text(text, line, line + text.count("\n", 0, -1))

    def _place(self, position: int) -> tuple[int, int]:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line, position - self._text.rfind("\n", 0, position) - 1


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position + 1


def _inner(raw: str) -> str:
    inner = raw[2:-2]
    if inner.startswith("-"):
        inner = inner[1:]
    if inner.endswith("-"):
        inner = inner[:-1]
    return inner.strip()


def _expression_end(text: str, position: int) -> int | None:
    depth = 0
    for token in _EXPRESSION_TOKEN.finditer(text, position):
        match token.group():
            case "{":
                depth += 1
            case "}" if depth:
                depth -= 1
            case "}" if text.startswith("}", token.end()):
                return token.end() + 1
            case _:
                pass
    return None


def _code_end(text: str, position: int) -> int | None:
    for token in _CODE_TOKEN.finditer(text, position):
        if token.group() == "%}":
            return token.end()
    return None

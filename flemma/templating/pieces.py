"""What a template is made of, with white space trimmed at the marks (spec: behaviour 10.1)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from flemma.chat.nodes import Code, Expression, Text

_BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that goes out as it is. ``line`` is where it starts, relative to the message."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Tag:
    """An expression or a statement. ``code`` has neither delimiters nor trim marks."""

    code: str
    raw: str
    line: int
    column: int
    is_statement: bool
    trims_before: bool
    trims_after: bool


@dataclass(frozen=True, slots=True)
class Passed:
    """Something the template carries along without looking into it: a tool result, a file.

    Two of them are equal whatever they carry: to the compiler they are.
    """

    value: Any = field(compare=False)
    line: int


Piece: TypeAlias = Literal | Tag | Passed


def pieces_of(segments: Iterable[object]) -> tuple[Piece, ...]:
    """Return the pieces of one message (or file): trimmed."""
    return tuple(_trimmed([_piece(segment) for segment in segments]))


def _piece(segment: object) -> Piece:
    match segment:
        case Text(text=text, start=line):
            return Literal(text, line)
        case Expression() | Code():
            return _tag(segment)
        case _:
            return Passed(segment, getattr(segment, "start", 0))


def _tag(segment: Expression | Code) -> Tag:
    inner = segment.raw[2:-2]
    trims_before = inner.startswith("-")
    trims_after = inner.endswith("-") and len(inner) > 1
    code = inner[1 if trims_before else 0 : -1 if trims_after else None]
    return Tag(
        code,
        segment.raw,
        segment.start,
        segment.column,
        isinstance(segment, Code),
        trims_before,
        trims_after,
    )


def _trimmed(pieces: list[Piece]) -> list[Piece]:
    result = list(pieces)
    for index, piece in enumerate(pieces):
        if not isinstance(piece, Tag):
            continue
        if piece.trims_before and index:
            result[index - 1] = _changed(result[index - 1], trim_end)
        if piece.trims_after and index + 1 < len(result):
            result[index + 1] = _changed(result[index + 1], trim_start)
    return [piece for piece in result if not _is_empty(piece)]


def _changed(piece: Piece, trim: Callable[[str], str]) -> Piece:
    return replace(piece, text=trim(piece.text)) if isinstance(piece, Literal) else piece


def _is_empty(piece: Piece) -> bool:
    return isinstance(piece, Tag) and piece.is_statement and not piece.code.strip()


def trim_end(text: str) -> str:
    """Drop the blanks at the end, one newline before them, and the blanks before that newline."""
    rest = text.rstrip(_BLANKS)
    if not rest.endswith("\n"):
        return text.rstrip()
    return rest[:-1].removesuffix("\r").rstrip(_BLANKS)


def trim_start(text: str) -> str:
    """Drop the blanks at the start, one newline after them, and the blanks after that newline."""
    rest = text.lstrip(_BLANKS).removeprefix("\r")
    return rest[1:].lstrip(_BLANKS) if rest.startswith("\n") else text.lstrip()

"""Parsing a `.chat` text: total, never raises, loses nothing."""

from collections.abc import Sequence

from flemma.chat.document import Document


def parse(text: str) -> Document:
    r"""Parse a text. Lines end at ``\n`` only; a final newline makes an empty last line."""
    return Document.from_lines(text.split("\n"))


def parse_lines(lines: Sequence[str]) -> Document:
    """Parse the lines of a buffer; they hold no newlines."""
    return Document.from_lines(lines)

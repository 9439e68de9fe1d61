"""Marks over parts of lines. Columns go out in bytes, as Neovim counts them."""

from flemma.chat.message import Message
from flemma.ui.payloads import Mark


def byte_column(line: str, column: int) -> int:
    """Return the byte position of character ``column`` of ``line``."""
    return len(line[:column].encode("utf-8", "surrogatepass"))


def span(message: Message, row: int, first: int, last: int, group: str) -> Mark:
    """Return a highlight of characters ``first`` to ``last`` (exclusive) of one line."""
    line = message.line(row)
    return {
        "kind": "text",
        "row": row,
        "column": byte_column(line, first),
        "end_column": byte_column(line, last),
        "group": group,
    }


def whole_line(row: int, group: str) -> Mark:
    """Return a highlight of all characters of one line."""
    return {"kind": "text", "row": row, "column": 0, "end_column": -1, "group": group}


def raw_span(message: Message, row: int, column: int, raw: str, group: str) -> Mark:
    """Return a highlight of ``raw``, which starts at character ``column`` and may go over lines."""
    lines = raw.split("\n")
    if len(lines) == 1:
        return span(message, row, column, column + len(raw), group)
    return {
        "kind": "text",
        "row": row,
        "column": byte_column(message.line(row), column),
        "end_row": row + len(lines) - 1,
        "end_column": byte_column(lines[-1], len(lines[-1])),
        "group": group,
    }


def background(row: int, end_row: int, group: str) -> Mark:
    """Return a background of whole lines."""
    return {"kind": "line", "row": row, "end_row": end_row, "group": group}

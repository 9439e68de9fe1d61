"""Putting edits into effect."""

from collections.abc import Iterable
from itertools import pairwise

from flemma.chat.document import Document
from flemma.chat.nodes import AppendText, Change, Edit, ReplaceLines


def apply_edits(document: Document, edits: Iterable[Edit]) -> Document:
    """Return ``document`` with all ``edits`` applied; every one of them is meant for ``document``.

    Insertions at one place come in the order given. Raises ValueError when two edits overlap.
    """
    for change in changes_of(document, edits):
        document = document.apply(change)
    return document


def changes_of(document: Document, edits: Iterable[Edit]) -> tuple[Change, ...]:
    """Return the edits as changes from the bottom up, so that none moves the lines of the next.

    Raises ValueError when two edits overlap.
    """
    changes = sorted(
        (_change(document, edit) for edit in edits), key=lambda change: (change.first, change.last)
    )
    for above, below in pairwise(changes):
        if above.last > below.first:
            raise ValueError(f"edits overlap: {above} and {below}; make them one edit")
    return tuple(reversed(changes))


def _change(document: Document, edit: Edit) -> Change:
    match edit:
        case ReplaceLines(first, last, lines):
            return Change(first, last, lines)
        case AppendText(line, text):
            return Change(line, line + 1, tuple((document.line(line) + text).split("\n")))

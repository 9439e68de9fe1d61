"""How blocks look when they are written."""

from collections.abc import Iterable, Iterator

from flemma.chat.document import Document
from flemma.chat.fences import fenced


def block_lines(
    header: str, content: str, language: str = "", *, compact_headers: bool
) -> tuple[str, ...]:
    """Return a header with its fenced content.

    Unless headers are compact a blank line stands between the two; both forms read the same.
    """
    gap = () if compact_headers else ("",)
    return (header, *gap, *fenced(content, language))


def below(document: Document, line: int, blocks: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return ``blocks``, each below a blank line, to be put in before ``line``.

    A blank line follows unless there is one already, or nothing.
    """
    return (*_spaced(blocks), *blank_before(document, line))


def blank_before(document: Document, line: int) -> tuple[str, ...]:
    """Return the blank line needed above ``line`` of the document, if any."""
    needed = line < document.line_count and document.line(line)
    return ("",) if needed else ()


def _spaced(blocks: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for block in blocks:
        yield ""
        yield from block


def closing_lines(document: Document) -> tuple[str, ...]:
    """Return the fence that must be closed before anything is written at the end of the text.

    What a model or a user left open would swallow every later marker.
    """
    return ("`" * document.open_fence,) if document.open_fence else ()


def ending(document: Document) -> tuple[str, ...]:
    """Return what goes between the end of the text and a new last block: at most a blank line."""
    closing = closing_lines(document)
    return (*closing, "") if closing or document.line(document.line_count - 1) else ()

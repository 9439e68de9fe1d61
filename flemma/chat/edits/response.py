"""The frame of a response: its marker, the marker of an interruption, the prompt behind it."""

from flemma.chat.document import Document
from flemma.chat.edits.layout import ending
from flemma.chat.headers import ASSISTANT, USER, aborted_marker, role_marker
from flemma.chat.nodes import Edit, ReplaceLines

INTERRUPTED = "Response interrupted by the user."


def auto_prompt(document: Document) -> tuple[Edit, ...]:
    """Give a blank file its first prompt; the cursor belongs on the last line (case 22)."""
    if document.text.strip():
        return ()
    return (ReplaceLines(0, document.line_count, (role_marker(USER), "")),)


def prompt_above(document: Document) -> tuple[Edit, ...]:
    """Make the whole text the user's message: its marker was still missing."""
    del document
    return (ReplaceLines(0, 0, (role_marker(USER),)),)


def append_prompt(document: Document) -> tuple[Edit, ...]:
    """Append an empty `@You:` at the end, unless there is one already."""
    if document.messages:
        last = document.messages[-1]
        if last.role == USER and not last.text.strip():
            return ()
    return (_append(document, (*ending(document), role_marker(USER), "")),)


def assistant_opening(document: Document) -> tuple[str, ...]:
    """Return the lines that begin an assistant message at the end of the text.

    Keep them: :func:`remove_assistant` needs them to leave no trace of a cancelled request.
    """
    return (*ending(document), role_marker(ASSISTANT))


def begin_assistant(document: Document) -> tuple[Edit, ...]:
    """Append :func:`assistant_opening`."""
    return (_append(document, assistant_opening(document)),)


def remove_assistant(document: Document, opening: tuple[str, ...]) -> tuple[Edit, ...]:
    """Take an opening away again; nothing happens when content was written below it (case 50)."""
    first = document.line_count - len(opening)
    if tuple(document.lines_between(first, document.line_count)) != opening:
        return ()
    return (ReplaceLines(first, document.line_count, ()),)


def append_aborted(document: Document, message: str = INTERRUPTED) -> tuple[Edit, ...]:
    """Append the marker that says why a response breaks off (spec: behaviour 1.8, 2.9)."""
    return (_append(document, (*ending(document), aborted_marker(message))),)


def break_off(document: Document) -> tuple[Edit, ...]:
    """End a response that nobody writes any more, as a cancelled one (spec: behaviour 2.9).

    A bare marker is taken away with a blank line above it; below content goes the aborted marker.
    """
    last = document.messages[-1] if document.messages else None
    if last is None or last.role != ASSISTANT:
        return ()
    for opening in (("", role_marker(ASSISTANT)), (role_marker(ASSISTANT),)):
        if removed := remove_assistant(document, opening):
            return removed
    return append_aborted(document)


def _append(document: Document, lines: tuple[str, ...]) -> Edit:
    return ReplaceLines(document.line_count, document.line_count, lines)

"""Turns: from what the user says to the answer that calls no more tools."""

from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.headers import ASSISTANT, USER
from flemma.chat.message import Message


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages ``first`` to ``last`` (inclusive indices) on absolute lines ``start`` to ``end``."""

    first: int
    last: int
    start: int
    end: int
    complete: bool
    """Whether the last answer calls no tool."""


def turns(document: Document, start: int = 0) -> tuple[Turn, ...]:
    """Return the turns in order (spec: behaviour 12.3), looking at no message before ``start``.

    A turn begins with the first `@You:` and ends with the first answer without tool use, answers
    right after it included. `@System:` and unknown roles break it off; what the user says without
    an answer yet is no turn.
    """
    found: list[Turn] = []
    first: int | None = None
    last, complete = 0, False
    for index, message in enumerate(document.messages[start:], start):
        match message.role:
            case role if role == USER and first is not None and not complete:
                last = index
            case role if role == USER:
                _close(found, document, first, last)
                first, last, complete = index, index, False
            case role if role == ASSISTANT and first is not None:
                last, complete = index, not message.tools.uses
            case role if role == ASSISTANT:
                pass
            case _:
                _close(found, document, first, last)
                first, complete = None, False
    _close(found, document, first, last)
    return tuple(found)


def _close(found: list[Turn], document: Document, first: int | None, last: int) -> None:
    if first is None or not _has_answer(document.messages[first : last + 1]):
        return
    closing = document.messages[last]
    complete = closing.role == ASSISTANT and not closing.tools.uses
    end = document.start_of(last) + closing.line_count - 1
    found.append(Turn(first, last, document.start_of(first), end, complete))


def _has_answer(messages: tuple[Message, ...]) -> bool:
    return any(message.role == ASSISTANT for message in messages)

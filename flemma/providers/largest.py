"""The largest items of a conversation, so that who must shorten it knows where (case B-17)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flemma.conversation.messages import (
    ContentPart,
    Conversation,
    DocumentPart,
    ImagePart,
    Part,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.text.safe import byte_length
from flemma.text.sizes import format_size

_LISTED = 3


def base64_length(size: int) -> int:
    """Return the length of ``size`` bytes in base64."""
    return (size + 2) // 3 * 4


@dataclass(frozen=True, slots=True)
class _Item:
    label: str
    size: int


def largest_items(conversation: Conversation) -> tuple[str, ...]:
    """Return the three largest items of a conversation with their sizes, one line each.

    To be shown with an error of kind ``too_large`` or ``context_overflow``.
    """
    items = sorted(_items(conversation), key=lambda item: -item.size)
    return tuple(f"{item.label}: {format_size(item.size)}" for item in items[:_LISTED])


def _items(conversation: Conversation) -> Iterator[_Item]:
    for number, message in enumerate(conversation.messages, 1):
        for part in message.parts:
            yield _item(number, message.role.value, part)


def _item(number: int, role: str, part: Part) -> _Item:
    match part:
        case ImagePart() | DocumentPart():
            return _Item(part.name, base64_length(len(part.data)))
        case ToolResultPart():
            return _Item(f"result of tool call {part.tool_use_id}", _size(part.content))
        case ToolUsePart():
            return _Item(f"tool call {part.id} ({part.name})", byte_length(str(dict(part.input))))
        case TextPart() | ThinkingPart():
            return _Item(f"text of message {number} ({role})", byte_length(part.text))


def _size(content: Sequence[ContentPart]) -> int:
    return sum(
        byte_length(part.text) if isinstance(part, TextPart) else base64_length(len(part.data))
        for part in content
    )

"""Provider-neutral messages: what goes to a model, whatever its wire format."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from flemma.chat.nodes import JsonValue


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image: raw bytes, not base64."""

    mime: str
    data: bytes
    name: str


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A PDF: raw bytes."""

    mime: str
    data: bytes
    name: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """Thinking of the model, verbatim. ``provider`` is None when nobody signed it."""

    text: str
    provider: str | None = None
    signature: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolUsePart:
    """A tool call; ``name`` is the internal name (with dots), ``id`` as in the document."""

    id: str
    name: str
    input: Mapping[str, JsonValue]


ContentPart: TypeAlias = TextPart | ImagePart | DocumentPart


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of one tool call."""

    tool_use_id: str
    content: tuple[ContentPart, ...]
    is_error: bool = False


Part: TypeAlias = TextPart | ImagePart | DocumentPart | ThinkingPart | ToolUsePart | ToolResultPart


@dataclass(frozen=True, slots=True)
class Message:
    """One message; user messages hold results first, then content, in document order."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything the model is to read."""

    system: str | None
    messages: tuple[Message, ...]

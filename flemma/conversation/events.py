"""Stream events: what a decoder makes of bytes. Frozen and slotted: there are many of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from flemma.chat.nodes import JsonValue
from flemma.conversation.usage import Usage
from flemma.errors import ProviderError


class StopReason(StrEnum):
    """Why the model stopped (spec: providers 5.9)."""

    END = "end"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    BLOCKED = "blocked"
    PAUSED = "paused"
    """The server wants the same conversation again (Anthropic `pause_turn`)."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thinking, for progress only; the block itself comes as :class:`ThinkingDone`."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDone:
    """A complete thinking block, verbatim."""

    text: str
    provider: str | None
    signature: str | None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolUseStarted:
    """The model began a tool call; ``name`` is decoded (internal)."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolUseDelta:
    """More JSON of the call's input, for progress only."""

    id: str
    partial_json: str


@dataclass(frozen=True, slots=True)
class ToolUseDone:
    """A complete tool call with arguments that parsed to an object."""

    id: str
    name: str
    input: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ToolUseBroken:
    """A call that must not run: cut off, or its arguments are no JSON object (S-09, B-03).

    ``reason`` is the sentence the model reads as the error result; ``raw`` is what arrived.
    """

    id: str
    name: str
    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Token counts so far; a later report replaces an earlier one."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The stream ended properly. ``detail`` explains a block, e.g. a refusal category."""

    reason: StopReason
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The stream ended with an error; nothing follows."""

    error: ProviderError


@dataclass(frozen=True, slots=True)
class Notice:
    """Something for the log: unknown stop reason, dropped thinking blocks."""

    message: str


StreamEvent: TypeAlias = (
    TextDelta
    | ThinkingDelta
    | ThinkingDone
    | ToolUseStarted
    | ToolUseDelta
    | ToolUseDone
    | ToolUseBroken
    | UsageReport
    | Finished
    | Failed
    | Notice
)

"""Content blocks of one response while they arrive."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from flemma.chat.nodes import JsonValue
from flemma.conversation.events import ThinkingDone, ToolUseBroken, ToolUseDone
from flemma.providers.names import internal_name
from flemma.text.safe import without_surrogates

CUT_BY_LIMIT = (
    "The response reached the output limit before this tool call was complete. "
    "The call was not executed. Make the call again with less text, or in smaller steps."
)
CUT_BY_FAILURE = (
    "The response broke off before this tool call was complete. The call was not executed."
)
CUT_BY_BLOCK = "The response was blocked before this tool call was complete. It was not executed."


class Joiner:
    """Joins surrogate pairs whose halves come in two pieces (case B-14)."""

    def __init__(self) -> None:
        self._half = ""

    def add(self, piece: str) -> str:
        """Return the text that is complete now."""
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._half, text = text[-1], text[:-1]
        return without_surrogates(text)

    def rest(self) -> str:
        """Return what is left at the end of the block."""
        half, self._half = self._half, ""
        return without_surrogates(half)


@dataclass(slots=True)
class TextBlock:
    """Text."""

    joiner: Joiner = field(default_factory=Joiner)


@dataclass(slots=True)
class ThinkingBlock:
    """Thinking, kept verbatim."""

    start_signature: str = ""
    pieces: list[str] = field(default_factory=list[str])
    signature: list[str] = field(default_factory=list[str])
    joiner: Joiner = field(default_factory=Joiner)

    def done(self, provider: str) -> ThinkingDone | None:
        """Return the block; without a signature nobody vouches for it. None when it is empty."""
        text = "".join((*self.pieces, self.joiner.rest()))
        signature = "".join(self.signature) or self.start_signature
        if not text and not signature:
            return None
        return ThinkingDone(text, provider if signature else None, signature or None)


@dataclass(slots=True)
class ToolBlock:
    """A tool call; ``name`` is internal."""

    id: str
    name: str
    start_input: Mapping[str, JsonValue]
    pieces: list[str] = field(default_factory=list[str])

    @classmethod
    def started(cls, payload: Mapping[str, Any], index: int) -> "ToolBlock":
        """Make the block of a `content_block_start`; a missing id is made from ``index``."""
        identifier, name, given = payload.get("id"), payload.get("name"), payload.get("input")
        return cls(
            identifier if isinstance(identifier, str) and identifier else f"call_{index}",
            internal_name(name) if isinstance(name, str) else "",
            cast("dict[str, JsonValue]", given) if isinstance(given, dict) else {},
        )

    @property
    def raw(self) -> str:
        """The arguments as they arrived."""
        if not self.pieces and self.start_input:
            return json.dumps(self.start_input, ensure_ascii=False)
        return without_surrogates("".join(self.pieces))

    def done(self) -> ToolUseDone | ToolUseBroken:
        """Return the complete call; no arguments at all mean an empty object (case B-03)."""
        raw = self.raw
        try:
            value = parse_arguments(raw)
        except ValueError as problem:
            return self.broken(f"Failed to parse tool input: {problem}")
        return ToolUseDone(self.id, self.name, value)

    def broken(self, reason: str) -> ToolUseBroken:
        """Return the call as one that must not run."""
        return ToolUseBroken(self.id, self.name, self.raw, reason)

    def after_failure(self) -> ToolUseDone | ToolUseBroken:
        """Return a call whose block was closed before the stream failed.

        Its arguments count when they are a complete object; none at all may have been cut off.
        """
        return self.done() if self.raw.strip() else self.broken(CUT_BY_FAILURE)


Block = TextBlock | ThinkingBlock | ToolBlock


def parse_arguments(raw: str) -> dict[str, JsonValue]:
    """Parse the arguments of a call. Raises ``ValueError`` with the parser's own words."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=_no_constant)
        if "\\ud" in raw.lower():
            value = json.loads(without_surrogates(json.dumps(value, ensure_ascii=False)))
    except RecursionError as problem:
        raise ValueError("nested too deeply") from problem
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise ValueError(f"expected a JSON object, got {kind}")  # noqa: TRY004 - bad text
    return cast("dict[str, JsonValue]", value)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")

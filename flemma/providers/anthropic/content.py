"""Content blocks of a request (spec: behaviour 11.2, providers 1.2 and 1.7)."""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flemma.conversation.messages import (
    ContentPart,
    DocumentPart,
    ImagePart,
    TextPart,
    ThinkingPart,
)
from flemma.providers.anthropic.pairing import AssistantTurn, Call, Result, UserTurn
from flemma.providers.images import image_facts
from flemma.providers.names import wire_name

WireBlock: TypeAlias = dict[str, Any]

NO_OUTPUT = "(no output)"


@dataclass(frozen=True, slots=True)
class ThinkingPolicy:
    """Which thinking goes back to the model. ``provider`` is the tag of what is native here."""

    provider: str
    keep_native: bool = True
    keep_foreign: bool = True

    def is_native(self, part: ThinkingPart) -> bool:
        """Tell whether the service can read the part: it signed or redacted it."""
        if part.redacted:
            return part.provider in (None, self.provider) and bool(part.text.strip())
        return part.provider == self.provider and bool(part.signature)


def user_blocks(turn: UserTurn, notes: Sequence[str]) -> list[WireBlock]:
    """Return results, then ``notes``, then what the user wrote; blank text is left out."""
    blocks = [_result_block(result) for result in turn.results]
    blocks += [{"type": "text", "text": note} for note in notes]
    content = [_content_block(part) for part in turn.content if not _is_blank(part)]
    if content and content[-1]["type"] == "text":
        # The line breaks before the next role marker are layout; kept, they would change the
        # prefix as soon as the conversation goes on.
        content[-1]["text"] = content[-1]["text"].rstrip()
    return blocks + content


def assistant_blocks(turn: AssistantTurn, policy: ThinkingPolicy) -> list[WireBlock]:
    """Return the blocks of an assistant message, in the order the API wants."""
    blocks: list[WireBlock] = []
    for part in turn.parts:
        match part:
            case TextPart():
                # Trimmed on the wire only (case B-20).
                if part.text.strip():
                    blocks.append({"type": "text", "text": part.text.strip()})
            case ThinkingPart():
                if policy.keep_native and policy.is_native(part):
                    blocks.append(_thinking_block(part))
            case Call():
                blocks.append(
                    {
                        "type": "tool_use",
                        "id": part.wire_id,
                        "name": wire_name(part.part.name),
                        "input": dict(part.part.input),
                    }
                )
    return in_order(blocks)


def in_order(blocks: Sequence[WireBlock]) -> list[WireBlock]:
    """Return assistant blocks with thinking at the beginning and none at the end.

    A message that begins with thinking keeps its order as received. In old files thinking comes
    after the text; it is moved to the front. Thinking that nothing follows (the answer was cut) is
    refused by the API and left out.
    """
    ordered = list(blocks)
    if not begins_with_thinking(ordered):
        ordered.sort(key=lambda block: not _is_thinking(block))
    while ordered and _is_thinking(ordered[-1]):
        ordered.pop()
    return ordered


def foreign_note(turn: AssistantTurn, policy: ThinkingPolicy) -> str | None:
    """Return the thinking of a turn that the service did not sign, as a note, or None.

    It goes into the next user message as plain prose: inside the assistant's own words, or in tags,
    a model begins to imitate it (case B-11; spec: providers 1.7 rule 9).
    """
    if not policy.keep_foreign:
        return None
    texts = [
        part.text.strip()
        for part in turn.parts
        if isinstance(part, ThinkingPart) and not part.redacted and not policy.is_native(part)
    ]
    joined = "\n\n".join(text for text in texts if text)
    return f"Here is some context to help you:\n\n{joined}\n\n---" if joined else None


def begins_with_thinking(blocks: Sequence[WireBlock]) -> bool:
    """Tell whether an assistant message starts with a thinking block."""
    return bool(blocks) and _is_thinking(blocks[0])


def _is_thinking(block: WireBlock) -> bool:
    return block["type"] in ("thinking", "redacted_thinking")


def _thinking_block(part: ThinkingPart) -> WireBlock:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.text.strip()}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _is_blank(part: ContentPart) -> bool:
    return isinstance(part, TextPart) and not part.text.strip()


def _content_block(part: ContentPart) -> WireBlock:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            facts = image_facts(part.data)
            # The service compares the declared type with the bytes.
            return _source("image", facts.mime if facts else part.mime, part.data)
        case DocumentPart():
            title = part.name.replace("\\", "/").rsplit("/", 1)[-1]
            return {**_source("document", "application/pdf", part.data), "title": title}


def _source(kind: str, mime: str, data: bytes) -> WireBlock:
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": kind, "source": {"type": "base64", "media_type": mime, "data": encoded}}


def _result_block(result: Result) -> WireBlock:
    block: WireBlock = {"type": "tool_result", "tool_use_id": result.wire_id}
    if result.is_error:
        # Errors may hold text only.
        return {**block, "content": _as_text(result.content), "is_error": True}
    if all(isinstance(part, TextPart) for part in result.content):
        return {**block, "content": _as_text(result.content)}
    kept = [_content_block(part) for part in result.content if not _is_blank(part)]
    return {**block, "content": kept}


def _as_text(content: Iterable[ContentPart]) -> str:
    text = "".join(
        part.text if isinstance(part, TextPart) else f"[{part.name}]" for part in content
    )
    return text if text.strip() else NO_OUTPUT

"""Short ways to make conversations and look at the request they become."""

import json
from typing import Any

from flemma.conversation.messages import (
    Conversation,
    Message,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.ports.http import HttpRequest
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.protocol import Parameters, WireTool
from tests.support.anthropic_rules import violations

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (64).to_bytes(4, "big") + (32).to_bytes(4, "big")
PARAMETERS = Parameters("claude-sonnet-4-6", 8000)
READ = WireTool("read", "Read a file", {"type": "object", "properties": {}})


def user(*parts: Part | str) -> Message:
    return Message(Role.USER, tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def assistant(*parts: Part | str) -> Message:
    return Message(Role.ASSISTANT, tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def call(identifier: str, name: str = "read") -> ToolUsePart:
    return ToolUsePart(identifier, name, {"path": identifier})


def result(identifier: str, text: str = "fine", *, is_error: bool = False) -> ToolResultPart:
    return ToolResultPart(identifier, (TextPart(text),), is_error)


def signed(text: str = "hm", signature: str = "c2ln") -> ThinkingPart:
    return ThinkingPart(text, "anthropic", signature)


def build(
    *messages: Message,
    parameters: Parameters = PARAMETERS,
    tools: tuple[WireTool, ...] = (),
    system: str | None = None,
    environment: dict[str, str] | None = None,
    secret: str = "key",
) -> HttpRequest:
    conversation = Conversation(system, messages)
    request = AnthropicProvider().build(conversation, parameters, tools, secret, environment or {})
    assert violations(request.headers, request.body) == []
    return request


def body(*messages: Message, **options: Any) -> dict[str, Any]:
    return json.loads(build(*messages, **options).body)


def wire(*messages: Message, **options: Any) -> list[dict[str, Any]]:
    return body(*messages, **options)["messages"]


def blocks(message: dict[str, Any]) -> list[str]:
    """Tell a message's blocks shortly: kind and what identifies it."""
    return [
        block["type"] + ":" + str(block.get("text") or block.get("id") or block.get("tool_use_id")
                                  or block.get("thinking") or block.get("data") or "")
        for block in message["content"]
    ]  # fmt: skip

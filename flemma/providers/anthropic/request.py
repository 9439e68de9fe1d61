"""The body of a Messages request (spec: behaviour 11.2, providers 1.2 to 1.5 and 1.7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flemma.conversation.messages import Conversation
from flemma.errors import ErrorKind, ProviderError
from flemma.models.catalogue import Model
from flemma.models.thinking import ThinkingPlan, plan_thinking
from flemma.providers.anthropic.content import (
    ThinkingPolicy,
    WireBlock,
    assistant_blocks,
    begins_with_thinking,
    foreign_note,
    in_order,
    user_blocks,
)
from flemma.providers.anthropic.pairing import Turn, UserTurn, pair
from flemma.providers.names import internal_name
from flemma.providers.protocol import Parameters, WireTool
from flemma.providers.schemas import object_schema

TRAILING_KEYS = ("system", "tools", "messages")

CONTINUE = "Continue from where you stopped."
"""Said for the user when the conversation ends with the model and it takes no prefill."""


@dataclass(frozen=True, slots=True)
class Body:
    """A request body and whether it uses `block_binding`, which needs its beta header."""

    fields: dict[str, Any]
    binds_thinking: bool


def build_body(
    conversation: Conversation,
    parameters: Parameters,
    tools: Sequence[WireTool],
    model: Model,
    provider: str,
) -> Body:
    """Build the body. Raises :class:`ProviderError` when the conversation cannot be sent.

    With `drop_mismatched_thinking` the server is asked to drop what does not fit; where it cannot
    be asked (no adaptive thinking, no bound signatures) no signed thinking is sent (cases B-08).
    """
    plan = plan_thinking(parameters.thinking, parameters.specific, model, parameters.max_tokens)
    dropping = parameters.drop_mismatched_thinking
    binds = dropping and plan.form == "adaptive" and model.bound_thinking
    policy = ThinkingPolicy(
        provider,
        keep_native=binds or not dropping,
        keep_foreign=parameters.foreign_thinking != "drop",
    )
    messages = _messages(pair(conversation.messages), policy, model)
    plan = _without_needed_thinking(plan, messages)
    marker = _cache_marker(parameters.cache_retention)
    fields: dict[str, Any] = {
        "model": parameters.model,
        "max_tokens": parameters.max_tokens,
        "stream": True,
        "messages": messages,
    }
    fields |= _thinking_fields(plan, binds)
    if parameters.temperature is not None and model.sampling and not plan.thinks:
        fields["temperature"] = parameters.temperature
    if conversation.system and conversation.system.strip():
        fields["system"] = _system(conversation.system.rstrip(), marker)
    if tools:
        fields["tools"] = _tools(tools, marker)
        fields["tool_choice"] = {"type": "auto"}
    if marker is not None:
        fields["cache_control"] = marker
    return Body(fields, binds)


def _messages(turns: Sequence[Turn], policy: ThinkingPolicy, model: Model) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    notes: list[str] = []
    for turn in turns:
        if isinstance(turn, UserTurn):
            blocks = user_blocks(turn, notes)
            notes = []
            _append(messages, "user", blocks)
            continue
        _append(messages, "assistant", assistant_blocks(turn, policy))
        note = foreign_note(turn, policy)
        if note is not None:
            notes.append(note)
    if not messages:
        raise ProviderError("No messages found in buffer.", kind=ErrorKind.INVALID_REQUEST)
    if messages[0]["role"] != "user":
        raise ProviderError(
            "The first message must be the user's. Add @You: with some text at the top.",
            kind=ErrorKind.INVALID_REQUEST,
        )
    if messages[-1]["role"] == "assistant" and not model.prefill:
        closing = [*notes, CONTINUE]
        _append(messages, "user", [{"type": "text", "text": text} for text in closing])
    return messages


def _append(messages: list[dict[str, Any]], role: str, blocks: list[WireBlock]) -> None:
    """Add a message; an empty one is left out, and what then meets its like is joined to it."""
    if not blocks:
        return
    last = messages[-1] if messages else None
    if last is None or last["role"] != role:
        messages.append({"role": role, "content": blocks})
        return
    joined = last["content"] + blocks
    last["content"] = in_order(joined) if role == "assistant" else joined


def _without_needed_thinking(
    plan: ThinkingPlan, messages: Sequence[dict[str, Any]]
) -> ThinkingPlan:
    """Turn a token budget off where the running tool loop did not begin with thinking.

    With a budget the API wants thinking at the start of the turn whose results are sent back; a
    turn of another provider, or one whose thinking had to be dropped, has none.
    """
    if plan.form != "budget" or not messages:
        return plan
    last = messages[-1]
    answers_tools = last["role"] == "user" and last["content"][0]["type"] == "tool_result"
    if not answers_tools or begins_with_thinking(messages[-2]["content"]):
        return plan
    return ThinkingPlan("omit")


def _thinking_fields(plan: ThinkingPlan, binds: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    match plan.form:
        case "adaptive":
            # Without `display` newer models send signatures only, and a user sees nothing.
            thinking: dict[str, Any] = {"type": "adaptive", "display": "summarized"}
            if binds:
                thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
            fields["thinking"] = thinking
        case "budget":
            fields["thinking"] = {"type": "enabled", "budget_tokens": plan.budget}
        case "disabled" | "between_tools":
            fields["thinking"] = {"type": plan.form}
        case _:
            pass
    if plan.effort is not None:
        fields["output_config"] = {"effort": plan.effort}
    return fields


def _cache_marker(retention: str) -> dict[str, str] | None:
    """Return the marker; three places carry it (last tool, system, the moving tail), four may."""
    match retention:
        case "short":
            return {"type": "ephemeral"}
        case "long":
            return {"type": "ephemeral", "ttl": "1h"}
        case _:
            return None


def _system(text: str, marker: dict[str, str] | None) -> str | list[WireBlock]:
    if marker is None:
        return text
    return [{"type": "text", "text": text, "cache_control": marker}]


def _tools(tools: Sequence[WireTool], marker: dict[str, str] | None) -> list[dict[str, Any]]:
    """Return the tools by internal name, each name once."""
    named = {tool.name: tool for tool in reversed(tools)}
    wire: list[dict[str, Any]] = [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": object_schema(tool.input_schema),
            "eager_input_streaming": True,
        }
        for tool in sorted(named.values(), key=lambda tool: internal_name(tool.name))
    ]
    if marker is not None:
        wire[-1]["cache_control"] = marker
    return wire

"""Anthropic's stop reasons in neutral terms (spec: providers 1.6, 5.9; case S-13)."""

from collections.abc import Mapping
from typing import Any, cast

from flemma.conversation.events import StopReason

_REASONS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "pause_turn": StopReason.PAUSED,
    "refusal": StopReason.BLOCKED,
    "sensitive": StopReason.BLOCKED,
}

TRUNCATED = "Response truncated — model reached max output tokens"
WINDOW_FULL = "Response truncated — the model's context window is full"


def stop_reason(name: str | None, called_tools: bool) -> StopReason | None:
    """Return the reason, or None for an unknown one. Calls count more than the word for them."""
    reason = _REASONS.get(name or "")
    if called_tools and reason in (None, StopReason.END):
        return StopReason.TOOL_USE if reason else None
    return reason


def stop_detail(name: str | None, details: object) -> str | None:
    """Return the sentence for a cut response, or the reason of a blocked one."""
    match _REASONS.get(name or ""):
        case StopReason.BLOCKED:
            return _block_reason(name or "", details)
        case StopReason.LENGTH:
            return TRUNCATED if name == "max_tokens" else WINDOW_FULL
        case _:
            return None


def _block_reason(name: str, details: object) -> str:
    """Return `refusal: category — explanation`, as much of it as there is."""
    facts = cast("Mapping[str, Any]", details if isinstance(details, Mapping) else {})
    category, explanation = facts.get("category"), facts.get("explanation")
    reason = f"{name}: {category}" if isinstance(category, str) and category else name
    return f"{reason} — {explanation}" if isinstance(explanation, str) and explanation else reason

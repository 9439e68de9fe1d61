"""Thinking levels, token budgets and efforts, and the way from one to the other.

Spec: behaviour 11.1 (levels, budgets), providers 1.3 (which model takes what).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flemma.models.catalogue import Model

LEVELS = ("minimal", "low", "medium", "high", "max")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
MIN_BUDGET = 1024
"""Smallest budget a Claude model takes."""

_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "max": 32768}
_LEVEL_LIMITS = ((256, "minimal"), (4096, "low"), (12288, "medium"), (24576, "high"))
_EFFORT_OF_LEVEL = {
    "minimal": "low", "low": "low", "medium": "medium", "high": "high", "max": "max",
}  # fmt: skip


def level_of(tokens: int) -> str:
    """Return the level that a number of tokens stands for."""
    for limit, level in _LEVEL_LIMITS:
        if tokens <= limit:
            return level
    return "max"


def budget_of(level: str, model: Model) -> int:
    """Return the token budget of a level; ``max`` is all the model can write."""
    if level == "max" and model.max_output is not None:
        return model.max_output
    return _BUDGETS.get(level, _BUDGETS["high"])


def fitting_effort(effort: str, model: Model, limit: str | None = None) -> str | None:
    """Return ``effort``, or the next lower one the model takes; None when it takes none."""
    highest = EFFORTS.index(effort)
    if limit is not None:
        highest = min(highest, EFFORTS.index(limit))
    accepted = [name for name in EFFORTS[: highest + 1] if name in model.efforts]
    if accepted:
        return accepted[-1]
    return model.efforts[0] if model.efforts else None


@dataclass(frozen=True, slots=True)
class ThinkingPlan:
    """How to ask for thinking: the request fields, in the provider's terms."""

    form: str
    """``adaptive``, ``budget``, ``disabled``, ``between_tools`` or ``omit``."""
    budget: int | None = None
    effort: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def thinks(self) -> bool:
        """Whether the model was asked to think."""
        return self.form in ("adaptive", "budget")


def plan_thinking(
    thinking: str | int | None, specific: Mapping[str, Any], model: Model, max_tokens: int
) -> ThinkingPlan:
    """Plan the thinking of a Claude request.

    ``specific`` is `parameters.anthropic`: ``thinking_budget`` beats the general level, ``effort``
    beats the effort that follows from the level. ``max_tokens`` bounds the budget (acceptance 97).
    """
    wanted_effort, warnings = _stated_effort(specific.get("effort"), model)
    level, budget = _wanted(thinking, specific, warnings)
    if level is None:
        return _without_thinking(model, wanted_effort, warnings)
    form = _form(model, given_budget=budget is not None and "thinking_budget" in specific)
    if form == "adaptive":
        effort = fitting_effort(wanted_effort or _EFFORT_OF_LEVEL[level], model)
        return ThinkingPlan("adaptive", effort=effort, warnings=tuple(warnings))
    if form == "budget":
        tokens = budget if budget is not None else budget_of(level, model)
        return _with_budget(tokens, wanted_effort or level, model, max_tokens, warnings)
    return ThinkingPlan("omit", warnings=tuple(warnings))


def _stated_effort(value: object, model: Model) -> tuple[str | None, list[str]]:
    if value is None:
        return None, []
    if not isinstance(value, str) or value not in EFFORTS:
        return None, [f"Unknown effort {value!r}. Valid efforts: {', '.join(EFFORTS)}."]
    fitting = fitting_effort(value, model)
    if fitting == value:
        return value, []
    instead = f"Using '{fitting}'." if fitting else "Leaving it out."
    return fitting, [f"Effort '{value}' is not supported by {model.name}. {instead}"]


def _wanted(
    thinking: str | int | None, specific: Mapping[str, Any], warnings: list[str]
) -> tuple[str | None, int | None]:
    """Return (level, budget): the level is None for off, the budget None when not in tokens."""
    budget = specific.get("thinking_budget")
    if budget is not None:
        if isinstance(budget, bool) or not isinstance(budget, int | float) or budget <= 0:
            return None, None
        return level_of(int(budget)), int(budget)
    match thinking:
        case None | False | 0:
            return None, None
        case True:
            return "high", None
        case int():
            return (level_of(thinking), thinking) if thinking > 0 else (None, None)
        case str() if thinking in LEVELS:
            return thinking, None
        case _:
            warnings.append(
                f"Unknown thinking level '{thinking}'. Valid levels: {', '.join(LEVELS)}, "
                "a number of tokens, or false. Using 'high'."
            )
            return "high", None


def _form(model: Model, *, given_budget: bool) -> str | None:
    if given_budget and "budget" in model.thinking_forms:
        return "budget"
    return model.thinking_forms[0] if model.thinking_forms else None


def _with_budget(
    tokens: int, effort: str, model: Model, max_tokens: int, warnings: list[str]
) -> ThinkingPlan:
    if max_tokens <= MIN_BUDGET:
        warnings.append(
            f"Thinking needs max_tokens above {MIN_BUDGET}; it is off because max_tokens is "
            f"{max_tokens}."
        )
        return ThinkingPlan("omit", warnings=tuple(warnings))
    ceiling = max_tokens - 1
    if model.max_output is not None:
        ceiling = min(ceiling, model.max_output)
    budget = max(MIN_BUDGET, min(tokens, ceiling))
    sent = fitting_effort(_EFFORT_OF_LEVEL.get(effort, effort), model) if model.efforts else None
    if "adaptive" in model.thinking_forms:
        sent = None
    return ThinkingPlan("budget", budget, sent, tuple(warnings))


def _without_thinking(model: Model, effort: str | None, warnings: list[str]) -> ThinkingPlan:
    if model.thinking_off == "never":
        warnings.append(
            f"{model.name} always thinks; thinking cannot be turned off. Using the lowest effort."
        )
        lowest = effort or fitting_effort("low", model)
        return ThinkingPlan("adaptive", effort=lowest, warnings=tuple(warnings))
    limited = fitting_effort(effort, model, model.off_effort_limit) if effort else None
    return ThinkingPlan(model.thinking_off, effort=limited, warnings=tuple(warnings))

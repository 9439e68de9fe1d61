"""How many tokens the model may write (spec: behaviour 11.1, acceptance 95 and 97)."""

import re
from dataclasses import dataclass

from flemma.models.catalogue import Model

FALLBACK_MAX_TOKENS = 4000
"""Used when a percentage has nothing to refer to, or a string is no percentage."""

LEAST_FROM_PERCENT = 1024

_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


@dataclass(frozen=True, slots=True)
class OutputLimit:
    """A resolved `max_tokens`, and the warning about what was changed."""

    tokens: int
    warning: str | None = None


def resolve_max_tokens(value: str | int | None, model: Model) -> OutputLimit:
    """Resolve `parameters.max_tokens` for ``model``.

    ``"N%"`` is that part of the model's maximum, at least 1024 and the model's minimum; numbers are
    clamped to the model's range with a warning.
    """
    match value:
        case bool() | None:
            return OutputLimit(FALLBACK_MAX_TOKENS)
        case int():
            return _clamped(value, model)
        case str():
            return OutputLimit(_from_percent(value, model))


def _from_percent(value: str, model: Model) -> int:
    percent = _PERCENT.fullmatch(value)
    if percent is None or model.max_output is None:
        return FALLBACK_MAX_TOKENS
    part = int(model.max_output * float(percent.group(1)) / 100)
    return min(max(part, LEAST_FROM_PERCENT, model.min_output), model.max_output)


def _clamped(value: int, model: Model) -> OutputLimit:
    if model.max_output is not None and value > model.max_output:
        limit = model.max_output
        return OutputLimit(
            limit, f"max_tokens {value} exceeds {model.name} limit ({limit}), clamping."
        )
    if value < model.min_output:
        least = model.min_output
        return OutputLimit(
            least, f"max_tokens {value} below {model.name} minimum ({least}), raising."
        )
    return OutputLimit(value)

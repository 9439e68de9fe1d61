"""Reading the parameters of a call: null and absent both mean "not given"."""

import math

from flemma.tools.definition import ToolInput


def text_input(tool_input: ToolInput, key: str) -> str | None:
    """Return a text parameter as it is, None if it is not given."""
    value = tool_input.get(key)
    return value if isinstance(value, str) else None


def number_input(tool_input: ToolInput, key: str) -> float | None:
    """Return a number parameter, None if it is not given or no finite number."""
    value = tool_input.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def position_input(tool_input: ToolInput, key: str) -> int | None:
    """Return a 1-based position or a count: rounded down, at least 1."""
    value = number_input(tool_input, key)
    return None if value is None else max(1, math.floor(value))

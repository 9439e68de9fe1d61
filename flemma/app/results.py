"""From what a tool returned to what stands in the conversation: redirect, materialise, truncate.

Spec: tools, "Tool result store" and "flemma.save_to"; behaviour 5.5, 6.1, 6.4.
"""

import json
from dataclasses import dataclass

from flemma.chat.nodes import JsonValue
from flemma.tools.definition import ToolResult

UNKNOWN_ERROR = "Unknown error"
NO_OUTPUT = "(no output)"
"""Stands for an empty output: an empty block belongs to a tool that is still running."""


@dataclass(frozen=True, slots=True)
class FinalResult:
    """A result as the buffer holds it."""

    text: str
    is_error: bool
    structured: bool = False
    """Whether ``text`` is JSON, so that its fence says so."""


def encode(value: JsonValue) -> str:
    """Return structured output as readable JSON, keys sorted."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def full_text(result: ToolResult) -> str:
    """Return everything a result says, untruncated, as a store file holds it."""
    if not result.success:
        return error_text(result)
    if result.untruncated is not None:
        return result.untruncated
    return output_text(result.output)


def output_text(output: JsonValue) -> str:
    """Return output as text."""
    if output is None:
        return ""
    return output if isinstance(output, str) else encode(output)


def error_text(result: ToolResult) -> str:
    """Return the error of a failed call, with the output it had so far."""
    error = result.error or UNKNOWN_ERROR
    partial = output_text(result.output)
    if not partial:
        return error
    return f"{error}\n\nPartial output:\n{partial}"


def finalize(result: ToolResult) -> FinalResult:
    """Return the result as it goes into the buffer, when nothing redirects it."""
    if not result.success:
        return FinalResult(error_text(result), is_error=True)
    structured = result.output is not None and not isinstance(result.output, str)
    text = output_text(result.output) or NO_OUTPUT
    return FinalResult(text, is_error=False, structured=structured)

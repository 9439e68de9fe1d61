"""From what the model sent to what a tool gets: harness keys out, values checked and coerced."""

from dataclasses import dataclass

from flemma.chat.nodes import JsonValue
from flemma.schema import check_arguments, to_json_schema
from flemma.tools.definition import ToolDefinition, ToolInput
from flemma.tools.harness import HarnessParameters, strip


@dataclass(frozen=True, slots=True)
class Arguments:
    """The input for `execute`, the wishes to the harness, and the error for the model, if any."""

    values: dict[str, JsonValue]
    harness: HarnessParameters
    error: str | None = None


def prepare(definition: ToolDefinition, tool_input: ToolInput) -> Arguments:
    """Check a call's input against the tool's schema (case B-23: "10" serves as 10)."""
    values, harness = strip(tool_input)
    checked = check_arguments(to_json_schema(definition.input_schema), values)
    if not checked.problems:
        return Arguments(checked.value, harness)
    lines = "\n".join(f"- {problem}" for problem in checked.problems)
    error = f"Invalid input for tool '{definition.name}', it was not run:\n{lines}"
    return Arguments(values, harness, error)

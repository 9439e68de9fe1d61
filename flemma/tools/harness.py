"""Harness parameters: what Flemma adds to every tool's schema and takes out of its input.

Tools never see them (spec: tools, "Harness parameters"; behaviour 8.1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flemma.chat.nodes import JsonValue
from flemma.schema import to_json_schema
from flemma.schema.json_schema import JsonSchema, is_strict_schema
from flemma.tools.definition import ToolDefinition, ToolInput

BACKGROUND = "flemma.background"
SAVE_TO = "flemma.save_to"

_BACKGROUND_DESCRIPTION = (
    "Run this call as a background job. Leave it out (or false) unless you have other useful work "
    "to do meanwhile and nothing you decide next needs the result: you get a job ID at once, and "
    "the result is handed to you in a later message when the job ends."
)
_SAVE_TO_DESCRIPTION = (
    "File to write the whole output to instead of returning it. Use it for large output, or when "
    "the output has to be at a certain path; you get the first lines, the size and the path back. "
    "A relative path starts at the directory of the chat; $FLEMMA_TOOLS_STORE_PATH/<name> puts "
    "the file in the store of this conversation."
)


@dataclass(frozen=True, slots=True)
class HarnessParameters:
    """What the model asked of the harness in one call."""

    background: bool = False
    save_to: str | None = None


def offers_background(definition: ToolDefinition) -> bool:
    """Tell whether calls of the tool may start in the background."""
    return definition.asynchronous and "disables_background" not in definition.capabilities


def offers_save_to(definition: ToolDefinition) -> bool:
    """Tell whether the output of the tool may be redirected to a file."""
    return "disables_save_to" not in definition.capabilities


def is_strict(definition: ToolDefinition) -> bool:
    """Tell whether the tool may be sent as strict: it says so, and its schema keeps the rules.

    A service refuses the whole request for one strict tool that breaks them (case B-24).
    """
    return definition.strict and is_strict_schema(to_json_schema(definition.input_schema))


def inject(definition: ToolDefinition) -> JsonSchema:
    """Return the tool's JSON Schema with harness parameters. The definition is not changed."""
    schema = to_json_schema(definition.input_schema)
    strict = definition.strict and is_strict_schema(schema)
    added = _parameters(definition, strict=strict)
    schema["properties"] = {**schema.get("properties", {}), **added}
    if strict:
        schema["required"] = [*schema["required"], *added]
    return schema


def strip(tool_input: ToolInput) -> tuple[dict[str, JsonValue], HarnessParameters]:
    """Split a call's input into what the tool gets and what the harness gets. Null is absent."""
    rest = {key: value for key, value in tool_input.items() if key not in (BACKGROUND, SAVE_TO)}
    save_to = tool_input.get(SAVE_TO)
    return rest, HarnessParameters(
        background=tool_input.get(BACKGROUND) in (True, "true"),
        save_to=save_to if isinstance(save_to, str) and save_to.strip() else None,
    )


def _parameters(definition: ToolDefinition, *, strict: bool) -> Mapping[str, Any]:
    added: dict[str, Any] = {}
    if offers_background(definition):
        kind = {"type": ["boolean", "null"]} if strict else {"type": "boolean", "default": False}
        added[BACKGROUND] = {**kind, "description": _BACKGROUND_DESCRIPTION}
    if offers_save_to(definition):
        added[SAVE_TO] = {
            "type": ["string", "null"] if strict else "string",
            "description": _SAVE_TO_DESCRIPTION,
        }
    return added

"""Tools as they are sent to a model, before a provider puts them in its own format."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flemma.tools.definition import ToolDefinition
from flemma.tools.harness import inject, is_strict
from flemma.tools.wire_names import WireNames

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class SentTool:
    """A tool ready for a provider: ``name`` is the wire name."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    strict: bool


def sent_tools(definitions: Iterable[ToolDefinition], names: WireNames) -> tuple[SentTool, ...]:
    """Describe tools for a request, sorted by internal name (spec: behaviour 8.4)."""
    return tuple(
        SentTool(
            name=names.wire(definition.name),
            description=full_description(definition),
            input_schema=inject(definition),
            strict=is_strict(definition),
        )
        for definition in sorted(definitions, key=lambda definition: definition.name)
    )


def full_description(definition: ToolDefinition) -> str:
    """Return the description, with the output schema below it if there is one (behaviour 8.2)."""
    if definition.output_schema is None:
        return definition.description
    schema = {**definition.output_schema, "$schema": _DIALECT}
    written = json.dumps(schema, sort_keys=True, ensure_ascii=False)
    return f"{definition.description}\n\nReturns (JSON Schema): {written}"

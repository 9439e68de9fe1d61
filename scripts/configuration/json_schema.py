"""The JSON Schema of the options, for editors that check YAML and JSON frontmatter."""

import json
from typing import Any

from flemma.config.catalogue import Catalogue, Item, Kind
from flemma.config.setup import plain
from flemma.config.shapes import Shape

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}

OPERATORS = ("$set", "$append", "$remove", "$prepend")


def render(known: Catalogue) -> str:
    """Return the schema of the table given to `setup()`, or under the key `flemma`."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Flemma options",
        **_section(known.items[()], known),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _section(section: Item, known: Catalogue) -> dict[str, Any]:
    properties = {
        child: _item(known.items[(*section.path, child)], known) for child in section.children
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if section.path == ():
        # Providers and general parameters have short forms at the top.
        schema["additionalProperties"] = True
        return schema
    schema["description"] = section.declaration.doc
    schema["additionalProperties"] = {"type": "object"} if section.discovers else False
    alternatives = [schema]
    if section.own_list is not None:
        properties.update({operator: {} for operator in OPERATORS})
        alternatives.append({"type": "array", "items": {"type": "string"}})
    if "enabled" in section.children:
        alternatives.append({"type": "boolean"})
    if section.path[-1] == "thinking":
        alternatives.append({"type": ["string", "number", "boolean"]})
    if section.path[-1] == "padding":
        alternatives += [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]
    return schema if len(alternatives) == 1 else {"anyOf": alternatives}


def _item(item: Item, known: Catalogue) -> dict[str, Any]:
    if item.kind is Kind.SECTION:
        return _section(item, known)
    alternatives = _alternatives(item)
    if item.kind is Kind.LIST:
        properties: dict[str, Any] = {operator: {} for operator in OPERATORS}
        alternatives.append(
            {"type": "object", "properties": properties, "additionalProperties": False}
        )
    schema = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    described: dict[str, Any] = {"description": item.declaration.doc, **schema}
    if item.default is not None and not callable(item.default):
        described["default"] = plain(item.default)
    return described


def _alternatives(item: Item) -> list[dict[str, Any]]:
    declaration = item.declaration
    found = _shape(item.shape)
    for schema in found:
        if schema.get("type") in ("integer", "number"):
            if declaration.minimum is not None:
                schema["minimum"] = declaration.minimum
            if declaration.maximum is not None:
                schema["maximum"] = declaration.maximum
        if schema.get("type") == "string" and declaration.pattern:
            schema["pattern"] = declaration.pattern
    return found


def _shape(shape: Shape) -> list[dict[str, Any]]:
    if shape.anything:
        return [{}]
    found: list[dict[str, Any]] = [{"type": _TYPES[kind]} for kind in shape.scalars]
    if shape.choices:
        found.append({"enum": list(shape.choices)})
    if shape.item is not None:
        found.append({"type": "array", "items": _one(shape.item)})
    if shape.value is not None:
        found.append({"type": "object", "additionalProperties": _one(shape.value)})
    if shape.nullable:
        found.append({"type": "null"})
    return found


def _one(shape: Shape) -> dict[str, Any]:
    found = _shape(shape)
    return found[0] if len(found) == 1 else {"anyOf": found}

"""Writes schema nodes as JSON Schema, and reads the trees that the Lua DSL sends.

Strict-mode invariants (spec: behaviour 8.2): all fields but optional ones are `required`, sorted;
`additionalProperties` is false; nullable adds null to the type.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from flemma.errors import ConfigError
from flemma.schema.nodes import (
    NO_DEFAULT,
    BooleanNode,
    EnumNode,
    IntegerNode,
    ListNode,
    LiteralNode,
    MapNode,
    Node,
    NumberNode,
    ObjectNode,
    StringNode,
    UnionNode,
)

JsonSchema: TypeAlias = dict[str, Any]

_MARK = "__flemma_schema"
_OBJECT_KEYWORDS = ("properties", "patternProperties", "$defs", "definitions")
_SCHEMA_KEYWORDS = ("items", "additionalProperties", "not")
_SCALARS: dict[type[Node], str] = {
    StringNode: "string",
    NumberNode: "number",
    IntegerNode: "integer",
    BooleanNode: "boolean",
}
_COMBINATIONS = ("oneOf", "anyOf", "allOf")


def to_json_schema(schema: Node | Mapping[str, Any]) -> JsonSchema:
    """Return JSON Schema for a node, a tree of the Lua DSL, or a raw JSON Schema.

    A raw schema passes through as a copy, with nodes inside it written out; only what no service
    accepts is repaired: empty lists where an object must stand (Lua has one empty table for both,
    case B-24), a missing top-level `type` and `properties`.

    Raises :class:`ConfigError` for a malformed Lua tree.
    """
    if isinstance(schema, Node):
        return _write(schema)
    if _MARK in schema:
        return _write(from_table(schema))
    return _repaired_top({key: _plain(value) for key, value in schema.items()})


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Tell why ``schema`` cannot be the input schema of a tool, or None (case B-18).

    One such schema would make every request of the chat fail, so its tool must not be sent.
    """
    for keyword in _COMBINATIONS:
        if keyword in schema:
            return f"its input schema has '{keyword}' at the top level; wrap it in an object"
    kind = schema.get("type")
    if kind != "object":
        return f"its input schema is of type {json.dumps(kind, default=repr)}, not 'object'"
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return "the 'properties' of its input schema are not an object"
    for name, value in cast("Mapping[Any, Any]", properties).items():
        if not isinstance(value, (Mapping, bool)):
            return f"property '{name}' of its input schema is not a schema"
    return _json_problem(schema)


def is_strict_schema(schema: Mapping[str, Any]) -> bool:
    """Tell whether every object in ``schema`` requires all its properties and refuses others.

    That is what strict function calling demands; a service answers 400 otherwise (case B-24).
    """
    if "object" in _type_names(schema):
        properties = cast("Mapping[str, Any]", schema.get("properties") or {})
        required = cast("Sequence[str]", schema.get("required") or ())
        if schema.get("additionalProperties") is not False or set(required) != set(properties):
            return False
    return all(is_strict_schema(child) for child in _children(schema))


def from_table(table: Mapping[str, Any]) -> Node:
    """Read a tree of the Lua DSL.

    Every node is a table ``{__flemma_schema = true, kind = K}`` with, where they apply::

        description = "text"   nullable = true   optional = true   default = value

    and by kind::

        string number integer boolean
        object   fields = {name = node}, strict = true or false (absent: strict)
        list     items = node
        map      keys = node, values = node
        enum     choices = {"a", "b"}
        union    variants = {node, node}
        literal  value = scalar

    Raises :class:`ConfigError` that names the place of what is wrong.
    """
    return _read(table, "input_schema")


def _write(node: Node) -> JsonSchema:
    schema = _write_kind(node)
    if node.description is not None:
        schema["description"] = node.description
    if node.default is not NO_DEFAULT:
        schema["default"] = copy.deepcopy(node.default)
    return _with_null(schema) if node.accepts_null else schema


def _write_kind(node: Node) -> JsonSchema:
    match node:
        case ObjectNode():
            return _write_object(node)
        case ListNode():
            return {"type": "array", "items": _write(node.item)}
        case MapNode():
            return {"type": "object", "additionalProperties": _write(node.value)}
        case EnumNode():
            return {"type": "string", "enum": list(node.choices)}
        case UnionNode():
            return {"anyOf": [_write(variant) for variant in node.variants]}
        case LiteralNode():
            # An enum of one instead of `const`, which some services do not know.
            return {"type": _type_of(node.value), "enum": [node.value]}
        case _ if type(node) in _SCALARS:
            return {"type": _SCALARS[type(node)]}
        case _:
            problem = f"{node!r} is not a schema node; build it with flemma.schema"
            raise ConfigError(problem, path="input_schema")


def _write_object(node: ObjectNode) -> JsonSchema:
    schema: JsonSchema = {
        "type": "object",
        "properties": {name: _write(child) for name, child in node.fields.items()},
        "required": sorted(name for name, child in node.fields.items() if not child.may_be_absent),
    }
    if node.is_strict:
        schema["additionalProperties"] = False
    return schema


def _with_null(schema: JsonSchema) -> JsonSchema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if schema["type"] == "null":
        return schema
    widened = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        widened["enum"] = [*schema["enum"], None]
    return widened


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case _:
            return "string"


def _plain(value: object) -> object:
    match value:
        case Node():
            return _write(value)
        case Mapping():
            entries = cast("Mapping[str, Any]", value)
            if _MARK in entries:
                return _write(from_table(entries))
            return {key: _plain(child) for key, child in entries.items()}
        case list() | tuple():
            return [_plain(child) for child in cast("Sequence[Any]", value)]
        case _:
            return value


def _repaired_top(schema: JsonSchema) -> JsonSchema:
    _repair_empty_lists(schema)
    if "type" not in schema and not any(keyword in schema for keyword in _COMBINATIONS):
        schema["type"] = "object"
    if schema.get("type") == "object":
        schema.setdefault("properties", {})
    return schema


def _repair_empty_lists(schema: JsonSchema) -> None:
    for keyword in (*_OBJECT_KEYWORDS, *_SCHEMA_KEYWORDS):
        if schema.get(keyword) == []:
            schema[keyword] = {}
    for keyword in _OBJECT_KEYWORDS:
        group: object = schema.get(keyword)
        if isinstance(group, dict):
            named = cast("dict[str, Any]", group)
            schema[keyword] = {name: {} if child == [] else child for name, child in named.items()}
    for child in _children(schema):
        _repair_empty_lists(child)


def _type_names(schema: Mapping[str, Any]) -> Sequence[str]:
    kind = schema.get("type")
    return (kind,) if isinstance(kind, str) else kind or ()


def _children(schema: Mapping[str, Any]) -> list[JsonSchema]:
    found: list[Any] = []
    for keyword in _OBJECT_KEYWORDS:
        group = schema.get(keyword)
        if isinstance(group, dict):
            found.extend(cast("dict[str, Any]", group).values())
    found.extend(schema.get(keyword) for keyword in _SCHEMA_KEYWORDS)
    for keyword in (*_COMBINATIONS, "prefixItems"):
        found.extend(schema.get(keyword) or [])
    return [cast("JsonSchema", child) for child in found if isinstance(child, dict)]


def _json_problem(schema: Mapping[str, Any]) -> str | None:
    try:
        json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return f"its input schema is not JSON: {error}"
    return None


def _read(table: object, place: str) -> Node:
    if not isinstance(table, Mapping) or _MARK not in table:
        raise ConfigError(f"{place} is not a schema node; build it with flemma.schema", path=place)
    entries = cast("Mapping[str, Any]", table)
    kind = entries.get("kind")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        known = ", ".join(sorted(_READERS))
        raise ConfigError(f"{place} has the unknown kind {kind!r}; known: {known}", path=place)
    node = reader(entries, place)
    if (description := entries.get("description")) is not None:
        node = node.describe(str(description))
    if entries.get("nullable"):
        node = node.nullable()
    return node.optional() if entries.get("optional") else node


def _read_object(table: Mapping[str, Any], place: str) -> Node:
    fields: object = table.get("fields") or {}
    if not isinstance(fields, Mapping):
        raise ConfigError(f"the fields of {place} have no names", path=place)
    named = cast("Mapping[str, Any]", fields)
    children = {str(name): _read(child, f"{place}.{name}") for name, child in named.items()}
    return ObjectNode(children, is_strict=table.get("strict", True) is not False)


def _read_enum(table: Mapping[str, Any], place: str) -> Node:
    choices = _sequence(table, "choices", place)
    return EnumNode(tuple(str(choice) for choice in choices))


def _read_union(table: Mapping[str, Any], place: str) -> Node:
    variants = _sequence(table, "variants", place)
    return UnionNode(tuple(_read(child, f"{place}[{n}]") for n, child in enumerate(variants, 1)))


def _sequence(table: Mapping[str, Any], key: str, place: str) -> Sequence[Any]:
    value = table.get(key)
    if not isinstance(value, (list, tuple)) or not value:
        raise ConfigError(f"{place} needs a list of {key}", path=place)
    return cast("Sequence[Any]", value)


def _default(table: Mapping[str, Any]) -> object:
    return table.get("default", NO_DEFAULT)


_READERS: dict[str, Callable[[Mapping[str, Any], str], Node]] = {
    "string": lambda table, _: StringNode(default=_default(table)),
    "number": lambda table, _: NumberNode(default=_default(table)),
    "integer": lambda table, _: IntegerNode(default=_default(table)),
    "boolean": lambda table, _: BooleanNode(default=_default(table)),
    "object": _read_object,
    "list": lambda table, place: ListNode(_read(table.get("items"), f"{place}[]")),
    "map": lambda table, place: MapNode(
        _read(table.get("keys"), f"{place}.keys"), _read(table.get("values"), f"{place}.values")
    ),
    "enum": _read_enum,
    "union": _read_union,
    "literal": lambda table, _: LiteralNode(table.get("value")),
}

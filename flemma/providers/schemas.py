"""Tool schemas in the shape that a service takes (cases B-18, B-24; spec: providers 1.2)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

_COMBINERS = ("allOf", "anyOf", "oneOf")


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``schema`` as an object schema without combiners at the top level.

    Alternatives are folded into one set of properties, required where all of them require it;
    nested schemas stay. An empty list for the properties (an empty table from Lua) becomes an
    object.
    """
    flat = {key: value for key, value in schema.items() if key not in _COMBINERS}
    properties = _properties(schema)
    required = _required(schema)
    for combiner in _COMBINERS:
        branches = [object_schema(branch) for branch in _branches(schema.get(combiner))]
        for branch in branches:
            for name, value in branch["properties"].items():
                properties.setdefault(name, value)
        required += _shared(combiner, branches)
    flat["type"] = "object"
    flat["properties"] = properties
    if required:
        flat["required"] = list(dict.fromkeys(required))
    return flat


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = schema.get("properties")
    return dict(cast("Mapping[str, Any]", found)) if isinstance(found, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("required")
    return list(cast("Sequence[str]", found)) if isinstance(found, list | tuple) else []


def _branches(value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list | tuple):
        return []
    items = cast("Sequence[object]", value)
    return [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]


def _shared(combiner: str, branches: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is required: by any branch of `allOf`, by every branch of the others."""
    lists = [_required(branch) for branch in branches]
    if not lists:
        return []
    if combiner == "allOf":
        return [name for names in lists for name in names]
    return [name for name in lists[0] if all(name in names for names in lists)]

"""How a value reads in a prompt (spec: behaviour 10.1): none is nothing, containers are JSON."""

import json
from collections.abc import Iterator, Mapping, Set
from typing import cast

from jinja2.runtime import Undefined

from flemma.templating.fragments import Fragments
from flemma.templating.limits import Meter, weigh


def printed(meter: Meter, value: object) -> str:
    """Return ``value`` as text. Raises :class:`flemma.templating.limits.ValueTooLargeError`, and
    whatever an undefined value in it raises."""
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case Fragments():
            return str(value)
        case Mapping() | list() | tuple() | range() | Set():
            return to_json(meter, cast("object", value))
        case Iterator():
            return to_json(meter, list(cast("Iterator[object]", value)))
        case int() | float() | Undefined():
            return str(value)
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be printed")


def to_json(meter: Meter, value: object, indent: int | None = None) -> str:
    """Return ``value`` as JSON, characters outside ASCII as they are."""
    meter.allow(weigh(value) * (1 + (indent or 0)))
    return meter.charge(json.dumps(value, ensure_ascii=False, indent=indent, default=_plain))


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return dict(cast("Mapping[object, object]", value))
        case Set():
            return sorted(cast("Set[str]", value))
        case range() | Iterator():
            return list(cast("Iterator[object]", value))
        case Undefined():
            return str(value)
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be printed")

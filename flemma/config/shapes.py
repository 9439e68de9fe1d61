"""What a value may look like: derived from the annotation of an option, checked without pydantic.

Only the handful of types that options use are known: booleans, numbers, strings, literals,
tuples of one type, tables, functions, and unions of these. Values come from Lua, YAML and JSON, so
the words of the messages are Lua's.
"""

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, cast, get_args, get_origin

from flemma.config.options import PolicyFunction
from flemma.text.suggest import closest


class Mismatch(Exception):
    """A value does not fit."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Shape:
    """What is accepted: any of the alternatives that are set."""

    scalars: tuple[type, ...] = ()
    choices: tuple[object, ...] = ()
    item: "Shape | None" = None
    """Lists of it are accepted."""
    value: "Shape | None" = None
    """Tables of it are accepted."""
    function: bool = False
    nullable: bool = False
    anything: bool = False

    @property
    def is_list(self) -> bool:
        """Whether the list operations apply."""
        return self.item is not None


_NAMES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def type_name(value: object) -> str:
    """Return the type of ``value`` as Lua calls it."""
    match value:
        case None:
            return "nil"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "function" if callable(value) else "table"


def table_of(value: object) -> Mapping[object, object] | None:
    """Return ``value`` if it is a table."""
    return cast("Mapping[object, object]", value) if isinstance(value, Mapping) else None


def items_of(value: object) -> Sequence[object] | None:
    """Return ``value`` if it is a list."""
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None


@cache
def shape_of(annotation: Any) -> Shape:
    """Return the shape an annotation stands for. Raises TypeError for an unknown one."""
    if annotation in (Any, object):
        return Shape(anything=True)
    if annotation is None or annotation is type(None):
        return Shape(nullable=True)
    if annotation is PolicyFunction:
        return Shape(function=True)
    if annotation in _NAMES:
        return Shape(scalars=(annotation,))
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return Shape(choices=arguments)
    if origin is tuple:
        return Shape(item=shape_of(arguments[0]))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return Shape(value=shape_of(arguments[1]))
    if origin in (Union, types.UnionType):
        return _union([shape_of(argument) for argument in arguments])
    raise TypeError(f"options of type {annotation!r} are not supported")


def _union(shapes: list[Shape]) -> Shape:
    return Shape(
        scalars=tuple(kind for shape in shapes for kind in shape.scalars),
        choices=tuple(choice for shape in shapes for choice in shape.choices),
        item=next((shape.item for shape in shapes if shape.item), None),
        value=next((shape.value for shape in shapes if shape.value), None),
        function=any(shape.function for shape in shapes),
        nullable=any(shape.nullable for shape in shapes),
        anything=any(shape.anything for shape in shapes),
    )


def conform(shape: Shape, value: object) -> object:
    """Return ``value`` as an option of ``shape`` holds it. Raises :class:`Mismatch`.

    Lists become tuples; a float without a fraction is taken for an integer, since Lua 5.1 has only
    one kind of number.
    """
    if shape.anything or (value is None and shape.nullable):
        return value
    if any(value is choice or _equal(value, choice) for choice in shape.choices):
        return value
    match value:
        case bool():
            accepted = bool in shape.scalars
        case int():
            accepted = int in shape.scalars or float in shape.scalars
        case float():
            if float not in shape.scalars and int in shape.scalars and value.is_integer():
                return int(value)
            accepted = float in shape.scalars and value - value == 0
        case str():
            accepted = str in shape.scalars
        case _:
            return _conform_compound(shape, value)
    if not accepted:
        raise Mismatch(_refusal(shape, value))
    return value


def _equal(value: object, choice: object) -> bool:
    return type(value) is type(choice) and value == choice


def _conform_compound(shape: Shape, value: object) -> object:
    if shape.function and callable(value):
        return value
    items = items_of(value)
    if items is not None:
        if shape.item is not None:
            return tuple(conform(shape.item, item) for item in items)
        if shape.value is not None and not items:
            return {}
    table = table_of(value)
    if table is not None:
        if shape.value is not None:
            return {str(key): conform(shape.value, entry) for key, entry in table.items()}
        if shape.item is not None and not table:
            return ()
    raise Mismatch(_refusal(shape, value))


def _refusal(shape: Shape, value: object) -> str:
    strings = [choice for choice in shape.choices if isinstance(choice, str)]
    if isinstance(value, str) and strings:
        suggestion = closest(value, strings)
        hint = f" -- did you mean '{suggestion}'?" if suggestion else ""
        return f"expected {describe(shape)}, got '{value}'{hint}"
    return f"expected {describe(shape)}, got {type_name(value)}"


def describe(shape: Shape) -> str:
    """Return what is accepted, in words."""
    words = [_NAMES[kind] for kind in shape.scalars]
    words += [repr(choice) if isinstance(choice, str) else "false" for choice in shape.choices]
    if shape.item is not None:
        words.append(f"list of {describe(shape.item)}")
    if shape.value is not None:
        words.append("table")
    if shape.function:
        words.append("function")
    if shape.nullable:
        words.append("nil")
    if shape.anything:
        words.append("any value")
    return " or ".join(words) if len(words) < 3 else ", ".join(words[:-1]) + f" or {words[-1]}"

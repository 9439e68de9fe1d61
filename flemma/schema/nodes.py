"""The nodes of the schema DSL: immutable descriptions of tool inputs (spec: tools, schema DSL).

A node says what a value may be; :func:`flemma.schema.json_schema.to_json_schema` writes it as JSON
Schema. Every method returns a changed copy, so nodes can be shared freely.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Self


class Unset(Enum):
    """The type of :data:`NO_DEFAULT`; None cannot serve, as it is a possible default."""

    NO_DEFAULT = "no default"


NO_DEFAULT: Final = Unset.NO_DEFAULT
"""A node without a default value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all nodes have in common."""

    description: str | None = None
    accepts_null: bool = False
    may_be_absent: bool = False
    default: Any = NO_DEFAULT

    def describe(self, text: str) -> Self:
        """Set the description that the model reads."""
        return replace(self, description=text)

    def nullable(self) -> Self:
        """Accept null: how a parameter is made optional in strict mode."""
        return replace(self, accepts_null=True)

    def optional(self) -> Self:
        """Allow the field to be missing; leaves it out of `required`. Not for strict mode."""
        return replace(self, may_be_absent=True)


@dataclass(frozen=True, slots=True)
class StringNode(Node):
    """A string."""


@dataclass(frozen=True, slots=True)
class NumberNode(Node):
    """A number."""


@dataclass(frozen=True, slots=True)
class IntegerNode(Node):
    """A whole number."""


@dataclass(frozen=True, slots=True)
class BooleanNode(Node):
    """True or false."""


@dataclass(frozen=True, slots=True)
class ObjectNode(Node):
    """An object with named fields; unknown keys are refused unless it passes them through."""

    fields: Mapping[str, Node] = field(default_factory=dict[str, Node])
    is_strict: bool = True

    def strict(self) -> Self:
        """Refuse unknown keys (the default)."""
        return replace(self, is_strict=True)

    def passthrough(self) -> Self:
        """Allow unknown keys."""
        return replace(self, is_strict=False)


@dataclass(frozen=True, slots=True)
class ListNode(Node):
    """A list whose items are all alike."""

    item: Node


@dataclass(frozen=True, slots=True)
class MapNode(Node):
    """An object with free keys and values that are all alike. JSON keys are strings always, so
    ``key`` is for the reader of the definition only."""

    key: Node
    value: Node


@dataclass(frozen=True, slots=True)
class EnumNode(Node):
    """One of some strings."""

    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnionNode(Node):
    """Whatever one of the variants accepts."""

    variants: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LiteralNode(Node):
    """Exactly one value."""

    value: str | int | float | bool | None

"""Constructors of the schema DSL; `flemma.schema` exports them under their DSL names."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

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

Kind = TypeVar("Kind", bound=Node)


def string_node(default: object = NO_DEFAULT) -> StringNode:
    """`s.string()`: a string."""
    return StringNode(default=default)


def number_node(default: object = NO_DEFAULT) -> NumberNode:
    """`s.number()`: a number."""
    return NumberNode(default=default)


def integer_node(default: object = NO_DEFAULT) -> IntegerNode:
    """`s.integer()`: a whole number."""
    return IntegerNode(default=default)


def boolean_node(default: object = NO_DEFAULT) -> BooleanNode:
    """`s.boolean()`: true or false."""
    return BooleanNode(default=default)


def object_node(fields: Mapping[str, Node]) -> ObjectNode:
    """`s.object({...})`: named fields, strict unless `.passthrough()` is called."""
    return ObjectNode(dict(fields))


def list_node(item: Node) -> ListNode:
    """`s.list(item)`: a JSON Schema array."""
    return ListNode(item)


def map_node(key: Node, value: Node) -> MapNode:
    """`s.map(key, value)`: free keys, typed values."""
    return MapNode(key, value)


def enum_node(choices: Sequence[str]) -> EnumNode:
    """`s.enum(["a", "b"])`: one of these strings."""
    return EnumNode(tuple(choices))


def union_node(*variants: Node) -> UnionNode:
    """`s.union(a, b)`: whatever one of these accepts."""
    return UnionNode(variants)


def literal_node(value: str | float | bool | None) -> LiteralNode:
    """`s.literal(value)`: exactly this value."""
    return LiteralNode(value)


def optional_node(inner: Kind) -> Kind:
    """`s.optional(inner)`: the field may be missing."""
    return inner.optional()


def nullable_node(inner: Kind) -> Kind:
    """`s.nullable(inner)`: the field is there, its value may be null."""
    return inner.nullable()

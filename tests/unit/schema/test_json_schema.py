"""From schema nodes, Lua trees and raw schemas to JSON Schema."""

import copy

import pytest

from flemma import schema as s
from flemma.errors import ConfigError
from flemma.schema.json_schema import is_strict_schema
from flemma.schema.nodes import Node


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (s.string(), {"type": "string"}),
        (s.string("hello"), {"type": "string", "default": "hello"}),
        (s.number().describe("n"), {"type": "number", "description": "n"}),
        (s.integer().nullable(), {"type": ["integer", "null"]}),
        (s.boolean(default=None), {"type": "boolean", "default": None}),
        (s.list(s.string()), {"type": "array", "items": {"type": "string"}}),
        (
            s.map(s.string(), s.number()),
            {"type": "object", "additionalProperties": {"type": "number"}},
        ),
        (s.enum(["a", "b"]), {"type": "string", "enum": ["a", "b"]}),
        (s.nullable(s.enum(["a"])), {"type": ["string", "null"], "enum": ["a", None]}),
        (s.union(s.string(), s.integer()), {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (
            s.union(s.string()).nullable(),
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        (s.literal(3), {"type": "integer", "enum": [3]}),
        (s.literal(None).nullable(), {"type": "null", "enum": [None]}),
        (s.literal(True), {"type": "boolean", "enum": [True]}),
    ],
)
def test_each_node_writes_its_json_schema(node: Node, expected: object) -> None:
    assert s.to_json_schema(node) == expected


def test_an_object_requires_all_but_optional_fields_sorted_and_refuses_others() -> None:
    node = s.object({"z": s.string(), "a": s.integer().nullable(), "o": s.optional(s.string())})
    schema = s.to_json_schema(node)
    assert schema["required"] == ["a", "z"]
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == ["z", "a", "o"]


def test_passthrough_allows_other_keys_and_strict_takes_it_back() -> None:
    node = s.object({})
    assert s.to_json_schema(node.passthrough()) == {
        "type": "object",
        "properties": {},
        "required": [],
    }
    assert s.to_json_schema(node.passthrough().strict())["additionalProperties"] is False


def test_methods_leave_the_node_they_are_called_on_unchanged() -> None:
    plain = s.string()
    described = plain.describe("d").nullable().optional()
    assert plain == s.string()
    assert (described.description, described.accepts_null, described.may_be_absent) == (
        "d",
        True,
        True,
    )


def lua(kind: str, **entries: object) -> dict[str, object]:
    return {"__flemma_schema": True, "kind": kind, **entries}


def test_a_tree_of_the_lua_dsl_reads_as_the_same_nodes() -> None:
    tree = lua(
        "object",
        strict=True,
        fields={
            "query": lua("string", description="what", default="x"),
            "limit": lua("integer", nullable=True),
            "tags": lua("list", items=lua("enum", choices=["a", "b"]), optional=True),
            "map": lua("map", keys=lua("string"), values=lua("boolean")),
            "any": lua("union", variants=[lua("number"), lua("literal", value="all")]),
        },
    )
    expected = s.object(
        {
            "query": s.string("x").describe("what"),
            "limit": s.integer().nullable(),
            "tags": s.list(s.enum(["a", "b"])).optional(),
            "map": s.map(s.string(), s.boolean()),
            "any": s.union(s.number(), s.literal("all")),
        }
    )
    assert s.from_table(tree) == expected
    assert s.to_json_schema(tree) == s.to_json_schema(expected)


def test_an_empty_lua_table_of_fields_is_an_object_without_fields() -> None:
    """B-24: Lua has one empty table; it arrives as a list."""
    schema = s.to_json_schema(lua("object", fields=[]))
    assert schema["properties"] == {}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (lua("strin"), "input_schema has the unknown kind 'strin'"),
        (lua("object", fields={"a": "string"}), "input_schema.a is not a schema node"),
        (lua("object", fields={"a": lua("list")}), "input_schema.a[] is not a schema node"),
        (lua("enum", choices=[]), "input_schema needs a list of choices"),
        (lua("object", fields=[lua("string")]), "the fields of input_schema have no names"),
    ],
)
def test_a_malformed_lua_tree_is_refused_with_its_place(
    tree: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match="input_schema") as caught:
        s.from_table(tree)
    assert caught.value.message.startswith(message)


def test_a_raw_schema_passes_through_unchanged() -> None:
    raw = {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}, "title": "T"}
    before = copy.deepcopy(raw)
    written = s.to_json_schema(raw)
    assert written == raw == before
    written["properties"]["a"]["oneOf"].append({})
    assert raw == before


def test_nodes_inside_a_raw_schema_are_written_out() -> None:
    raw = {"type": "object", "properties": {"a": s.string(), "b": lua("integer", nullable=True)}}
    assert s.to_json_schema(raw)["properties"] == {
        "a": {"type": "string"},
        "b": {"type": ["integer", "null"]},
    }


def test_empty_lists_where_objects_must_stand_are_repaired() -> None:
    """B-24: an empty schema that encodes as a list makes every request fail."""
    raw = {"type": "object", "properties": {"a": [], "b": {"type": "object", "properties": []}}}
    assert s.to_json_schema(raw) == {
        "type": "object",
        "properties": {"a": {}, "b": {"type": "object", "properties": {}}},
    }
    assert s.to_json_schema({}) == {"type": "object", "properties": {}}
    assert s.to_json_schema({"type": "object", "properties": []})["properties"] == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": ["object", "null"]},
        {"type": "object", "properties": ["a"]},
        {"type": "object", "properties": {"a": "string"}},
        {"type": "object", "anyOf": [{}]},
        {"type": "object", "oneOf": [{}]},
        {"allOf": [{}]},
        {"type": "object", "properties": {"a": {"default": float("nan")}}},
        {"type": "object", "properties": {"a": {"default": object()}}},
    ],
)
def test_a_schema_that_services_refuse_is_named_as_a_problem(schema: dict[str, object]) -> None:
    """B-18."""
    problem = s.schema_problem(s.to_json_schema(schema))
    assert problem is not None
    assert "schema" in problem


def test_a_usable_schema_has_no_problem() -> None:
    assert s.schema_problem(s.to_json_schema(s.object({"a": s.string()}))) is None
    assert s.schema_problem(s.to_json_schema({})) is None


@pytest.mark.parametrize(
    ("node", "strict"),
    [
        (s.object({"a": s.string().nullable()}), True),
        (s.object({"a": s.object({"b": s.list(s.object({}))})}), True),
        (s.object({"a": s.string().optional()}), False),
        (s.object({"a": s.string()}).passthrough(), False),
        (s.object({"a": s.list(s.object({"b": s.string().optional()}))}), False),
        (s.object({"a": s.map(s.string(), s.string())}), False),
        (s.object({"a": s.union(s.string(), s.object({}).passthrough())}), False),
    ],
)
def test_strictness_is_judged_at_every_level(node: Node, *, strict: bool) -> None:
    assert is_strict_schema(s.to_json_schema(node)) is strict

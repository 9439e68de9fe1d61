"""The schema DSL of Lua makes what the host reads (spec: tools, "the schema DSL")."""

from collections.abc import Callable

import pynvim
import pytest

from flemma.schema import from_table, to_json_schema
from tests.editor.lua_shim import Shim
from tests.support.nvim import Editor


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    shim = Shim(start_editor)
    shim.editor.exec_lua('_G.s = require("flemma.schema")')
    return shim


def test_the_schema_dsl_makes_what_the_host_reads(shim: Shim) -> None:
    table = shim.editor.exec_lua(
        """
        return require("flemma.wire").encode(s.object({
          text = s.string("hello"):describe("Some text"),
          count = s.integer():nullable(),
          ratio = s.optional(s.number()),
          on = s.boolean(),
          tags = s.list(s.enum({ "a", "b" })),
          extra = s.map(s.string(), s.number()),
          either = s.union(s.string(), s.literal("x")),
        }):strict():strict(), "schema")
        """
    )
    assert to_json_schema(from_table(table)) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["count", "either", "extra", "on", "tags", "text"],
        "properties": {
            "text": {"type": "string", "description": "Some text", "default": "hello"},
            "count": {"type": ["integer", "null"]},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "extra": {"type": "object", "additionalProperties": {"type": "number"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "string", "enum": ["x"]}]},
        },
    }


def test_an_object_without_fields_stays_an_object(shim: Shim) -> None:
    table = shim.editor.exec_lua('return require("flemma.wire").encode(s.object({}), "schema")')
    assert table["fields"] == {}
    assert to_json_schema(from_table(table))["properties"] == {}


def test_chaining_changes_a_copy(shim: Shim) -> None:
    assert shim.editor.exec_lua(
        """
        local base = s.string()
        local described = base:describe("x"):nullable()
        return { base.data.description == nil, described.data.description, described.data.nullable }
        """
    ) == [True, "x", True]


def test_a_field_that_is_no_schema_is_named(shim: Shim) -> None:
    with pytest.raises(pynvim.NvimError, match="field 'path' has to be a schema node"):
        shim.editor.exec_lua('s.object({ path = "string" })')

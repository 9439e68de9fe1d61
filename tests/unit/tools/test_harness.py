"""Harness parameters, and the list that is sent."""

import copy
from typing import Any

import pytest

from flemma import schema as s
from flemma.tools.definition import ToolDefinition
from flemma.tools.harness import HarnessParameters, inject, strip
from flemma.tools.wire_names import WireNames
from flemma.tools.wire_tools import full_description, sent_tools
from tests.unit.tools.test_registry import tool

STRICT_SCHEMA = s.object({"query": s.string(), "limit": s.integer().nullable()})
RAW: dict[str, Any] = {
    "type": "object",
    "properties": {"q": {"type": "string"}},
    "required": ["q"],
}


def test_a_strict_tool_gets_nullable_required_parameters_after_its_own() -> None:
    schema = inject(tool("t", input_schema=STRICT_SCHEMA, strict=True, asynchronous=True))
    assert schema["required"] == ["limit", "query", "flemma.background", "flemma.save_to"]
    assert schema["properties"]["flemma.background"]["type"] == ["boolean", "null"]
    assert schema["properties"]["flemma.save_to"]["type"] == ["string", "null"]
    assert schema["additionalProperties"] is False


def test_other_tools_get_optional_parameters_and_keep_their_required() -> None:
    before = copy.deepcopy(RAW)
    schema = inject(tool("t", input_schema=RAW, asynchronous=True))
    assert schema["required"] == ["q"]
    background = schema["properties"]["flemma.background"]
    assert (background["type"], background["default"]) == ("boolean", False)
    assert schema["properties"]["flemma.save_to"]["type"] == "string"
    assert before == RAW


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"asynchronous": False}, {"flemma.save_to"}),
        ({"asynchronous": True}, {"flemma.background", "flemma.save_to"}),
        (
            {"asynchronous": True, "capabilities": frozenset({"disables_background"})},
            {"flemma.save_to"},
        ),
        (
            {"asynchronous": True, "capabilities": frozenset({"disables_save_to"})},
            {"flemma.background"},
        ),
        ({"capabilities": frozenset({"disables_save_to"})}, set()),
    ],
)
def test_what_is_injected_depends_on_async_and_capabilities(
    changes: dict[str, Any], expected: set[str]
) -> None:
    assert set(inject(tool("t", **changes))["properties"]) == expected


def test_a_strict_tool_that_breaks_the_rules_is_sent_as_not_strict() -> None:
    """B-24: strict without a complete `required` makes every request fail."""
    broken = tool("t", input_schema=s.object({"a": s.string().optional()}), strict=True)
    (sent,) = sent_tools([broken], WireNames(["t"]))
    assert not sent.strict
    assert sent.input_schema["required"] == []


def test_harness_keys_are_split_off_and_null_is_absent() -> None:
    rest, harness = strip({"a": 1, "flemma.background": True, "flemma.save_to": "out.txt"})
    assert rest == {"a": 1}
    assert harness == HarnessParameters(background=True, save_to="out.txt")
    assert strip({"flemma.background": None, "flemma.save_to": None}) == ({}, HarnessParameters())
    assert strip({"flemma.background": "true", "flemma.save_to": " "})[1].background is True
    assert strip({"flemma.background": "no", "flemma.save_to": 3})[1] == HarnessParameters()


def test_sent_tools_are_sorted_by_internal_name_and_wire_encoded() -> None:
    definitions = [tool("b"), tool("a.z", strict=True), tool("a-b")]
    sent = sent_tools(definitions, WireNames(one.name for one in definitions))
    assert [(one.name, one.strict) for one in sent] == [
        ("a-b", False),
        ("a__z", True),
        ("b", False),
    ]


def test_an_output_schema_follows_the_description() -> None:
    definition: ToolDefinition = tool("t", output_schema={"type": "object"})
    assert full_description(definition) == (
        'does\n\nReturns (JSON Schema): {"$schema": '
        '"https://json-schema.org/draft/2020-12/schema", "type": "object"}'
    )
    assert full_description(tool("t")) == "does"

"""The registry of tools."""

from typing import Any

import pytest

from flemma import schema as s
from flemma.errors import ConfigError
from flemma.tools.builtin import BUILTINS
from flemma.tools.definition import ToolDefinition, ToolResult
from flemma.tools.registry import ToolRegistry


def tool(name: str, **changes: Any) -> ToolDefinition:
    fields: dict[str, Any] = {
        "description": "does",
        "input_schema": s.object({}),
        "execute": lambda tool_input, context: ToolResult.ok("x"),
    }
    return ToolDefinition(name=name, **(fields | changes))


def registry_of(*definitions: ToolDefinition) -> ToolRegistry:
    registry = ToolRegistry()
    for definition in definitions:
        registry.register(definition)
    return registry


def names(definitions: tuple[ToolDefinition, ...]) -> list[str]:
    return [definition.name for definition in definitions]


def test_tools_are_listed_by_name_whatever_the_order_of_registration() -> None:
    registry = registry_of(tool("b"), tool("slack.post"), tool("a"))
    assert registry.names() == ("a", "b", "slack.post")
    assert names(registry.selected(None)) == ["a", "b", "slack.post"]


def test_a_redefinition_replaces_the_tool_and_warns() -> None:
    registry = registry_of(tool("a"))
    assert registry.register(tool("a", description="new")) == (
        "tool 'a' redefined (previously registered, now overwritten)",
    )
    found = registry.get("a")
    assert found is not None
    assert found.description == "new"
    assert registry.register(tool("b")) == ()


def test_a_malformed_definition_leaves_the_tool_of_its_name_alone() -> None:
    registry = registry_of(tool("a"))
    malformed: Any = s.object({"x": "a string"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError, match="is not a schema node"):
        registry.register(tool("a", input_schema=malformed))
    assert registry.get("a") is not None


def test_a_late_tool_is_made_once_and_when_more_than_its_name_is_asked_for() -> None:
    registry = registry_of(tool("b"))
    made: list[str] = []

    def make() -> ToolDefinition:
        made.append("a")
        return tool("a", capabilities=frozenset({"x"}))

    registry.register_late({"a": make, "c": lambda: tool("c", enabled=False)})
    assert registry.names() == ("a", "b", "c")
    assert made == []
    assert names(registry.selected(None)) == ["a", "b"]
    assert registry.has_capability("a", "x")
    assert registry.get("a") is registry.get("a")
    assert made == ["a"]


def test_a_late_tool_can_be_replaced_and_taken_back_before_it_is_made() -> None:
    registry = registry_of()
    registry.register_late({"a": lambda: tool("a"), "b": lambda: tool("b")})
    (warning,) = registry.register(tool("a", description="new"))
    assert "'a' redefined" in warning
    found = registry.get("a")
    assert found is not None
    assert found.description == "new"
    assert registry.unregister("b")
    assert registry.get("b") is None
    assert not registry.unregister("b")


def test_each_built_in_tool_has_the_name_it_is_registered_under() -> None:
    for name, make in BUILTINS.items():
        assert make().name == name


def test_a_disabled_tool_is_sent_only_when_it_is_selected() -> None:
    registry = registry_of(tool("a"), tool("off", enabled=False))
    assert registry.enabled_names() == ("a",)
    assert names(registry.selected(["off", "a", "nosuch", "a"])) == ["a", "off"]
    assert registry.selected([]) == ()


def test_an_invalid_schema_disables_that_tool_only_and_says_so() -> None:
    """B-18: one bad MCP schema made every request fail."""
    registry = registry_of(tool("a"))
    bad = {"type": "object", "oneOf": [{}]}
    (warning,) = registry.register(tool("mcp.bad", input_schema=bad, origin="mcp server x"))
    assert "tool 'mcp.bad' (mcp server x) is disabled" in warning
    assert "'oneOf'" in warning
    assert registry.enabled_names() == ("a",)
    assert names(registry.selected(["a", "mcp.bad"])) == ["a"]
    assert list(registry.problems()) == ["mcp.bad"]
    registry.register(tool("mcp.bad"))
    assert registry.problems() == {}
    assert registry.enabled_names() == ("a", "mcp.bad")


def test_a_tool_without_a_name_is_not_sent() -> None:
    registry = registry_of(tool(" "))
    assert registry.selected(None) == ()


def test_capabilities_are_asked_by_name() -> None:
    registry = registry_of(tool("read", capabilities=frozenset({"emits_template"})), tool("x"))
    assert registry.has_capability("read", "emits_template")
    assert not registry.has_capability("read", "disables_save_to")
    assert not registry.has_capability("x", "emits_template")
    assert not registry.has_capability("nosuch", "emits_template")


def test_listeners_hear_of_every_change_until_they_leave() -> None:
    registry = ToolRegistry()
    heard: list[tuple[str, ...]] = []
    leave = registry.subscribe(lambda: heard.append(registry.names()))
    registry.register(tool("a"))
    assert registry.unregister("a")
    assert not registry.unregister("a")
    leave()
    registry.register(tool("b"))
    assert heard == [("a",), ()]

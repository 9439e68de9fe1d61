"""Reading `setup()`: what is wrong is told, the rest is kept (spec: behaviour 9.2, 9.4, 9.6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.config.catalogue import catalogue
from flemma.config.layers import Layer
from flemma.config.resolve import resolve
from flemma.config.setup import read_setup, setup_notice, unregistered
from tests.unit.config.support import setup, setup_errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"providr": "x"}, "unknown key 'providr' -- did you mean 'provider'?"),
        (
            {"tools": {"max_concurent": 3}},
            "unknown key 'tools.max_concurent' -- did you mean 'max_concurrent'?",
        ),
        ({"nope": 1}, "unknown key 'nope'"),
        ({"provider": 3}, "validation error at 'provider': expected string, got number"),
        (
            {"cache_retention": "lnog"},
            "validation error at 'parameters.cache_retention': expected 'short', 'long' or 'none', "
            "got 'lnog' -- did you mean 'long'?",
        ),
        (
            {"sandbox": {"policy": {"rw_paths": ["/a", 3]}}},
            "list item[2] at 'sandbox.policy.rw_paths': expected string, got number",
        ),
        (
            {"tools": {"max_concurrent": -1}},
            "validation error at 'tools.max_concurrent': expected at least 0, got -1",
        ),
        (
            {"max_tokens": "half"},
            "validation error at 'parameters.max_tokens': expected a number of tokens or a "
            "percentage such as '50%', got 'half'",
        ),
        ({"ui": 3}, "validation error at 'ui': expected table, got number"),
        (
            {"ui": ["top"]},
            "validation error at 'ui': expected table, got table",
        ),
        (
            {"provider": {"name": "x"}},
            "validation error at 'provider': expected string, got table",
        ),
        ({"tools": {"auto_approve": ["+bash", "+"], "x": 1}}, "unknown key 'tools.x'"),
    ],
)
def test_a_mistake_is_named_with_its_place(options, message) -> None:
    assert setup_errors(options) == [message]


def test_everything_else_still_loads() -> None:
    operations, errors = read_setup(
        {
            "nope": 1,
            "provider": "openai",
            "tools": {"max_concurrent": "x", "default_timeout": 9},
            "sandbox": {"policy": {"rw_paths": ["/a", 3]}},
        }
    )
    config = resolve(setup({}).with_log(Layer.SETUP, operations)).config
    assert len(errors) == 3
    assert (config.provider, config.tools.default_timeout) == ("openai", 9)
    assert config.tools.max_concurrent == 2
    assert config.sandbox.policy.rw_paths == ("/a",)


def test_errors_carry_their_layer_and_make_one_notice() -> None:
    errors = read_setup({"nope": 1, "zzz": {"a": 1}, "provider": 3})[1]
    assert {error.layer for error in errors} == {"setup"}
    assert setup_notice(errors) == (
        "unknown config keys: nope, zzz\n"
        "validation error at 'provider': expected string, got number (setup)"
    )
    assert setup_notice([]) is None


@pytest.mark.parametrize(
    ("options", "read", "expected"),
    [
        ({"thinking": "low"}, lambda c: c.parameters.thinking.level, "low"),
        ({"thinking": False}, lambda c: c.parameters.thinking.level, False),
        ({"thinking": 4096}, lambda c: c.parameters.thinking.level, 4096),
        ({"thinking": {"foreign": "drop"}}, lambda c: c.parameters.thinking.level, "high"),
        ({"thinking": {"foreign": "drop"}}, lambda c: c.parameters.thinking.foreign, "drop"),
        ({"timeout": 5}, lambda c: c.parameters.timeout, 5),
        ({"max_tokens": "25%"}, lambda c: c.parameters.max_tokens, "25%"),
        ({"temperature": 0.3}, lambda c: c.parameters.temperature, 0.3),
        ({"cache_retention": "none"}, lambda c: c.parameters.cache_retention, "none"),
        ({"tools": {"approve": ["ls"]}}, lambda c: c.tools.auto_approve, ("ls",)),
        ({"tools": {"autopilot": False}}, lambda c: c.tools.autopilot.enabled, False),
        ({"sandbox": False}, lambda c: c.sandbox.enabled, False),
        ({"ui": {"usage": False}}, lambda c: c.ui.usage.enabled, False),
        ({"turns": {"padding": 3}}, lambda c: c.turns.padding.left, 3),
        ({"turns": {"padding": 3}}, lambda c: c.turns.padding.right, 0),
        ({"turns": {"padding": [2, 4]}}, lambda c: c.turns.padding.right, 4),
        ({"anthropic": {"effort": "low"}}, lambda c: c.parameters.anthropic.effort, "low"),
        ({"tools": {"max_concurrent": 3.0}}, lambda c: c.tools.max_concurrent, 3),
        ({"keymaps": {"normal": {"send": False}}}, lambda c: c.keymaps.normal.send, False),
        ({"highlights": {"user": {"fg": "#fff"}}}, lambda c: c.highlights.user, {"fg": "#fff"}),
    ],
)
def test_short_forms_and_coercions(options, read, expected) -> None:
    assert read(resolve(setup(options)).config) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (["+bash"], ["$standard", "bash"]),
        (["^bash"], ["bash", "$standard"]),
        (["!$standard"], []),
        (["+bash", "!bash"], ["$standard"]),
        (["ls", "+bash"], ["ls", "bash"]),
        (["$readonly", "!ls"], ["$readonly"]),
        ([], []),
        ({}, []),
    ],
)
def test_items_with_operators_change_a_list_and_plain_ones_replace_it(items, expected) -> None:
    resolved = resolve(setup({"tools": {"auto_approve": items}}))
    assert resolved.value(("tools", "auto_approve")) == expected


def test_empty_lua_tables_are_empty_sections_and_leave_the_tools_alone() -> None:
    # An empty table arrives as an empty list over RPC.
    assert setup_errors({"ui": [], "tools": [], "presets": [], "anthropic": {}}) == []
    assert setup({"tools": []}).setup == ()


def test_a_mixed_lua_table_sets_the_tool_list_and_its_options() -> None:
    resolved = resolve(setup({"tools": {"1": "bash", "2": "read", "max_concurrent": 4}}))
    assert resolved.config.tools.names == ("bash", "read")
    assert resolved.config.tools.max_concurrent == 4


def test_subtrees_of_unknown_things_are_checked_once_everything_is_registered() -> None:
    operations, errors = read_setup({"tools": {"exprot": {"a": 1}, "export": {"a": 1}}})
    assert errors == ()
    known = catalogue().with_registered(("tools",), ["export"])
    good, complaints = unregistered(operations, known, Layer.SETUP)
    assert [operation.path for operation in good] == [("tools", "export", "a")]
    assert [error.message for error in complaints] == [
        "unknown key 'tools.exprot' -- did you mean 'export'?"
    ]


def test_a_registered_provider_gets_short_forms_too() -> None:
    known = catalogue().with_registered(("parameters",), ["acme"])
    operations, errors = read_setup({"acme": {"region": "eu"}}, known)
    assert errors == ()
    assert [operation.path for operation in operations] == [("parameters", "acme", "region")]


def test_functions_stay_callable() -> None:
    def policy(*_arguments: object) -> bool:
        return True

    config = resolve(setup({"tools": {"auto_approve": policy}})).config
    assert config.tools.auto_approve is policy


lua_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
sections = st.sampled_from(
    ["tools", "ui", "parameters", "sandbox", "thinking", "presets", "turns", "model", "anthropic"]
)


@given(st.dictionaries(sections, lua_values, max_size=4))
def test_no_table_can_make_reading_or_resolving_fail(options) -> None:
    operations, _ = read_setup(options)
    resolve(setup({}).with_log(Layer.SETUP, operations))

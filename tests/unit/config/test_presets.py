"""Presets and switching (spec: behaviour 9.8, 12.11)."""

import pytest

from flemma.config.catalogue import catalogue
from flemma.config.layers import Layer, Layers
from flemma.config.modeline import parse_arguments
from flemma.config.presets import BUILTIN, Preset, expand, read_presets, unknown_tools
from flemma.config.resolve import resolve
from flemma.config.switch import parse_switch, switch_operations, switchable
from flemma.errors import ConfigError
from tests.unit.config.support import buffer, op, setup

PROVIDERS = ("anthropic", "demo", "openai")


def test_string_and_table_forms_say_the_same() -> None:
    presets, errors = read_presets(
        {
            "$a": "openai gpt-5 temperature=0.5 thinking=low",
            "$b": {"provider": "openai", "model": "gpt-5", "temperature": 0.5, "thinking": "low"},
            "$c": {
                "1": "openai",
                "2": "gpt-5",
                "parameters": {"temperature": 0.5},
                "thinking": "low",
            },
            "$d": "openai/gpt-5 temperature=0.5 thinking=low",
        }
    )
    assert errors == ()
    for name in ("$a", "$b", "$c", "$d"):
        preset = presets[name]
        assert (preset.provider, preset.model) == ("openai", "gpt-5")
        assert preset.parameters == {"temperature": 0.5, "thinking": "low"}


@pytest.mark.parametrize(
    ("name", "definition", "message"),
    [
        (
            "fast",
            "a b",
            "Preset 'fast' ignored — name must start with '$' followed by a lowercase letter",
        ),
        (
            "$Fast",
            "a b",
            "Preset '$Fast' ignored — name must start with '$' followed by a lowercase letter",
        ),
        ("$p", "openai", "Preset '$p' string definitions must start with '<provider> <model>'"),
        ("$p", "a b c", "Preset '$p' contains unexpected positional argument: c"),
        ("$p", 3, "Preset '$p' must be a table or string, received number"),
        (
            "$p",
            {"auto_approve": "bash"},
            "Preset '$p' auto_approve must be a string[], got string",
        ),
        ("$p", {"tools": [1]}, "Preset '$p' tools must be a string[], got table"),
        ("$p", {"provider": 3}, "Preset '$p' has an invalid provider field"),
        ("$p", {"model": True}, "Preset '$p' has an invalid model field"),
        ("$p", {"parameters": 3}, "Preset '$p' parameters must be a table, got number"),
        (
            "$p",
            ["a", "b", "c", "d"],
            "Preset '$p' ignores additional positional values (c, d) beyond provider/model",
        ),
    ],
)
def test_bad_presets_are_skipped_with_a_warning(name, definition, message) -> None:
    presets, errors = read_presets({name: definition})
    assert [error.message for error in errors] == [message]
    assert (name in presets) == ("ignores additional" in message)


def test_user_presets_replace_built_in_ones_entirely() -> None:
    presets, _ = read_presets({"$standard": {"auto_approve": ["ls"]}})
    assert expand(["$standard"], presets) == [("ls", "$standard")]


def test_presets_unite_drop_duplicates_and_do_not_nest() -> None:
    presets, _ = read_presets({"$nested": {"auto_approve": ["$readonly", "bash"]}})
    assert [entry for entry, _ in expand(["$readonly", "read", "write", "$nosuch"], presets)] == [
        "read",
        "find",
        "grep",
        "ls",
        "write",
    ]
    assert expand(["$nested"], presets) == [("$readonly", "$nested"), ("bash", "$nested")]


def test_tools_that_presets_name_and_nobody_registered_are_told() -> None:
    presets, _ = read_presets({"$p": {"auto_approve": ["bsah", "x.*"], "tools": ["+read", "nope"]}})
    assert [error.message for error in unknown_tools(presets, ["bash", "read"])] == [
        "Preset '$p' references unknown tool 'bsah' in auto_approve",
        "Preset '$p' references unknown tool 'nope' in tools",
    ]


FAST = {"$fast": "openai gpt-5 temperature=0.5", "$look": {"auto_approve": ["ls"]}}


def test_a_preset_as_model_brings_provider_model_and_parameters() -> None:
    resolved = resolve(setup({"model": "$fast", "presets": FAST}))
    config = resolved.config
    assert resolved.errors == ()
    assert (config.provider, config.model) == ("openai", "gpt-5")
    assert config.parameters.temperature == 0.5


def test_what_the_layer_says_itself_wins_over_the_preset() -> None:
    config = resolve(setup({"temperature": 0.9, "model": "$fast", "presets": FAST})).config
    assert config.parameters.temperature == 0.9


def test_an_approval_only_preset_as_model_leaves_the_provider_alone() -> None:
    resolved = resolve(setup({"provider": "openai", "model": "$look", "presets": FAST}))
    assert (resolved.config.provider, resolved.config.model) == ("openai", None)
    assert resolved.config.tools.auto_approve == ("ls",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "$nope"}, "Default preset '$nope' not found. Provider not initialized."),
        (
            {"provider": "anthropic", "model": "$fast", "presets": FAST},
            "Explicit provider 'anthropic' conflicts with preset '$fast' (provider: 'openai'). "
            "Provider not initialized.",
        ),
    ],
)
def test_a_default_preset_that_cannot_be_used_is_an_error(options, message) -> None:
    resolved = resolve(setup(options))
    assert [error.message for error in resolved.errors] == [message]
    assert resolved.config.model is None


def test_a_frontmatter_may_choose_a_preset_over_the_provider_of_the_setup() -> None:
    layers = setup({"provider": "anthropic", "model": "claude", "presets": FAST})
    config = buffer('flemma.opt.model = "$fast"', layers=layers).config
    assert (config.provider, config.model) == ("openai", "gpt-5")


def test_wrong_parameters_of_a_preset_are_told() -> None:
    resolved = resolve(setup({"model": "$p", "presets": {"$p": "demo x nope=1"}}))
    assert [error.message for error in resolved.errors] == [
        "Preset '$p': unknown key 'parameters.demo.nope'"
    ]


def _switched(text: str, layers: Layers | None = None):
    resolved = resolve(layers or Layers())
    switch = parse_switch(text, resolved.presets, PROVIDERS)
    operations, errors = switch_operations(switch, resolved.config.provider, catalogue())
    after = resolve((layers or Layers()).extended(Layer.RUNTIME, operations))
    return switch, after.config, errors


def test_switch_reads_provider_model_and_parameters() -> None:
    switch, config, errors = _switched("openai gpt-5 temperature=0.2 reasoning=low x y")
    assert errors == ()
    assert (config.provider, config.model) == ("openai", "gpt-5")
    assert config.parameters.temperature == 0.2
    assert config.parameters.openai.reasoning == "low"
    assert switch.warnings == ("Ignoring extra positional arguments: x, y",)


def test_switch_accepts_provider_and_model_in_one_word() -> None:
    _, config, _ = _switched("openai/gpt-5")
    assert (config.provider, config.model) == ("openai", "gpt-5")


def test_switch_without_a_model_goes_to_the_default_of_the_provider() -> None:
    layers = setup({"provider": "anthropic", "model": "claude"})
    _, config, _ = _switched("openai", layers)
    assert (config.provider, config.model) == ("openai", None)


def test_switch_clears_a_parameter_by_an_empty_value() -> None:
    layers = setup({"temperature": 0.7, "anthropic": {"thinking_budget": 9000}})
    _, config, _ = _switched("anthropic temperature= thinking_budget=nil", layers)
    assert config.parameters.temperature is None
    assert config.parameters.anthropic.thinking_budget is None


def test_switch_to_a_preset_takes_everything_it_carries() -> None:
    layers = setup(
        {
            "presets": {
                "$work": {
                    "provider": "openai",
                    "model": "gpt-5",
                    "thinking": "low",
                    "auto_approve": ["+bash"],
                    "tools": ["bash", "read"],
                }
            }
        }
    )
    switch, config, errors = _switched("$work gpt-6 thinking=max zzz", layers)
    assert errors == ()
    assert (config.provider, config.model) == ("openai", "gpt-6")
    assert config.parameters.thinking.level == "max"
    assert config.tools.auto_approve == ("$standard", "bash")
    assert config.tools.names == ("bash", "read")
    assert switch.warnings == ("Ignoring extra positional arguments for preset '$work': zzz",)


def test_switch_to_an_approval_preset_leaves_the_model_alone() -> None:
    layers = setup({"model": "claude", "presets": FAST})
    _, config, _ = _switched("$look", layers)
    assert (config.model, config.tools.auto_approve) == ("claude", ("ls",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opnai", "Unknown provider 'opnai'. Supported providers are: anthropic, demo, openai"),
        ("$standrd", "Unknown preset '$standrd' — did you mean '$standard'?"),
        ("$zzzzzzzzz", "Unknown preset '$zzzzzzzzz'"),
        ("", "switch expects a provider or a $preset"),
    ],
)
def test_switch_names_what_it_does_not_know(text, message) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_switch(text, BUILTIN, PROVIDERS)
    assert raised.value.message == message


def test_completion_offers_presets_that_choose_a_provider() -> None:
    presets, _ = read_presets({**FAST, "$model": {"model": "x"}})
    assert switchable(presets) == ["$fast"]


@pytest.mark.parametrize(
    ("text", "positionals", "keywords"),
    [
        ('a "b c" d', ("a", "b c", "d"), ()),
        ("k=1 k2=0x10 f=1e3 t=true n= m=nil", (), (
            ("k", 1), ("k2", 16), ("f", 1000.0), ("t", True), ("n", None), ("m", None))),
        ('v="true" w=\'a "b"\'', (), (("v", "true"), ("w", 'a "b"'))),
        ("tags=a,b,3", (), (("tags", ["a", "b", 3]),)),
        (r'q="a \" b"', (), (("q", 'a " b'),)),
        ('open="a b', (), (("open", '"a b'),)),
        ("", (), ()),
    ],
)  # fmt: skip
def test_arguments_follow_the_modeline_grammar(text, positionals, keywords) -> None:
    arguments = parse_arguments(text)
    assert (arguments.positionals, arguments.keywords) == (positionals, keywords)


def test_a_removed_preset_is_gone() -> None:
    layers = setup({"presets": FAST}).extended(Layer.RUNTIME, [op("set", "presets.$fast", None)])
    assert "$fast" not in resolve(layers).presets


def test_presets_that_only_approve_select_no_model() -> None:
    assert not Preset("$x", auto_approve=("ls",)).selects_model

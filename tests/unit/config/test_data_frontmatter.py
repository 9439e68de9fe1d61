"""YAML and JSON frontmatter (spec: behaviour 1.2, 9.5)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.config.frontmatter.json_language import json_lines
from flemma.config.layers import Layers
from tests.unit.config.support import buffer, evaluate, messages, setup


def test_all_keys_but_flemma_are_variables() -> None:
    result = evaluate('{"a": 1, "b": [true, null], "flemma": {"thinking": "low"}}', "json")
    assert result.variables == {"a": 1, "b": [True, None]}
    assert [each.value for each in result.operations] == ["low"]


def test_yaml_values_are_plain_data() -> None:
    result = evaluate(
        "when: 2024-01-02\nset: !!set {a, b}\n2: one\ntrue: yes\nb: !!binary aGk=", "yaml"
    )
    assert messages(result) == []
    assert result.variables["when"] == "2024-01-02"
    assert sorted(result.variables["set"]) == ["a", "b"]
    assert result.variables["2"] == "one"
    assert result.variables["true"] is True
    assert result.variables["b"] == "hi"


@pytest.mark.parametrize("language", ["json", "yaml"])
def test_plain_values_set_and_operators_change(language: str) -> None:
    block = {
        "flemma": {
            "thinking": "medium",
            "tools": {
                "$remove": "write",
                "$append": ["grep", "ls"],
                "max_concurrent": 4,
                "auto_approve": {"$set": ["$readonly"], "$append": "bash", "$remove": ["ls"]},
            },
            "sandbox": {"policy": {"rw_paths": {"$prepend": ["/a", "/b"]}}},
            "anthropic": {"thinking_budget": 20000},
        }
    }
    resolved = buffer(json.dumps(block), language)
    assert resolved.value(("thinking", "level")) == "medium"
    assert resolved.value(("tools", "max_concurrent")) == 4
    assert resolved.value(("tools", "auto_approve")) == ["$readonly", "bash"]
    assert resolved.config.sandbox.policy.rw_paths[:2] == ("/a", "/b")
    assert resolved.config.parameters.anthropic.thinking_budget == 20000
    assert [
        (each.op.value, each.value)
        for each in resolved.layers.frontmatter
        if each.path == ("tools",)
    ] == [("remove", "write"), ("append", "grep"), ("append", "ls")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nope": 1}, "flemma.nope: unknown config key"),
        (
            {"tools": {"max_concurent": 1}},
            "flemma.tools.max_concurent: unknown config key -- did you mean 'max_concurrent'?",
        ),
        ({"editing": {"$foo": 1}}, "flemma.editing: unknown operator '$foo'"),
        ({"provider": {"$foo": 1}}, "flemma.provider: unknown operator '$foo'"),
        ({"editing": {"$append": 1}}, "flemma.editing: '$append' requires a list-capable field"),
        ({"provider": {"$append": 1}}, "flemma.provider: '$append' requires a list-capable field"),
        ({"provider": ["a"]}, "flemma.provider: does not accept array values"),
        ({"provider": {"$set": ["a"]}}, "flemma.provider: does not accept array values"),
        (
            {"tools": {"auto_approve": ["ls", 3]}},
            "flemma.tools.auto_approve: item[2]: expected string, got number",
        ),
        (
            {"provider": {"name": "x"}},
            "flemma.provider: cannot navigate into non-object field with key 'name'",
        ),
        (
            {"temperature": "warm"},
            "flemma.parameters.temperature: expected number or nil, got string",
        ),
    ],
)
@pytest.mark.parametrize("language", ["json", "yaml"])
def test_mistakes_are_collected_with_their_line(language, settings, message) -> None:
    text = json.dumps({"x": 1, "flemma": {**settings, "thinking": "low"}}, indent=1)
    result = evaluate(text, language)
    (failure,) = result.failures
    assert failure.message == message
    assert failure.validation
    assert failure.line is not None
    assert result.blocks_send
    assert not result.unusable
    assert [each.value for each in result.operations][-1] == "low"


@pytest.mark.parametrize("language", ["json", "yaml"])
def test_a_list_instead_of_an_object_only_warns(language: str) -> None:
    # Acceptance 7.
    result = evaluate("[1,2]", language)
    (failure,) = result.failures
    assert failure.message == "Frontmatter must be an object, got array"
    assert failure.severity == "warning"
    assert not result.blocks_send


@pytest.mark.parametrize("language", ["json", "yaml"])
def test_flemma_must_be_an_object(language: str) -> None:
    assert messages(evaluate('{"a": 1,\n"flemma": []}', language)) == ['"flemma" must be an object']


def test_parse_failures_name_their_line() -> None:
    (failure,) = evaluate('{"a": 1,\n "b" 2}', "json").failures
    assert failure.message == "JSON parse error: Expecting ':' delimiter"
    assert failure.line == 2
    (failure,) = evaluate("a: 1\nb: [1", "yaml").failures
    assert failure.message.startswith("YAML parse error: ")
    assert failure.line is not None


@pytest.mark.parametrize("language", ["json", "yaml", "lua"])
def test_an_empty_block_says_nothing(language: str) -> None:
    result = evaluate("\n", language)
    assert (result.failures, result.operations, dict(result.variables)) == ((), (), {})


def test_an_explicit_null_shadows_what_is_below() -> None:
    layers = setup({"temperature": 0.5})
    for code, language in (
        ('{"flemma": {"temperature": null}}', "json"),
        ("flemma: {temperature: ~}", "yaml"),
    ):
        assert buffer(code, language, layers).config.parameters.temperature is None


def test_presets_keep_their_dollar_names() -> None:
    resolved = buffer('{"flemma": {"presets": {"$fast": "demo tour"}, "model": "$fast"}}', "json")
    assert (resolved.config.provider, resolved.config.model) == ("demo", "tour")


def test_the_layer_is_cleared_when_the_block_goes() -> None:
    from flemma.config.frontmatter.result import apply_frontmatter

    layers = apply_frontmatter(Layers(), evaluate('{"flemma": {"thinking": "low"}}', "json"))
    assert layers.frontmatter
    assert apply_frontmatter(layers, None).frontmatter == ()


words = st.text(st.characters(categories=("L", "N", "P", "S")), max_size=5)
keys = words.filter(bool)
documents = st.dictionaries(
    keys,
    st.recursive(
        st.integers() | words | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@given(documents)
def test_keys_of_json_are_found_on_their_lines(document) -> None:
    text = json.dumps(document, indent=1)
    lines = json_lines(text)
    for key in document:
        line = lines((key,))
        assert line is not None
        assert text.split("\n")[line - 1].startswith(f" {json.dumps(key)}:")


@given(documents, st.sampled_from(["json", "yaml"]))
def test_no_document_under_flemma_makes_the_evaluation_fail(document, language) -> None:
    result = evaluate(json.dumps({"flemma": document}, ensure_ascii=False), language)
    assert not result.unusable

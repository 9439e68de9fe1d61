"""The model catalogue (spec: providers 1.3 and 1.8, behaviour 11.1; case S-21)."""

import pytest

from flemma.errors import ConfigError
from flemma.models.catalogue import Choice, catalogue, choose, describe
from flemma.models.limits import FALLBACK_MAX_TOKENS, OutputLimit, resolve_max_tokens

SONNET = "claude-sonnet-4-6"


def anthropic_models() -> list[str]:
    known = catalogue("anthropic")
    assert known is not None
    return sorted(known.models)


@pytest.mark.parametrize("name", anthropic_models())
def test_every_model_is_described_completely(name: str) -> None:
    model = describe("anthropic", name)
    assert model.prices is not None
    assert model.context is not None
    assert model.max_output is not None
    assert model.max_output < model.context
    assert model.thinking_forms
    assert model.thinking_off in ("omit", "disabled", "between_tools", "never")
    # Writing to the cache costs a quarter more, for an hour twice as much.
    assert model.prices.cache_write == pytest.approx(model.prices.input * 1.25)
    assert model.prices.cache_write_long == pytest.approx(model.prices.input * 2)


def test_the_default_model_is_in_the_catalogue() -> None:
    known = catalogue("anthropic")
    assert known is not None
    assert known.default_model == SONNET
    assert known.find(SONNET)


@pytest.mark.parametrize(
    "name",
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5-latest", "anthropic/claude-sonnet-4-5"],
)
def test_a_dated_name_is_the_same_model(name: str) -> None:
    assert describe("anthropic", name).context == 200_000


def test_an_unknown_model_has_no_facts() -> None:
    model = describe("anthropic", "claude-next")
    assert (model.max_output, model.context, model.prices) == (None, None, None)


def test_what_the_user_declares_wins() -> None:  # S-21
    model = describe("anthropic", SONNET, {"context": 500_000, "prices": {"input": 1, "output": 2}})
    assert model.context == 500_000
    assert model.prices is not None
    assert (model.prices.input, model.prices.cache_read) == (1, None)
    assert model.max_output == 128_000


def test_an_unknown_fact_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="'contxt' for model 'x' -- did you mean 'context'"):
        describe("anthropic", "x", {"contxt": 1})


@pytest.mark.parametrize(
    ("provider", "name", "accept_any", "expected"),
    [
        ("anthropic", None, False, Choice(SONNET)),
        ("anthropic", "claude-opus-4-8", False, Choice("claude-opus-4-8")),
        (
            "anthropic",
            "gpt-9",
            False,
            Choice(
                SONNET,
                "Model 'gpt-9' is not valid for provider 'anthropic'. "
                "Using default: 'claude-sonnet-4-6'.",
            ),
        ),
        ("anthropic", "gpt-9", True, Choice("gpt-9")),
        ("nobody", "anything", False, Choice("anything")),
    ],
)
def test_the_model_is_chosen(
    provider: str, name: str | None, accept_any: bool, expected: Choice
) -> None:
    assert choose(provider, name, SONNET, accept_any=accept_any) == expected


@pytest.mark.parametrize(
    ("value", "model", "expected"),
    [
        ("50%", "claude-sonnet-4-5", OutputLimit(32_000)),
        ("50%", "unknown", OutputLimit(FALLBACK_MAX_TOKENS)),
        ("0.1%", "claude-sonnet-4-5", OutputLimit(1024)),
        ("250%", "claude-sonnet-4-5", OutputLimit(64_000)),
        ("half", "claude-sonnet-4-5", OutputLimit(4000)),
        (None, "claude-sonnet-4-5", OutputLimit(4000)),
        (9000, "claude-sonnet-4-5", OutputLimit(9000)),
        (9000, "unknown", OutputLimit(9000)),
        (
            70_000,
            "claude-sonnet-4-5",
            OutputLimit(
                64_000, "max_tokens 70000 exceeds claude-sonnet-4-5 limit (64000), clamping."
            ),
        ),
        (
            0,
            "claude-sonnet-4-5",
            OutputLimit(1, "max_tokens 0 below claude-sonnet-4-5 minimum (1), raising."),
        ),
    ],
)
def test_max_tokens_is_resolved(
    value: str | int | None, model: str, expected: OutputLimit
) -> None:  # acceptance 95
    assert resolve_max_tokens(value, describe("anthropic", model)) == expected

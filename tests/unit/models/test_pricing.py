"""Costs, shares of the cache, and how they are written (spec: behaviour 11.7)."""

import pytest

from flemma.conversation.usage import Usage
from flemma.models.catalogue import describe
from flemma.models.formats import format_elapsed, format_money, format_number, format_tokens
from flemma.models.pricing import cache_percent, cost, cost_from_price_list

OPUS = describe("anthropic", "claude-opus-5-5")


def test_each_kind_of_token_has_its_price() -> None:
    spent = cost(Usage(1000, 500, 0, 8000, 1000), OPUS)
    assert spent is not None
    assert spent.input == pytest.approx(0.0106)
    assert spent.output == pytest.approx(0.01)
    assert spent.total == pytest.approx(0.0206)


def test_long_cache_writes_cost_more() -> None:
    spent = cost(Usage(cache_write_long=1_000_000), OPUS)
    assert spent is not None
    assert spent.input == pytest.approx(8.0)


def test_missing_cache_prices_are_the_input_price() -> None:
    model = describe("x", "y", {"prices": {"input": 2, "output": 4}})
    spent = cost(Usage(input=1, cache_read=1, cache_write=1, cache_write_long=1), model)
    assert spent is not None
    assert spent.input == pytest.approx(8e-6)


@pytest.mark.parametrize(("prompt", "dollars"), [(200_000, 0.6), (200_001, 1.200006)])
def test_a_long_prompt_raises_all_prices(prompt: int, dollars: float) -> None:
    spent = cost(Usage(input=prompt), describe("anthropic", "claude-sonnet-4-5"))
    assert spent is not None
    assert spent.input == pytest.approx(dollars)


def test_a_model_without_prices_has_no_cost() -> None:
    assert cost(Usage(input=1), describe("anthropic", "nobody")) is None


def test_the_price_list_agrees_with_the_catalogue_and_knows_its_limits() -> None:
    usage = Usage(1000, 500, 0, 8000, 1000)
    listed = cost_from_price_list(usage, "anthropic", "claude-opus-5-5")
    assert listed is not None
    assert listed.total == pytest.approx(0.0206)
    assert cost_from_price_list(usage, "anthropic", "no-such-model") is None
    long = cost_from_price_list(Usage(cache_write_long=1000), "anthropic", "claude-opus-5-5")
    assert long is not None
    assert long.total == pytest.approx(0.008)


@pytest.mark.parametrize(
    ("usage", "percent"),
    [
        (Usage(input=1000, cache_read=3000), 75),
        (Usage(), None),
        (Usage(input=2, cache_read=1), 33),
    ],
)
def test_the_share_of_the_cache_is_floored(usage: Usage, percent: int | None) -> None:  # 104
    assert cache_percent(usage) == percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3999, "3,999"),
        (4000, "4K"),
        (4500, "4.5K"),
        (4040, "4K"),
        (999_949, "999.9K"),
        (999_950, "1M"),
        (1_200_000, "1.2M"),
    ],
)
def test_tokens(value: int, text: str) -> None:
    assert format_tokens(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "$0"),
        (3, "$3"),
        (1.5, "$1.50"),
        (1234.5, "$1,234.50"),
        (0.125, "$0.125"),
        (0.12, "$0.12"),
        (0.02, "$0.02"),
        (0.0042, "$0.0042"),
        (0.004, "$0.004"),
        (0.0049996, "$0.005"),
        (-0.5, "-$0.50"),
    ],
)
def test_money(value: float, text: str) -> None:
    assert format_money(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.9, "3s"), (63, "1m 3s"), (3723, "1h 2m 3s"), (-1, "0s")]
)
def test_elapsed(seconds: float, text: str) -> None:
    assert format_elapsed(seconds) == text


def test_numbers() -> None:
    assert format_number(20449) == "20,449"

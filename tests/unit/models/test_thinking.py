"""Levels, budgets and efforts (spec: behaviour 11.1, providers 1.3)."""

from typing import Any

import pytest

from flemma.models.catalogue import catalogue, describe
from flemma.models.thinking import LEVELS, ThinkingPlan, budget_of, level_of, plan_thinking


@pytest.mark.parametrize(
    ("tokens", "level"),
    [
        (1, "minimal"),
        (256, "minimal"),
        (257, "low"),
        (4096, "low"),
        (12288, "medium"),
        (24576, "high"),
        (24577, "max"),
    ],
)
def test_a_number_stands_for_a_level(tokens: int, level: str) -> None:
    assert level_of(tokens) == level


@pytest.mark.parametrize(
    ("level", "budget"),
    [("minimal", 1024), ("low", 2048), ("medium", 8192), ("high", 16384), ("max", 64_000)],
)
def test_a_level_has_a_budget(level: str, budget: int) -> None:
    assert budget_of(level, describe("anthropic", "claude-sonnet-4-5")) == budget


def plan(model: str, thinking: Any, max_tokens: int = 64_000, **specific: Any) -> ThinkingPlan:
    return plan_thinking(thinking, specific, describe("anthropic", model), max_tokens)


@pytest.mark.parametrize("off", [None, False, 0, -1])
def test_thinking_can_be_off(off: Any) -> None:
    assert plan("claude-sonnet-4-6", off) == ThinkingPlan("omit")


@pytest.mark.parametrize(
    ("thinking", "specific", "budget"),
    [
        (20_000, {}, 20_000),
        ("low", {"thinking_budget": 20_000.7}, 20_000),
        ("low", {"thinking_budget": 100}, 1024),
        ("low", {"thinking_budget": 999_999}, 63_999),
        (300, {}, 1024),
    ],
)
def test_a_budget_is_floored_and_clamped(
    thinking: Any, specific: dict[str, Any], budget: int
) -> None:
    assert plan("claude-haiku-4-5", thinking, **specific).budget == budget


def test_a_budget_stays_below_max_tokens() -> None:  # acceptance 97
    assert plan("claude-sonnet-4-5", "high", 8000, thinking_budget=20_000).budget == 7999


@pytest.mark.parametrize("max_tokens", [1, 1024])
def test_no_room_for_the_least_budget_turns_thinking_off_with_a_word(max_tokens: int) -> None:
    planned = plan("claude-sonnet-4-5", "high", max_tokens)
    assert planned.form == "omit"
    assert "max_tokens" in planned.warnings[0]


def test_a_budget_of_nothing_turns_thinking_off() -> None:
    assert plan("claude-sonnet-4-6", "high", thinking_budget=0).form == "omit"


@pytest.mark.parametrize(
    ("level", "effort"),
    [("minimal", "low"), ("low", "low"), ("medium", "medium"), ("high", "high"), ("max", "max")],
)
def test_levels_become_efforts_on_adaptive_models(level: str, effort: str) -> None:
    assert plan("claude-sonnet-4-6", level) == ThinkingPlan("adaptive", effort=effort)


def test_a_number_becomes_an_effort_on_adaptive_models() -> None:
    assert plan("claude-opus-5", 10_000).effort == "medium"


def test_an_effort_that_the_model_lacks_is_lowered_with_a_word() -> None:
    planned = plan("claude-sonnet-4-6", "high", effort="xhigh")
    assert planned.effort == "high"
    assert "xhigh" in planned.warnings[0]
    assert plan("claude-opus-4-8", "high", effort="xhigh") == ThinkingPlan(
        "adaptive", effort="xhigh"
    )
    assert "huge" in plan("claude-opus-4-8", "high", effort="huge").warnings[0]


def test_an_unknown_level_is_said_and_taken_as_high() -> None:
    planned = plan("claude-sonnet-4-6", "hihg")
    assert planned.effort == "high"
    assert "hihg" in planned.warnings[0]


def test_a_model_that_always_thinks_says_so() -> None:
    planned = plan("claude-fable-5-1", None)
    assert (planned.form, planned.effort) == ("adaptive", "low")
    assert "cannot be turned off" in planned.warnings[0]


def test_only_accepted_forms_and_efforts_are_ever_planned() -> None:
    known = catalogue("anthropic")
    assert known is not None
    for model in known.models.values():
        for level in (*LEVELS, None, 5000):
            for effort in (None, "low", "max"):
                planned = plan_thinking(level, {"effort": effort}, model, 64_000)
                assert planned.effort is None or planned.effort in model.efforts
                if planned.thinks:
                    assert planned.form in model.thinking_forms
                else:
                    assert planned.form == model.thinking_off

"""Thinking in requests (providers 1.3, 1.5, 1.7; cases B-08, B-10, B-11)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from flemma.conversation.messages import (
    ThinkingPart,
)
from flemma.providers.anthropic.provider import AnthropicProvider
from tests.unit.providers.conversations import (
    PARAMETERS,
    assistant,
    blocks,
    body,
    build,
    call,
    result,
    signed,
    user,
    wire,
)


def test_signed_thinking_goes_back_verbatim_and_first() -> None:
    text = " spaces \n\nkept "
    messages = wire(user("a"), assistant("Answer.", signed(text), call("t")), user(result("t")))
    assert messages[1]["content"][0] == {"type": "thinking", "thinking": text, "signature": "c2ln"}
    assert blocks(messages[1])[1:] == ["text:Answer.", "tool_use:t"]


def test_thinking_between_calls_stays_in_its_place() -> None:
    parts = (signed("one"), call("a"), signed("two"), call("b"))
    messages = wire(user("x"), assistant(*parts), user(result("a"), result("b")))
    assert blocks(messages[1]) == ["thinking:one", "tool_use:a", "thinking:two", "tool_use:b"]


def test_thinking_without_text_but_with_signature_is_kept() -> None:
    assert blocks(wire(user("a"), assistant(signed(""), "b"), user("c"))[1]) == [
        "thinking:",
        "text:b",
    ]


def test_thinking_that_nothing_follows_is_left_out() -> None:
    messages = wire(user("a"), assistant("b", call("t")), user(result("t")), assistant(signed()))
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]


def test_redacted_thinking_goes_back() -> None:  # B-10, acceptance 17
    part = ThinkingPart("b3BhcXVl\n", None, None, redacted=True)
    assert blocks(wire(user("a"), assistant(part, "b"), user("c"))[1]) == [
        "redacted_thinking:b3BhcXVl",
        "text:b",
    ]


@pytest.mark.parametrize(
    "part",
    [
        ThinkingPart(" Tides. ", "openai", "enc"),
        ThinkingPart("Tides.", None, None),
        ThinkingPart("Tides.", "anthropic", ""),
    ],
)
def test_foreign_thinking_becomes_a_note_of_the_next_user_message(part: ThinkingPart) -> None:
    # B-11: no tags, and nothing in the assistant's own words that it could imitate.
    messages = wire(user("a"), assistant(part, "b"), user("c"))
    assert blocks(messages[1]) == ["text:b"]
    assert blocks(messages[2]) == [
        "text:Here is some context to help you:\n\nTides.\n\n---",
        "text:c",
    ]
    assert "<thinking>" not in json.dumps(messages)


def test_a_note_of_foreign_thinking_comes_after_the_results() -> None:
    part = ThinkingPart("Tides.", "vertex", "x")
    messages = wire(user("a"), assistant(part, call("t")), user(result("t"), "c"))
    assert [text.split(":")[0] for text in blocks(messages[2])] == ["tool_result", "text", "text"]


def test_foreign_thinking_can_be_dropped() -> None:
    parameters = replace(PARAMETERS, foreign_thinking="drop")
    part = ThinkingPart("Tides.", "openai", "enc")
    assert "Tides" not in json.dumps(
        wire(user("a"), assistant(part, "b"), user("c"), parameters=parameters)
    )


def test_redacted_thinking_of_another_provider_is_never_sent() -> None:
    part = ThinkingPart("secret", "openai", None, redacted=True)
    assert "secret" not in json.dumps(wire(user("a"), assistant(part, "b"), user("c")))


def test_mismatched_thinking_is_left_to_the_server_where_it_can_drop_it() -> None:  # B-08
    parameters = replace(PARAMETERS, model="claude-opus-5-5", drop_mismatched_thinking=True)
    messages = (user("a"), assistant(signed(), "b"), user("c"))
    request = build(*messages, parameters=parameters)
    sent = json.loads(request.body)
    assert sent["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert request.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert blocks(sent["messages"][1])[0] == "thinking:hm"


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-sonnet-4-5"])
def test_mismatched_thinking_is_not_sent_where_the_server_cannot_drop_it(model: str) -> None:
    parameters = replace(PARAMETERS, model=model, drop_mismatched_thinking=True)
    request = build(user("a"), assistant(signed(), "b"), user("c"), parameters=parameters)
    assert b'"signature"' not in request.body
    assert b"block_binding" not in request.body
    assert "anthropic-beta" not in request.headers


def test_a_budget_is_off_in_a_tool_loop_that_did_not_begin_with_thinking() -> None:  # B-08
    parameters = replace(PARAMETERS, model="claude-sonnet-4-5")
    looping = (user("a"), assistant(call("t")), user(result("t")))
    assert "thinking" not in body(*looping, parameters=parameters)
    thought = (user("a"), assistant(signed(), call("t")), user(result("t")))
    assert body(*thought, parameters=parameters)["thinking"]["type"] == "enabled"
    over = (*looping, assistant("done"), user("next"))
    assert body(*over, parameters=parameters)["thinking"]["type"] == "enabled"


@pytest.mark.parametrize(
    ("model", "thinking", "specific", "expected"),
    [
        (
            "claude-sonnet-4-6",
            "high",
            {},
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "high"},
            },
        ),
        ("claude-sonnet-4-6", None, {}, {}),
        (
            "claude-sonnet-4-6",
            "low",
            {"thinking_budget": 20000},
            {"thinking": {"type": "enabled", "budget_tokens": 7999}},
        ),
        (
            "claude-opus-4-5",
            "max",
            {},
            {
                "thinking": {"type": "enabled", "budget_tokens": 7999},
                "output_config": {"effort": "high"},
            },
        ),
        (
            "claude-sonnet-4-5",
            "low",
            {},
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        ),
        ("claude-sonnet-5", None, {}, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", None, {}, {"thinking": {"type": "between_tools"}}),
        (
            "claude-haiku-5-5",
            None,
            {"effort": "max"},
            {"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}},
        ),
        (
            "claude-opus-5-5",
            None,
            {},
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "low"},
            },
        ),
        (
            "claude-opus-5-5",
            "low",
            {"effort": "xhigh"},
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "xhigh"},
            },
        ),
    ],
)
def test_thinking_is_asked_for_in_the_models_own_way(
    model: str, thinking: str | None, specific: dict[str, Any], expected: dict[str, Any]
) -> None:  # acceptance 97
    parameters = replace(PARAMETERS, model=model, thinking=thinking, specific=specific)
    sent = body(user("hi"), parameters=parameters)
    assert {key: sent[key] for key in ("thinking", "output_config") if key in sent} == expected


@pytest.mark.parametrize(
    ("model", "thinking", "sent"),
    [
        ("claude-sonnet-4-6", None, True),
        ("claude-sonnet-4-6", "low", False),
        ("claude-opus-4-8", None, False),
        ("claude-sonnet-5", None, False),
    ],
)
def test_temperature_goes_only_where_it_is_taken(
    model: str, thinking: str | None, sent: bool
) -> None:
    parameters = replace(PARAMETERS, model=model, thinking=thinking, temperature=0.3)
    assert ("temperature" in body(user("hi"), parameters=parameters)) is sent
    warned = any("temperature" in text for text in AnthropicProvider().warnings(parameters))
    assert warned is not sent

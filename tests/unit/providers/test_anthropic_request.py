"""The request body as a whole, and the text in it (behaviour 11.2; cases B-14, B-20, S-23)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flemma.conversation.messages import (
    Conversation,
    ImagePart,
    Message,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.errors import ErrorKind, ProviderError
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.protocol import WireTool
from tests.support.anthropic_rules import violations
from tests.unit.providers.conversations import (
    PARAMETERS,
    PNG,
    READ,
    assistant,
    blocks,
    body,
    build,
    result,
    signed,
    user,
    wire,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "anthropic"
MODELS = ["claude-sonnet-4-6", "claude-sonnet-4-5", "claude-opus-5-5", "claude-opus-4-5"]

FULL = (
    user("Look at the harbour.\n"),
    assistant(
        signed("Read first."),
        "Looking.  \n",
        ToolUsePart("toolu_1", "read", {"path": "harbour.md", "label": "reading"}),
        ToolUsePart("toolu_2", "flemma.jobs.status", {}),
    ),
    user(result("toolu_1", "gulls"), result("toolu_2", "no such job", is_error=True), "Thanks."),
)
TOOLS = (
    WireTool("write", "Write a file", {"type": "object", "properties": {"b": {}, "a": {}}}),
    WireTool("flemma__jobs__status", "Ask about a job", {"type": "object", "properties": {}}),
    READ,
)


@pytest.mark.parametrize("retention", ["short", "long", "none"])
def test_the_body_is_as_recorded(retention: str) -> None:  # B-24, acceptance 98
    parameters = replace(PARAMETERS, cache_retention=retention)
    request = build(*FULL, parameters=parameters, tools=TOOLS, system="Be brief.\n")
    golden = GOLDEN / f"request_{retention}.json"
    assert request.body.decode() + "\n" == golden.read_text(encoding="utf-8")


def test_keys_that_change_come_last_and_bytes_are_stable() -> None:  # acceptance 100
    first = build(*FULL, tools=TOOLS, system="s").body
    assert first == build(*FULL, tools=TOOLS, system="s").body
    assert list(json.loads(first))[-3:] == ["system", "tools", "messages"]


def test_the_previous_messages_are_an_unchanged_prefix() -> None:  # S-23, acceptance 100
    short = build(*FULL, tools=TOOLS, system="s").body
    grown = (*FULL, assistant("You are welcome. "), user("More."))
    assert build(*grown, tools=TOOLS, system="s").body.startswith(short.removesuffix(b"]}"))


def test_trailing_line_breaks_of_the_last_message_are_not_part_of_the_prefix() -> None:  # S-23
    assert build(user("hello")).body == build(user("hello\n\n")).body


def test_tools_are_ordered_by_internal_name_whatever_order_they_come_in() -> None:
    names = [tool["name"] for tool in body(*FULL, tools=TOOLS)["tools"]]
    assert names == ["flemma__jobs__status", "read", "write"]
    assert build(*FULL, tools=TOOLS).body == build(*FULL, tools=TOOLS[::-1]).body


def test_tool_choice_goes_only_with_tools() -> None:
    assert "tool_choice" not in body(user("hi"))
    assert body(user("hi"), tools=(READ,))["tool_choice"] == {"type": "auto"}


def test_a_blank_system_prompt_is_left_out() -> None:
    assert "system" not in body(user("hi"), system=" \n")


def test_a_schema_with_alternatives_at_the_top_is_folded() -> None:  # B-18
    schema = {
        "anyOf": [
            {"type": "object", "properties": {"a": {}, "c": {}}, "required": ["a", "c"]},
            {"type": "object", "properties": {"b": {}, "c": {}}, "required": ["b", "c"]},
        ]
    }
    tool = WireTool("pick", "d", schema)
    sent = body(user("hi"), tools=(tool,))["tools"][0]["input_schema"]
    assert sent == {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"]}


def test_empty_properties_from_lua_become_an_object() -> None:  # B-24
    tool = WireTool("now", "d", {"type": "object", "properties": []})
    assert body(user("hi"), tools=(tool,))["tools"][0]["input_schema"]["properties"] == {}


def test_blank_parts_and_messages_are_left_out_and_neighbours_joined() -> None:
    messages = wire(user("a"), assistant(" \n"), user("  ", "b"))
    assert [(message["role"], blocks(message)) for message in messages] == [
        ("user", ["text:a", "text:b"])
    ]


def test_assistant_text_is_trimmed_on_the_wire_only() -> None:  # B-20
    part = TextPart("\n\nDone. \n")
    assert blocks(wire(user("a"), assistant(part), user("b"))[1]) == ["text:Done."]
    assert part.text == "\n\nDone. \n"


def test_the_aborted_marker_stays_where_it_was_said() -> None:  # acceptance 19
    marker = "<!-- Response interrupted by the user. -->"
    messages = wire(user("a"), assistant("Half", marker), user("b"))
    assert blocks(messages[1]) == ["text:Half", f"text:{marker}"]


def test_the_first_message_must_be_the_users() -> None:
    with pytest.raises(ProviderError, match="first message must be the user's") as caught:
        build(assistant("hello"), user("hi"))
    assert caught.value.kind is ErrorKind.INVALID_REQUEST


def test_a_conversation_without_content_is_refused() -> None:
    with pytest.raises(ProviderError, match="No messages found in buffer"):
        build(user(" "))


def test_an_answer_at_the_end_is_continued_where_no_prefill_is_taken() -> None:
    assert blocks(wire(user("a"), assistant("Half a"))[-1]) == [
        "text:Continue from where you stopped."
    ]
    provider = AnthropicProvider()
    parameters = replace(PARAMETERS, model="claude-sonnet-4-5", thinking=None)
    conversation = Conversation(None, (user("a"), assistant("Half a ")))
    request = provider.build(conversation, parameters, (), "key", {})
    last = json.loads(request.body)["messages"][-1]
    assert (last["role"], blocks(last)) == ("assistant", ["text:Half a"])


def test_halves_of_surrogate_pairs_cannot_spoil_the_body() -> None:  # B-14
    use = ToolUsePart("a", "write", {"k\udc80": ["\ud83d\udc26", "\ud83d"]})
    text = body(user("x\udcff"), assistant(use), user(result("a", "cut \ud83d")))
    assert text["messages"][0]["content"][0]["text"] == "x\ufffd"
    assert text["messages"][1]["content"][0]["input"] == {"k\ufffd": ["🐦", "\ufffd"]}
    assert text["messages"][2]["content"][0]["content"] == "cut \ufffd"


def test_a_number_that_is_no_json_becomes_null() -> None:
    use = ToolUsePart("a", "write", {"n": float("nan"), "m": [float("inf"), 1.5]})
    assert wire(user("x"), assistant(use))[1]["content"][0]["input"] == {
        "n": None,
        "m": [None, 1.5],
    }


texts = st.sampled_from(["", " ", "\n", "hello", "a \n", "<thinking>", "\ud83d", "\udc80x"])
ids = st.sampled_from(["a", "b", "a.b", "a:b", "", "x" * 70])
content = st.one_of(texts.map(TextPart), st.just(ImagePart("image/png", PNG, "p.png")))
parts: st.SearchStrategy[Part] = st.one_of(
    content,
    st.builds(
        ThinkingPart,
        texts,
        st.sampled_from(["anthropic", "openai", None]),
        st.sampled_from(["c2ln", "", None]),
        st.booleans(),
    ),
    st.builds(ToolUsePart, ids, st.sampled_from(["read", "a.b", "ö", "n" * 80]), st.just({})),
    st.builds(ToolResultPart, ids, st.lists(content, max_size=2).map(tuple), st.booleans()),
)
messages_strategy = st.lists(
    st.builds(Message, st.sampled_from(Role), st.lists(parts, max_size=4).map(tuple)), max_size=7
)


@settings(max_examples=300, deadline=None)
@given(messages_strategy, st.sampled_from(MODELS), st.booleans(), st.sampled_from(["high", None]))
def test_whatever_is_in_the_file_the_api_takes_the_body(
    messages: list[Message], model: str, dropping: bool, thinking: str | None
) -> None:  # B-01, B-06, B-07, B-19, B-20
    parameters = replace(
        PARAMETERS, model=model, drop_mismatched_thinking=dropping, thinking=thinking
    )
    full = Conversation("system", (user("start"), *messages, user("end")))
    request = AnthropicProvider().build(full, parameters, (READ,), "key", {})
    assert violations(request.headers, request.body) == []


@given(messages_strategy)
@settings(max_examples=100, deadline=None)
def test_two_builds_of_anything_are_equal(messages: list[Message]) -> None:  # S-23
    full = Conversation("system", (user("start"), *messages, user("end")))
    provider = AnthropicProvider()
    first = provider.build(full, PARAMETERS, (READ,), "key", {})
    assert provider.build(full, PARAMETERS, (READ,), "key", {}).body == first.body

"""The request body (spec: behaviour 11.2, providers 1.2 to 1.7; cases B-06 to B-20, S-23)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flemma.conversation.messages import (
    Conversation,
    DocumentPart,
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
from flemma.ports.http import HttpRequest
from flemma.providers.anthropic.limits import largest_items
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.protocol import Parameters, WireTool
from tests.support.anthropic_rules import violations

GOLDEN = Path(__file__).parents[2] / "golden" / "anthropic"
MODELS = ["claude-sonnet-4-6", "claude-sonnet-4-5", "claude-opus-5-5", "claude-opus-4-5"]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (64).to_bytes(4, "big") + (32).to_bytes(4, "big")
PARAMETERS = Parameters("claude-sonnet-4-6", 8000)
READ = WireTool("read", "Read a file", {"type": "object", "properties": {}})


def user(*parts: Part | str) -> Message:
    return Message(Role.USER, tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def assistant(*parts: Part | str) -> Message:
    return Message(Role.ASSISTANT, tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def call(identifier: str, name: str = "read") -> ToolUsePart:
    return ToolUsePart(identifier, name, {"path": identifier})


def result(identifier: str, text: str = "fine", *, is_error: bool = False) -> ToolResultPart:
    return ToolResultPart(identifier, (TextPart(text),), is_error)


def signed(text: str = "hm", signature: str = "c2ln") -> ThinkingPart:
    return ThinkingPart(text, "anthropic", signature)


def build(
    *messages: Message,
    parameters: Parameters = PARAMETERS,
    tools: tuple[WireTool, ...] = (),
    system: str | None = None,
    environment: dict[str, str] | None = None,
    secret: str = "key",
) -> HttpRequest:
    conversation = Conversation(system, messages)
    request = AnthropicProvider().build(conversation, parameters, tools, secret, environment or {})
    assert violations(request.headers, request.body) == []
    return request


def body(*messages: Message, **options: Any) -> dict[str, Any]:
    return json.loads(build(*messages, **options).body)


def wire(*messages: Message, **options: Any) -> list[dict[str, Any]]:
    return body(*messages, **options)["messages"]


def blocks(message: dict[str, Any]) -> list[str]:
    """Tell a message's blocks shortly: kind and what identifies it."""
    return [
        block["type"] + ":" + str(block.get("text") or block.get("id") or block.get("tool_use_id")
                                  or block.get("thinking") or block.get("data") or "")
        for block in message["content"]
    ]  # fmt: skip


# The whole body --------------------------------------------------------------------------------


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


# Pairing -----------------------------------------------------------------------------------------


def test_results_come_first_and_in_call_order() -> None:
    messages = wire(
        user("go"), assistant(call("a"), call("b")), user("text", result("b"), result("a"))
    )
    assert blocks(messages[2]) == ["tool_result:a", "tool_result:b", "text:text"]


def test_text_between_call_and_result_goes_behind_the_result() -> None:  # B-06
    messages = wire(
        user("go"),
        assistant(call("a")),
        user("wait"),
        user(result("a")),
    )
    assert blocks(messages[2]) == ["tool_result:a", "text:wait"]


def test_a_result_that_comes_much_later_is_moved_to_its_call() -> None:  # B-06
    messages = wire(
        user("go"),
        assistant(call("a")),
        user("wait"),
        assistant("Waiting."),
        user(result("a"), "x"),
    )
    assert [blocks(message) for message in messages] == [
        ["text:go"],
        ["tool_use:a"],
        ["tool_result:a", "text:wait"],
        ["text:Waiting."],
        ["text:x"],
    ]


def test_a_call_without_result_gets_one_right_after_it() -> None:  # B-01, B-02, acceptance 53
    messages = wire(user("go"), assistant(call("a"), call("b")), user(result("b"), "and?"))
    assert messages[2]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": "No result provided",
        "is_error": True,
    }
    assert blocks(messages[2])[1:] == ["tool_result:b", "text:and?"]


def test_a_result_without_call_becomes_text() -> None:
    messages = wire(user("go"), assistant("ok"), user(result("gone", "old output")))
    text = "".join(block["text"] for block in messages[2]["content"])
    assert "gone" in text
    assert text.endswith("old output")


def test_a_second_result_of_the_same_call_wins() -> None:  # acceptance 14
    messages = wire(user("go"), assistant(call("a")), user(result("a", "1"), result("a", "2")))
    assert [block["content"] for block in messages[2]["content"]] == ["2"]


def test_an_id_used_again_is_renamed_and_results_go_to_the_right_call() -> None:  # B-07
    messages = wire(
        user("go"),
        assistant(call("a")),
        user(result("a", "first")),
        assistant(call("a"), call("a")),
        user(result("a", "second"), result("a", "third")),
    )
    assert blocks(messages[3]) == ["tool_use:a_2", "tool_use:a_3"]
    assert [
        (block["tool_use_id"], block["content"])
        for message in (messages[2], messages[4])
        for block in message["content"]
    ] == [("a", "first"), ("a_2", "second"), ("a_3", "third")]


def test_foreign_ids_are_bent_into_shape_on_both_sides() -> None:  # B-19
    messages = wire(
        user("go"),
        assistant(call("functions.bash:0"), call("x" * 90), call("::")),
        user(result("functions.bash:0"), result("x" * 90), result("::")),
    )
    assert blocks(messages[1]) == [
        "tool_use:functions_bash_0",
        "tool_use:" + "x" * 64,
        "tool_use:call",
    ]
    assert [block["content"] for block in messages[2]["content"]] == ["fine"] * 3


def test_two_ids_that_become_equal_stay_apart() -> None:
    messages = wire(user("go"), assistant(call("a.b"), call("a:b")), user(result("a:b", "colon")))
    assert blocks(messages[1]) == ["tool_use:a_b", "tool_use:a_b_2"]
    assert messages[2]["content"][1]["content"] == "colon"


def test_a_tool_name_gets_its_wire_form_even_when_illegal() -> None:  # B-18
    long = "server." + "n" * 80
    messages = wire(user("go"), assistant(call("a", "slack.post"), call("b", long)))
    first, second = (block["name"] for block in messages[1]["content"])
    assert first == "slack__post"
    assert len(second) == 64


# Text --------------------------------------------------------------------------------------------


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


# Thinking ----------------------------------------------------------------------------------------


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


# Results and attachments -------------------------------------------------------------------------


def test_a_text_result_is_a_string_and_an_empty_one_says_so() -> None:
    empty = ToolResultPart("b", ())
    messages = wire(user("x"), assistant(call("a"), call("b")), user(result("a", "1"), empty))
    assert [block["content"] for block in messages[2]["content"]] == ["1", "(no output)"]
    assert all("is_error" not in block for block in messages[2]["content"])


def test_a_result_with_an_image_is_a_list_of_blocks() -> None:
    part = ToolResultPart(
        "a", (TextPart("seen: "), TextPart(" "), ImagePart("image/png", PNG, "p"))
    )
    (sent,) = wire(user("x"), assistant(call("a")), user(part))[2]["content"]
    assert [block["type"] for block in sent["content"]] == ["text", "image"]


def test_an_error_result_holds_text_only() -> None:
    parts = (TextPart("boom "), ImagePart("image/png", PNG, "shot.png"))
    part = ToolResultPart("a", parts, is_error=True)
    (sent,) = wire(user("x"), assistant(call("a")), user(part))[2]["content"]
    assert (sent["content"], sent["is_error"]) == ("boom [shot.png]", True)


def test_the_media_type_follows_the_bytes_not_the_name() -> None:
    image = wire(user("x", ImagePart("image/jpeg", PNG, "photo.jpg")))[0]["content"][1]
    assert image["source"]["media_type"] == "image/png"


def test_a_pdf_has_its_base_name_as_title() -> None:
    document = wire(user("x", DocumentPart("application/pdf", b"%PDF-1.4", "/tmp/a b.pdf")))[0]
    assert document["content"][1]["title"] == "a b.pdf"


def big_png(width: int, height: int, size: int = 0) -> bytes:
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR"
    return head + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\0" * size


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        (
            ImagePart("image/png", big_png(10, 10, 4_200_000), "huge.png"),
            "huge.png: the image is 4.0MB",
        ),
        (ImagePart("image/png", big_png(9000, 10), "wide.png"), "wide.png: the image has 9000x10"),
        (ImagePart("image/svg+xml", b"<svg/>", "a.svg"), "a.svg: image/svg+xml is not supported"),
        (ImagePart("image/png", b"", "empty.png"), "empty.png: the image is empty"),
        (
            DocumentPart("application/pdf", b"%PDF" + b"<</Type /Page>>" * 101, "book.pdf"),
            "book.pdf: the document has 101 pages; the limit is 100",
        ),
        (
            DocumentPart("application/pdf", b"<</Type/Pages /Kids [] /Count 640>>", "t.pdf"),
            "t.pdf: the document has 640 pages",
        ),
    ],
)
def test_what_would_be_refused_is_blamed_by_name_before_sending(
    part: ImagePart | DocumentPart, complaint: str
) -> None:  # B-16
    wrapped = ToolResultPart("a", (part,))
    for message in ((user("see", part),), (user("x"), assistant(call("a")), user(wrapped))):
        with pytest.raises(ProviderError, match="attachments would be refused") as caught:
            build(*message)
        assert caught.value.details[0].startswith(complaint)
    assert wire(user("see"))


def test_the_users_word_about_a_model_beats_the_catalogue() -> None:  # S-21
    declared = {"models": {"claude-sonnet-4-6": {"pdf_pages": 600}}}
    parameters = replace(PARAMETERS, specific=declared)
    document = DocumentPart("application/pdf", b"<</Type /Page>>" * 101, "book.pdf")
    assert wire(user("see", document), parameters=parameters)


def test_a_request_that_is_too_large_names_its_largest_items() -> None:  # B-17
    parts = (result("a", "x" * 20_000_000), result("b", "y" * 14_000_000), "please")
    with pytest.raises(ProviderError) as caught:
        build(user("go"), assistant(call("a"), call("b")), user(*parts))
    assert caught.value.kind is ErrorKind.TOO_LARGE
    assert caught.value.details[:2] == (
        "result of tool call a: 19.1MB",
        "result of tool call b: 13.4MB",
    )


def test_the_largest_items_are_named_shortly() -> None:
    conversation = Conversation(None, (user("hello", ImagePart("image/png", PNG, "a.png")),))
    assert largest_items(conversation) == ("a.png: 32B", "text of message 1 (user): 5B")


# Headers -----------------------------------------------------------------------------------------


def test_the_key_goes_into_its_own_header() -> None:
    request = build(user("hi"))
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert request.headers["x-api-key"] == "key"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.secret_headers >= {"x-api-key", "authorization"}


@pytest.mark.parametrize(
    ("environment", "secret"),
    [({"ANTHROPIC_AUTH_TOKEN": "token"}, "token"), ({}, "sk-ant-oat01-abc")],
)
def test_a_token_goes_as_bearer(environment: dict[str, str], secret: str) -> None:
    request = build(user("hi"), environment=environment, secret=secret)
    assert request.headers["authorization"] == f"Bearer {secret}"
    assert "x-api-key" not in request.headers


def test_a_key_wins_over_a_token() -> None:
    environment = {"ANTHROPIC_API_KEY": "same", "ANTHROPIC_AUTH_TOKEN": "same"}
    assert build(user("hi"), environment=environment, secret="same").headers["x-api-key"] == "same"


def test_the_environment_gives_address_and_headers() -> None:
    environment = {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1/",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: birds\nanthropic-beta: one\nbroken line",
    }
    parameters = replace(PARAMETERS, specific={"betas": ["two", "one"]})
    request = build(user("hi"), parameters=parameters, environment=environment)
    assert request.url == "http://127.0.0.1:9/v1/messages"
    assert request.headers["x-team"] == "birds"
    assert request.headers["anthropic-beta"] == "one,two"
    assert "x-team" in request.secret_headers


# Anything ----------------------------------------------------------------------------------------

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

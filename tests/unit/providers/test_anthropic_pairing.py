"""Calls and results brought together (providers 1.7; cases B-01, B-02, B-06, B-07, B-19)."""

from tests.unit.providers.conversations import (
    assistant,
    blocks,
    call,
    result,
    user,
    wire,
)


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

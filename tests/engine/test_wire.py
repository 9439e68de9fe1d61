"""What is sent: the order of results, ids, thinking, and bytes that stay the same."""

import itertools
import json

from tests.engine.bodies import calls, result_text, results
from tests.engine.conftest import Chat
from tests.support.anthropic_server import error, message, redacted, text, thinking, tool_use

QUESTION = "@System:\nYou are brief.\n\n@You:\nPlease go on.\n"
BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
    "different conversation."
)


def call(identifier: str, name: str = "bash", body: str = '{"command": "true"}') -> str:
    return f"**Tool Use:** `{name}` (`{identifier}`)\n```json\n{body}\n```\n"


def result(identifier: str, content: str) -> str:
    return f"**Tool Result:** `{identifier}`\n```\n{content}\n```\n"


def test_text_between_a_call_and_its_result_comes_after_the_result(chat: Chat):  # B-06
    chat.write(
        f"@You:\nGo.\n\n@Assistant:\nYes.\n\n{call('toolu_1')}\n@You:\nOne thought first.\n\n"
        f"{result('toolu_1', 'done')}\n"
    )
    chat.run(message(text("Fine.")))
    content = chat.bodies[0]["messages"][-1]["content"]
    assert [block["type"] for block in content] == ["tool_result", "text"]
    assert content[1]["text"].strip() == "One thought first."


def test_a_result_far_from_its_call_is_sent_right_after_it(chat: Chat):  # B-06
    chat.write(
        f"@You:\nGo.\n\n@Assistant:\n{call('toolu_1')}\n@You:\nNever mind.\n\n"
        f"@Assistant:\nSure?\n\n@You:\n{result('toolu_1', 'late')}\nYes.\n"
    )
    chat.run(message(text("Fine.")))
    following = chat.bodies[0]["messages"][2]["content"]
    assert following[0]["type"] == "tool_result"
    assert result_text(following[0]) == "late"


def test_one_id_for_two_calls_gives_each_its_own_result(chat: Chat):  # B-07
    chat.write(QUESTION)
    chat.run(
        message(tool_use("toolu_same", "bash", {"command": "echo one"})),
        message(tool_use("toolu_same", "bash", {"command": "echo two"})),
        message(text("Two different things.")),
        approve=("bash",),
    )
    body = chat.bodies[-1]
    identifiers = calls(body)
    assert len(set(identifiers)) == 2
    told = [result_text(results(body)[identifier]) for identifier in identifiers]
    assert told == ["one", "two"]


def test_one_id_twice_in_one_answer_gives_each_its_own_result(chat: Chat):  # B-07
    chat.write(QUESTION)
    chat.run(
        message(
            tool_use("toolu_same", "bash", {"command": "echo one"}),
            tool_use("toolu_same", "bash", {"command": "echo two"}),
        ),
        message(text("Two different things.")),
        approve=("bash",),
    )
    body = chat.bodies[-1]
    told = [result_text(results(body)[identifier]) for identifier in calls(body)]
    assert told == ["one", "two"]


def test_a_conversation_is_sent_with_the_same_bytes_each_time(chat: Chat):
    # acceptance 100, S-23
    chat.write(QUESTION)
    chat.run(
        message(
            thinking("I look."),
            text("Looking."),
            tool_use("toolu_1", "bash", {"timeout": 5, "command": "echo 1", "label": "x"}),
        ),
        error(400, "invalid_request_error", "not today"),
        approve=("bash",),
    )
    assert chat.server is not None
    refused = chat.server.requests[-1].body
    chat.run(message(text("Done.")), approve=("bash",))
    assert chat.server.requests[-1].body == refused


def test_each_turn_keeps_what_was_sent_before_as_its_prefix(chat: Chat):  # acceptance 100, S-23
    chat.write(QUESTION)
    chat.run(
        message(thinking("One."), text("A."), tool_use("toolu_1", "bash", {"command": "echo 1"})),
        message(thinking("Two."), text("B."), tool_use("toolu_2", "bash", {"command": "echo 2"})),
        message(text("C.")),
        approve=("bash",),
    )
    bodies = chat.bodies
    for before, after in itertools.pairwise(bodies):
        assert json.dumps(after["tools"]) == json.dumps(before["tools"])
        assert after["system"] == before["system"]
        sent = [json.dumps(entry) for entry in before["messages"]]
        assert [json.dumps(entry) for entry in after["messages"]][: len(sent)] == sent


def test_a_personality_does_not_carry_the_time_into_later_requests(chat: Chat):  # S-23
    chat.write("@System:\n{{ include('urn:flemma:personality:coding-assistant') }}\n\n@You:\nHi.\n")
    ran = chat.run(
        message(tool_use("toolu_1", "bash", {"command": "echo 1"})),
        message(text("Hello.")),
        approve=("bash",),
    )
    assert ran.code == 0
    first, second = chat.bodies
    assert "Current date" in first["system"][0]["text"]
    assert first["system"] == second["system"]


def test_thinking_comes_back_word_for_word(chat: Chat):  # B-10, issue A
    odd = "  Indented.\n\n**Tool Use:** `bash` (`x`)\n</thinking>\n@You:\n```\nopen fence\n  "
    chat.write(QUESTION)
    chat.run(
        message(
            thinking(odd, signature="c2lnLW9uZQ=="),
            redacted("b3BhcXVl"),
            tool_use("toolu_1", "bash", {"command": "echo 1"}),
        ),
        message(text("Done.")),
        approve=("bash",),
    )
    content = chat.bodies[-1]["messages"][1]["content"]
    assert content[0] == {"type": "thinking", "thinking": odd, "signature": "c2lnLW9uZQ=="}
    assert content[1] == {"type": "redacted_thinking", "data": "b3BhcXVl"}
    assert content[2]["type"] == "tool_use"


def test_after_an_edit_above_signed_thinking_the_request_goes_through_all_the_same(chat: Chat):
    # providers 1.5
    model = {"model": "claude-opus-5-5"}
    chat.configure({"sandbox": {"enabled": False}, **model})
    chat.write(QUESTION)
    chat.run(
        message(
            thinking("I think.", signature="c2lnLW9uZQ=="),
            tool_use("toolu_1", "bash", {"command": "echo 1"}),
        ),
        approve=("read",),
    )
    chat.replace("Please go on.", "Please go on, slowly.")
    ran = chat.run(
        error(400, "invalid_request_error", BOUND),
        message(tool_use("toolu_2", "bash", {"command": "echo 2"})),
        message(text("Done.")),
        approve=("bash",),
    )
    assert ran.code == 0
    plain, *dropping = chat.bodies
    assert "block_binding" not in plain.get("thinking", {})
    assert chat.server is not None
    for request, body in zip(chat.server.requests[1:], dropping, strict=True):
        # Not remembered by the service: every later request of the conversation asks for it.
        assert body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert "thinking-binding-controls-2026-08-01" in request.headers["anthropic-beta"]
    assert ran.messages == []

"""Requests that fail, break off, or are refused: what is kept, told and tried again."""

import pytest

from tests.engine.bodies import calls, result_text, results, said
from tests.engine.conftest import Chat
from tests.support.anthropic_server import (
    cut,
    error,
    message,
    raw,
    stream_error,
    text,
    thinking,
    tool_use,
)

QUESTION = "@You:\nPlease go on.\n"


@pytest.fixture
def asked(chat: Chat) -> Chat:
    """A chat with a question."""
    chat.write(QUESTION)
    return chat


def test_an_overload_before_anything_was_shown_is_tried_again(
    asked: Chat, waited: list[float]
):  # S-04, S-05
    ran = asked.run(
        stream_error(),
        stream_error(),
        error(529, "overloaded_error", "Overloaded"),
        message(text("Here I am.")),
    )
    assert ran.code == 0
    assert ran.text == QUESTION + "\n@Assistant:\nHere I am.\n\n@You:\n\n"
    assert len(waited) == 3
    assert waited[0] < waited[1] < waited[2]
    assert "retrying in" in ran.notices
    assert len({str(body) for body in asked.bodies}) == 1


def test_a_long_reason_for_a_pause_is_cut_with_a_mark(asked: Chat, waited: list[float]):
    reason = "The service has more to do than it can, and says so at a length nobody reads"
    ran = asked.run(error(529, "overloaded_error", reason), message(text("Here I am.")))
    assert ran.code == 0
    assert waited
    shown = ran.notices.partition(" — retrying in")[0]
    assert shown.endswith("…")
    assert reason not in ran.notices


def test_an_overload_that_does_not_end_is_given_up_and_told_once(
    asked: Chat, waited: list[float]
):  # S-05, S-17
    ran = asked.run(*[error(529, "overloaded_error", "Overloaded")] * 5)
    assert ran.code == 1
    assert ran.report["outcome"] == "failed"
    assert len(waited) == 4
    assert ran.text == QUESTION
    assert sum("Overloaded" in entry for entry in ran.messages) == 1


def test_an_overload_in_the_middle_keeps_the_text_and_a_new_run_goes_on(
    asked: Chat, waited: list[float]
):  # S-04, acceptance 55
    ran = asked.run(stream_error(text("Half of the answ")))
    assert ran.code == 1
    assert ran.text == QUESTION + "\n@Assistant:\nHalf of the answ\n"
    assert waited == []
    assert sum("Overloaded" in entry for entry in ran.messages) == 1
    asked.write(ran.text + "\n@You:\nGo on, please.\n")
    ran = asked.run(message(text("The other half.")))
    assert ran.code == 0
    assert said(asked.bodies[-1], "assistant") == ["Half of the answ"]
    assert "Half of the answ" in ran.text


def test_a_connection_that_breaks_in_the_middle_keeps_the_text(asked: Chat):
    ran = asked.run(cut(text("Half of"), ending="abort"))
    assert ran.code == 1
    assert "@Assistant:\nHalf of" in ran.text
    assert len(ran.messages) == 1


def test_the_wait_that_a_server_asks_for_is_kept(asked: Chat, waited: list[float]):  # S-06
    limited = error(429, "rate_limit_error", "Slow down", headers={"retry-after": "7"})
    ran = asked.run(limited, message(text("Now.")))
    assert ran.code == 0
    assert 7 <= waited[0] <= 8


def test_an_answer_that_is_too_long_for_the_model_is_not_mistaken_for_a_rate_limit(
    asked: Chat,
):  # S-06
    ran = asked.run(
        error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")
    )
    assert ran.code == 1
    assert len(ran.messages) == 1
    assert "too long for this model" in ran.messages[0]
    assert ran.text == QUESTION


def test_an_error_without_json_is_quoted_once(asked: Chat, waited: list[float]):
    # S-17, acceptance 103
    ran = asked.run(*[raw("<html>Bad gateway</html>", status=502)] * 5)
    assert ran.code == 1
    assert sum("Bad gateway" in entry for entry in ran.messages) == 1
    assert len(waited) == 4


def test_a_refused_key_is_told_with_the_way_out(asked: Chat):
    ran = asked.run(error(401, "authentication_error", "invalid x-api-key"))
    assert ran.code == 1
    assert "invalid x-api-key" in ran.notices
    assert "key-for-tests" not in ran.notices


def test_a_missing_key_names_every_place_that_was_tried(
    asked: Chat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    ran = asked.run()
    assert ran.code == 1
    assert "[environment] ANTHROPIC_API_KEY not set" in ran.notices
    assert ran.text == QUESTION


def test_nobody_listening_is_told_in_a_sentence(asked: Chat, waited: list[float]):
    ran = asked.play()
    assert ran.code == 1
    assert ran.text == QUESTION
    assert len([entry for entry in ran.messages if "127.0.0.1" in entry]) == 1


def test_an_empty_answer_is_asked_for_once_more_and_then_told(
    asked: Chat, waited: list[float]
):  # S-16
    ran = asked.run(message(), message())
    assert ran.code == 1
    assert ran.messages == ["Request completed but no response was received."]
    assert "@Assistant:" not in ran.text
    ran = asked.run(message(), message(text("Sorry.")))
    assert ran.code == 0


@pytest.mark.parametrize("arguments", ['{"command": "touch ra', '{"command": "touch ran"}', ""])
def test_a_call_cut_by_the_output_limit_never_runs_and_the_loop_stops(
    asked: Chat, arguments: str
):  # S-09
    ran = asked.run(
        message(
            text("I write."),
            tool_use("toolu_1", "bash", arguments, closed=False),
            stop_reason="max_tokens",
        ),
        approve=("bash",),
    )
    assert ran.code == 1
    assert not (asked.directory / "ran").exists()
    assert any("max output tokens" in entry for entry in ran.messages)
    assert "(error)" in ran.text
    asked.run(message(text("In pieces, then.")), approve=("bash",))
    result = results(asked.bodies[-1])["toolu_1"]
    assert result["is_error"]
    assert "cut" in result_text(result)


def test_finished_results_are_in_the_file_before_the_next_request_leaves(asked: Chat):  # S-18
    seen: list[str] = []

    def look(request: object):
        del request
        seen.append(asked.text)
        return error(400, "invalid_request_error", "no")

    ran = asked.run(message(tool_use("toolu_1", "bash", {"command": "echo worked"})), look,
                    approve=("bash",))  # fmt: skip
    assert ran.code == 1
    assert "**Tool Result:** `toolu_1`\n```\nworked\n```" in seen[0]
    assert "worked" in ran.text
    asked.run(message(text("Good.")))
    assert result_text(results(asked.bodies[-1])["toolu_1"]) == "worked"


def test_complete_calls_of_a_broken_stream_are_not_lost(asked: Chat):
    ran = asked.run(
        stream_error(text("Two."), tool_use("toolu_1", "bash", {"command": "echo one"})),
        approve=("bash",),
    )
    assert ran.code == 1
    ran = asked.run(message(text("Fine.")), approve=("bash",))
    assert calls(asked.bodies[-1]) == ["toolu_1"]
    assert list(results(asked.bodies[-1])) == ["toolu_1"]


def test_thinking_that_was_cut_never_becomes_text_of_the_answer(asked: Chat):  # B-11
    asked.run(stream_error(thinking("Hmm, let me", signature=None), text("Well")))
    asked.write(asked.text + "\n@You:\nAnd?\n")
    asked.run(message(text("Yes.")))
    assert all("<thinking>" not in words for words in said(asked.bodies[-1], "assistant"))


def test_an_unknown_provider_is_refused_with_the_nearest(asked: Chat):
    ran = asked.play(provider="antropic")
    assert ran.code == 2
    assert "Did you mean 'anthropic'?" in ran.notices
    assert ran.text == QUESTION

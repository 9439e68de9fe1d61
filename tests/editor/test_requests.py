"""One request, from the key to the prompt that is back (behaviour 2.5 to 2.7, 12.6, 12.15)."""

import re

import pytest

from tests.editor.chats import Chat, StartChat, bash, read
from tests.support.anthropic_server import (
    cut,
    error,
    message,
    pause,
    raw,
    stream_error,
    text,
    thinking,
    tool_use,
)

DONE = message(text("Done."))
BEFORE = "@You:\nGo."


def progress(chat: Chat) -> str:
    """What is shown of the request, in the line of the marker or in the bar."""
    seen = [shown for _, shown in chat.editor.virtual_text(chat.buffer)]
    return "\n".join([*seen, *chat.editor.screen_lines()])


def test_events_tell_of_requests_and_tools_in_order_with_their_data(start_chat: StartChat):
    replies = [message(read("toolu_1", "notes.txt"), usage={"input_tokens": 1000}), DONE]
    chat = start_chat(replies)
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.send()
    chat.wait_event("FlemmaRequestFinished", 2)
    events = [(name, data) for name, data in chat.events() if re.search("Request|Tool", name)]
    assert [name for name, _ in events] == [
        "FlemmaRequestSending",
        "FlemmaRequestFinished",
        "FlemmaToolExecuting",
        "FlemmaToolFinished",
        "FlemmaRequestSending",
        "FlemmaRequestFinished",
    ]
    call = {"bufnr": chat.buffer, "tool_name": "read", "tool_id": "toolu_1"}
    assert events[0][1] == {"bufnr": chat.buffer}
    assert events[2][1] == call
    assert events[3][1] == {**call, "status": "success"}
    finished = events[1][1]
    assert (finished["bufnr"], finished["status"]) == (chat.buffer, "completed")
    assert finished["request"]["model"] == "claude-sonnet-4-6"
    assert finished["request"]["tokens"]["input"] == 1000
    assert "FlemmaBootComplete" in [name for name, _ in chat.events()]


def test_a_failing_handler_of_an_event_is_told_and_breaks_nothing(start_chat: StartChat):
    chat = start_chat(
        [DONE], lua='require("flemma.hooks").on("request:sending", function() x() end)'
    )
    chat.send()
    chat.wait_answered()
    [told] = chat.told
    assert told.startswith("hook 'request:sending' handler error: ")


def test_progress_is_shown_in_each_phase_and_taken_away(start_chat: StartChat):
    reply = message(
        pause(0.4),
        thinking("x" * 1234, size=1),
        pause(0.4),
        text("some words"),
        pause(0.4),
        tool_use("toolu_1", "bash", {"label": "a label", "command": "true"}, size=4),
        delay=0.0002,
    )
    chat = start_chat([reply], options={"thinking": {"level": "low"}})
    chat.send()
    chat.wait_until(lambda: re.search(r"[⠁⠈⠐⠠⢀⡀⠄⠂] Waiting… · 0s", progress(chat)))
    chat.wait_until(lambda: re.search(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] [\d,]+ characters · \d+s", progress(chat)))
    chat.wait_until(lambda: re.search(r"[⣾⣷⣯⣟⡿⢿⣻⣽] 10 characters · \d+s", progress(chat)))
    chat.wait_for("(pending)")
    chat.wait_unlocked()
    chat.wait_until(lambda: "characters ·" not in progress(chat))
    assert chat.editor.extmarks("flemma_progress", chat.buffer) == []


def test_the_marks_of_a_call_tell_its_state(start_chat: StartChat):
    chat = start_chat([message(bash("toolu_1", "sleep 600")), DONE])
    chat.send()
    chat.wait_until(lambda: chat.shown("⏸ Pending"))
    chat.wait_cursor("**Tool Result:**")
    chat.keys("<M-CR>")
    chat.wait_until(lambda: chat.shown("Executing…"))
    chat.keys("<C-c>")
    chat.wait_until(lambda: chat.shown("⚠ Failed"))
    chat.wait_until(lambda: not chat.shown("⚠ Failed"))


@pytest.mark.parametrize("key", ["<C-]>", ":Flemma send<CR>"])
def test_a_second_send_during_a_request_is_refused(start_chat: StartChat, key: str):
    # Acceptance 52.
    chat = start_chat([cut(text("Some words"), pause(60))])
    chat.send()
    chat.wait_for("Some words")
    chat.keys(key)
    chat.wait_notified("A request is already in progress. Use <C-c> to cancel it first.")
    chat.put_cursor("@Assistant:")
    chat.keys("<M-CR>")
    chat.wait_notified("Cannot execute tool while API request is in flight")
    assert len(chat.server.requests) == 1


def test_a_plain_send_answers_an_open_call_with_a_made_up_error(start_chat: StartChat):
    # Acceptance 53.
    use = '**Tool Use:** `bash` (`toolu_1`)\n```json\n{"command": "true"}\n```\n'
    chat = start_chat([DONE], text=f"@You:\nGo.\n\n@Assistant:\n{use}\n@You:\nNever mind.\n")
    chat.keys(":Flemma send<CR>")
    chat.wait_answered("Done.\n\n@You:\n")
    assert any(
        "Tool call 'bash' (toolu_1) has no matching tool result. A synthetic 'No result provided' "
        "error response will be sent to the API." in told
        for told in chat.told
    )
    assert chat.result("toolu_1")["content"] == "No result provided"
    assert chat.result("toolu_1")["is_error"] is True


def test_a_plain_send_runs_commands_before_and_after(start_chat: StartChat):
    chat = start_chat([DONE])
    first, last = "let g:started = 1", "let g:ended = 1"
    chat.keys(f":Flemma send on_request_start='{first}' on_request_complete='{last}'<CR>")
    chat.wait_answered()
    chat.wait_until(lambda: chat.editor.exec_lua("return vim.g.ended") == 1)
    assert chat.editor.exec_lua("return vim.g.started") == 1


def test_an_empty_chat_sends_nothing(start_chat: StartChat):
    chat = start_chat([], text="@You:\n\n")
    chat.send()
    chat.wait_until(lambda: chat.told)
    chat.wait_unlocked()
    assert chat.server.requests == []
    assert chat.text == "@You:\n"


def test_an_error_in_the_middle_keeps_what_was_shown(start_chat: StartChat):
    # Acceptance 55; cases S-04, S-17.
    chat = start_chat([stream_error(text("Some words")), DONE])
    chat.send()
    chat.wait_until(lambda: chat.told)
    chat.wait_unlocked()
    assert chat.text == f"{BEFORE}\n\n@Assistant:\nSome words"
    assert chat.wait_event("FlemmaRequestFinished")[0]["status"] == "errored"
    chat.keys("Go@You:<CR>Again.<Esc>")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert len(chat.told) == 1
    assert "Overloaded" in chat.told[0]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (error(400, "invalid_request_error", "Nope."), ["invalid_request_error — Nope."]),
        (
            error(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            ["Your conversation is too long for this model."],
        ),
        (
            error(401, "authentication_error", "invalid x-api-key"),
            ["Authentication expired. Send again to generate a fresh token."],
        ),
        (
            raw("<html>\n  <p>Bad</p></html>", status=400),
            ["Unexpected API response: <html> <p>Bad</p></html>"],
        ),
    ],
)
def test_a_refused_request_leaves_no_trace_and_is_told_once(
    start_chat: StartChat, reply: object, words: list[str]
):
    # Acceptance 103; case S-17.
    chat = start_chat([reply, DONE])
    chat.send()
    chat.wait_until(lambda: chat.told)
    chat.wait_unlocked()
    assert chat.text == BEFORE
    chat.send()
    chat.wait_answered()
    assert len(chat.told) == 1
    assert [word for word in words if word not in chat.told[0]] == []


def test_a_transient_error_is_repaired_without_a_word(start_chat: StartChat):
    # Case S-18: what is done is in the file before the request that fails leaves.
    busy = error(529, "overloaded_error", "Overloaded", headers={"retry-after": "0"})
    chat = start_chat(
        [message(read("toolu_1", "notes.txt")), busy, busy, DONE],
        options={"editing": {"auto_write": True}},
    )
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.told == []
    assert len(chat.server.requests) == 4
    chat.wait_until(lambda: chat.path.read_text() == chat.text + "\n")


def test_what_stands_after_the_last_write_is_drawn(start_chat: StartChat):
    # Writing moves the changedtick, and Neovim tells no listener.
    chat = start_chat([message(text("Fine."))], options={"editing": {"auto_write": True}})
    chat.send()
    chat.wait_answered("Fine.\n\n@You:\n")
    chat.wait_until(lambda: chat.path.read_text() == chat.text + "\n")
    chat.wait_until(
        lambda: len([row for row in chat.editor.screen_lines() if "─ You ─" in row]) == 2,
        message="a ruler at both messages of the user",
    )


def test_an_answer_cut_by_the_output_limit_is_told(start_chat: StartChat):
    chat = start_chat([message(text("Half an ans"), stop_reason="max_tokens")])
    chat.send()
    chat.wait_answered("Half an ans\n\n@You:\n")
    chat.wait_notified("Response truncated — model reached max output tokens")


def test_a_call_cut_by_the_output_limit_is_never_run_and_stops_the_loop(start_chat: StartChat):
    # Case S-09.
    call = tool_use(
        "toolu_1", "bash", '{"label": "l", "command": "touch trace; rm -rf', closed=False
    )
    chat = start_chat(
        [message(call, stop_reason="max_tokens"), DONE], tools={"require_approval": False}
    )
    chat.send()
    chat.wait_for("**Tool Result:** `toolu_1` (error)")
    chat.wait_unlocked()
    assert len(chat.server.requests) == 1
    assert not (chat.editor.directory / "trace").exists()
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.result("toolu_1")["is_error"] is True


def test_an_answer_without_content_is_tried_again_once_and_then_told(start_chat: StartChat):
    # Case S-16.
    chat = start_chat([message(), message()])
    chat.send()
    chat.wait_answered("Go.\n\n@You:\n")
    chat.wait_notified("Request completed but no response was received.")
    assert len(chat.server.requests) == 2


def test_a_call_with_arguments_that_are_no_json_does_not_lose_the_others(start_chat: StartChat):
    # Case B-03.
    chat = start_chat(
        [message(tool_use("toolu_1", "read", "{bad"), read("toolu_2", "notes.txt")), DONE]
    )
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.result("toolu_1")["is_error"] is True
    assert chat.result("toolu_2")["content"] == "a note"


def test_a_tool_that_is_unknown_gets_an_error_result(start_chat: StartChat):
    chat = start_chat(
        [message(tool_use("toolu_1", "nonesuch", {})), DONE], tools={"require_approval": False}
    )
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.result("toolu_1")["content"] == "Unknown tool: nonesuch"


def test_a_broken_frontmatter_blocks_the_send_with_its_line(start_chat: StartChat):
    chat = start_chat([], text="```lua\nx = = 1\n```\n\n@You:\nGo.\n")
    chat.send()
    chat.wait_until(lambda: chat.told)
    chat.wait_unlocked()
    [told] = chat.told
    assert "⊘ frontmatter: " in told
    assert "work.chat:2" in told
    assert told.endswith("Request blocked — fix errors to send.")


def test_a_burst_of_twenty_thousand_deltas_arrives_completely(start_chat: StartChat):
    # Case V-08.
    words = "".join(f"word{number}\n" for number in range(20_000))
    chat = start_chat([message(text(words.rstrip(), size=9))])
    chat.send()
    answer = chat.wait_answered("word19999\n\n@You:\n")
    assert answer.removeprefix(f"{BEFORE}\n\n@Assistant:\n") == f"{words}\n@You:\n"


def test_a_chat_of_five_megabytes_opens_and_is_answered(start_chat: StartChat):
    turn = "@You:\nTell me more, please.\n\n@Assistant:\n" + "many words here\n" * 300 + "\n"
    chat = start_chat([DONE], text=turn * 1050 + "@You:\nGo.\n")
    chat.keys("G")
    chat.send()
    chat.wait_for("Done.", timeout=30)
    chat.wait_unlocked()
    assert chat.told == []
    assert len(chat.server.requests[0].json["messages"]) == 2101

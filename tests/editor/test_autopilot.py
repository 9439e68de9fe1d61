"""Who does the next step: the loop, or the user by key (spec: tools; behaviour 2.4, 2.8, 2.11)."""

import pytest

from tests.editor.chats import (
    DONE,
    ONE_COMMAND,
    StartChat,
    bash,
    has_run,
    read,
    start_pending,
    waiting_result,
)
from tests.support.anthropic_server import message, text, tool_use

MIXED = message(text("Both."), bash("toolu_1", "echo ran > trace"), read("toolu_2", "notes.txt"))


def test_approved_calls_run_while_others_wait_and_nothing_is_sent(start_chat: StartChat):
    # Acceptance 38; cases.
    chat = start_chat([MIXED, DONE])
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.send()
    chat.wait_for("a note")
    chat.wait_cursor(waiting_result("toolu_1", "pending"))
    assert chat.text.index("`toolu_1` (pending)") < chat.text.index("**Tool Result:** `toolu_2`\n")
    assert not has_run(chat)
    chat.wait_unlocked()
    assert len(chat.server.requests) == 1
    chat.keys("<M-CR>")
    chat.wait_answered()
    assert list(chat.results()) == ["toolu_1", "toolu_2"]


def test_a_call_settled_by_hand_resumes_a_paused_loop(start_chat: StartChat):
    # Acceptance 49.
    chat = start_pending(start_chat)
    chat.keys("<M-CR>")
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "output"


@pytest.mark.parametrize(
    ("status", "content"),
    [("rejected", "no thanks"), ("denied", "The tool was denied by a policy.")],
)
def test_a_refused_call_is_settled_by_alt_enter_and_the_loop_goes_on(
    start_chat: StartChat, status: str, content: str
):
    chat = start_pending(start_chat)
    chat.keys(f"0f(ci({status}<Esc>jono thanks<Esc>k<M-CR>")
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == content
    assert not has_run(chat)


def test_a_call_settled_by_hand_without_autopilot_sends_nothing(start_chat: StartChat):
    # Acceptance 49, the second half; a finished call can be run again.
    chat = start_chat([ONE_COMMAND, DONE], tools={"autopilot": False})
    chat.send()
    chat.wait_for("**Tool Use:**")
    chat.wait_unlocked()
    assert "**Tool Result:**" not in chat.text
    chat.put_cursor("**Tool Use:**")
    chat.keys("<M-CR>")
    chat.wait_for("output\n```")
    chat.wait_unlocked()
    (chat.editor.directory / "trace").unlink()
    chat.put_cursor("**Tool Result:**")
    chat.keys("<M-CR>")
    chat.wait_until(lambda: has_run(chat))
    chat.wait_unlocked()
    assert len(chat.server.requests) == 1
    assert chat.text.count("**Tool Result:**") == 1
    chat.send()
    chat.wait_answered()


def test_without_autopilot_each_key_press_is_one_phase(start_chat: StartChat):
    chat = start_chat([MIXED, DONE], tools={"autopilot": {"enabled": False}})
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.send()
    chat.wait_for("`toolu_2`)")
    chat.wait_unlocked()
    assert "**Tool Result:**" not in chat.text
    chat.send()
    chat.wait_for("a note")
    chat.wait_cursor(waiting_result("toolu_1", "pending"))
    chat.keys("<M-a>")
    chat.send()
    chat.wait_until(lambda: has_run(chat))
    chat.wait_for("(no output)")
    chat.wait_unlocked()
    assert len(chat.server.requests) == 1
    chat.send()
    chat.wait_answered()


def test_a_failed_command_is_an_error_result_and_the_loop_goes_on(start_chat: StartChat):
    # Acceptance 65; case X-24.
    chat = start_pending(
        start_chat, reply=message(bash("toolu_1", "printf 'x\\n\\n'; exit 3")), tools={}
    )
    chat.keys("<M-a>")
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "x\n\nCommand exited with code 3"
    assert chat.result("toolu_1")["is_error"] is True
    assert "**Tool Result:** `toolu_1` (error)" in chat.text


def test_calls_beyond_the_limit_wait_their_turn_and_all_run_before_the_pause(
    start_chat: StartChat,
):
    # Acceptance 46 and 47: four run two by two, then the loop pauses on the one that asks.
    commands = [tool_use(f"toolu_{n}", "slow", {"number": n}) for n in range(1, 5)]
    slow = """
    _G.finish = {}
    require("flemma.tools").register("slow", {
      name = "slow", description = "x", async = true,
      input_schema = { type = "object", properties = { number = { type = "number" } } },
      execute = function(input, ctx, done)
        _G.finish[input.number] = function()
          done({ success = true, output = "end" .. input.number })
        end
      end,
    })
    """
    chat = start_chat(
        [message(text("Go."), bash("toolu_0", "true"), *commands), DONE],
        tools={"auto_approve": ["slow"]},
        lua=slow,
    )
    running = "return vim.fn.sort(vim.tbl_keys(_G.finish))"
    chat.send()
    chat.wait_until(lambda: chat.editor.exec_lua(running) == [1, 2])
    assert waiting_result("toolu_3", "approved") in chat.text
    chat.editor.exec_lua("_G.finish[2]()")
    chat.wait_until(lambda: chat.editor.exec_lua(running) == [1, 2, 3])
    assert waiting_result("toolu_4", "approved") in chat.text
    chat.editor.exec_lua("_G.finish[1]() _G.finish[3]()")
    chat.wait_until(lambda: chat.editor.exec_lua(running) == [1, 2, 3, 4])
    chat.editor.exec_lua("_G.finish[4]()")
    chat.wait_for("end4")
    chat.wait_cursor(waiting_result("toolu_0", "pending"))
    assert len(chat.server.requests) == 1


def test_with_no_limit_all_calls_run_at_once(start_chat: StartChat):
    calls = [bash(f"toolu_{n}", f"touch up{n}; sleep 60") for n in range(5)]
    chat = start_chat(
        [message(*calls), DONE], tools={"require_approval": False, "max_concurrent": 0}
    )
    chat.send()
    chat.wait_until(lambda: len(list(chat.editor.directory.glob("up*"))) == 5)
    chat.keys(":Flemma tool:cancel-all<CR>")
    chat.wait_notified("All tool executions cancelled")
    chat.wait_unlocked()
    assert chat.text.count("User aborted tool execution.") == 5
    assert len(chat.server.requests) == 1


def test_the_loop_stops_after_the_allowed_number_of_turns(start_chat: StartChat):
    replies = [message(read(f"toolu_{n}", "notes.txt")) for n in range(3)]
    chat = start_chat([*replies, DONE], tools={"autopilot": {"max_turns": 2}})
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.send()
    chat.wait_notified("Autopilot stopped — exceeded 2 consecutive turns.")
    chat.wait_unlocked()
    assert len(chat.server.requests) == 3
    assert "**Tool Result:** `toolu_2`" not in chat.text
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")


def test_the_loop_is_switched_off_and_on_by_command(start_chat: StartChat):
    chat = start_chat([message(read("toolu_1", "notes.txt")), DONE])
    (chat.editor.directory / "notes.txt").write_text("a note\n")
    chat.keys(":Flemma autopilot:disable<CR>")
    chat.wait_notified("Autopilot disabled")
    chat.send()
    chat.wait_for("`toolu_1`)")
    chat.wait_unlocked()
    assert "**Tool Result:**" not in chat.text
    chat.keys(":Flemma autopilot:enable<CR>")
    chat.wait_notified("Autopilot enabled")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")


def test_the_frontmatter_switches_the_loop_off_for_one_chat(start_chat: StartChat):
    chat = start_chat(
        [message(read("toolu_1", "notes.txt"))],
        text="```lua\nflemma.opt.tools.autopilot = false\n```\n\n@You:\nGo.\n",
    )
    chat.send()
    chat.wait_for("`toolu_1`)")
    chat.wait_unlocked()
    assert "**Tool Result:**" not in chat.text


@pytest.mark.parametrize(
    ("where", "line"),
    [("result", "**Tool Result:**"), ("next", "later"), ("stay", "**Tool Use:**")],
)
def test_the_cursor_goes_where_the_option_says_after_a_result(
    start_chat: StartChat, where: str, line: str
):
    use = '**Tool Use:** `bash` (`toolu_1`)\n```json\n{"command": "echo output"}\n```\n'
    chat = start_chat(
        [],
        text=f"@You:\nGo.\n\n@Assistant:\n{use}\n@You:\n\n@Assistant:\nWell.\n\n@You:\nlater\n",
        tools={"autopilot": False, "cursor_after_result": where},
    )
    chat.put_cursor("**Tool Use:**")
    chat.keys("<M-CR>")
    chat.wait_event("FlemmaToolFinished")
    chat.wait_for("output\n```")
    chat.wait_unlocked()
    chat.wait_cursor(line)

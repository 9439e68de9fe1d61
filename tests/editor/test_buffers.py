"""Buffers, windows, undo: a chat is edited wherever it is, and nothing else is (cases V and L)."""

from typing import Any

import pytest

from tests.editor.chats import Chat, StartChat, bash, read, start_pending
from tests.support.anthropic_server import Reply, cut, message, pause, text

DONE = message(text("Done."))
OPTIONS_OF_OTHERS = """
local state = {}
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local bufnr = vim.api.nvim_win_get_buf(window)
  local is_ours = vim.api.nvim_buf_get_name(bufnr):find("%.chat$")
    or vim.api.nvim_win_get_config(window).relative ~= ""
  if not is_ours then
    for name, info in pairs(vim.api.nvim_get_all_options_info()) do
      local where = info.scope == "win" and { win = window, scope = "local" }
        or info.scope == "buf" and { buf = bufnr }
      if where then
        state[window .. name] = vim.api.nvim_get_option_value(name, where)
      end
    end
  end
end
return state
"""


def slowly(words: int, *more: Any) -> Reply:
    """Return an answer that takes its time, a line every few milliseconds."""
    lines = "".join(f"line {number}\n" for number in range(words))
    return message(text(lines, size=10), *more, delay=0.004)


def start_streaming(start_chat: StartChat, *replies: Any, **options: Any) -> Chat:
    """Open a chat in which an answer is on its way that does not end by itself."""
    chat = start_chat(
        [cut(text("First words.\n"), pause(1), text("Last words."), pause(60)), *replies], **options
    )
    chat.editor.command("set hidden")
    chat.send()
    chat.wait_for("First words.")
    return chat


def test_an_answer_goes_on_while_its_buffer_is_hidden(start_chat: StartChat):
    # Cases V-04, L-03.
    chat = start_streaming(start_chat)
    chat.editor.command("enew")
    other: int = chat.editor.call("bufnr")
    chat.keys("isome other text<Esc>")
    chat.wait_for("Last words.")
    assert chat.editor.lines(other) == ["some other text"]
    assert chat.editor.messages() == ""
    chat.keys(f":buffer {chat.buffer}<CR>")
    chat.keys("<C-c>")
    chat.wait_notified("Request cancelled")


def test_an_answer_goes_on_in_another_tab_and_after_its_window_is_closed(start_chat: StartChat):
    # Cases V-04, V-15.
    chat = start_streaming(start_chat)
    chat.editor.command("tabnew | tabonly")
    chat.wait_for("Last words.")
    assert chat.editor.call("win_findbuf", chat.buffer) == []
    assert chat.editor.messages() == ""


def test_normal_commands_do_not_disturb_an_answer(start_chat: StartChat):
    # Case V-15.
    chat = start_streaming(start_chat)
    for keys in ("<Esc>", "<C-w>s", "<C-w>o", "gg", "zt", ":nohlsearch<CR>", "qaq", "/First<CR>"):
        chat.keys(keys)
    chat.wait_for("Last words.")
    assert chat.told == []


def test_only_windows_at_the_end_follow_an_answer(start_chat: StartChat):
    # Cases V-05, V-17.
    chat = start_chat([slowly(80)], text="\n".join(["@You:", *map(str, range(60)), "Go."]) + "\n")
    chat.editor.command("split")
    reading = chat.editor.call("win_getid")
    chat.keys("10G")
    chat.editor.command("wincmd j")
    following = chat.editor.call("win_getid")
    chat.keys("G")
    chat.send()
    chat.wait_for("line 20")
    top = chat.editor.call("getwininfo", reading)[0]["topline"]
    chat.wait_answered("line 79\n\n@You:\n")
    line_count = len(chat.editor.lines(chat.buffer))
    chat.wait_until(lambda: chat.editor.call("line", ".", following) == line_count)
    assert chat.editor.call("line", ".", reading) == 10
    assert chat.editor.call("getwininfo", reading)[0]["topline"] == top


def test_a_user_who_moved_away_stays_there_until_he_returns(start_chat: StartChat):
    # Case V-05.
    chat = start_chat([slowly(80)])
    chat.send()
    chat.wait_for("line 5")
    chat.keys("gg")
    chat.wait_for("line 30")
    assert chat.editor.cursor()[0] == 1
    chat.keys("G")
    chat.wait_answered("line 79\n\n@You:\n")
    chat.wait_until(lambda: chat.editor.cursor()[0] == len(chat.editor.lines()))


@pytest.mark.parametrize("command", ["bwipeout!", "bdelete!", "bunload!"])
def test_a_buffer_that_is_closed_during_a_request_ends_it(start_chat: StartChat, command: str):
    # Case V-16.
    chat = start_streaming(start_chat)
    chat.editor.command("new")
    other = chat.editor.call("bufnr")
    chat.editor.command(f"{command} {chat.buffer}")
    chat.wait_until(lambda: chat.server.disconnects == 1)
    [finished] = chat.wait_event("FlemmaRequestFinished")
    assert finished == {"bufnr": chat.buffer, "status": "cancelled"}
    assert chat.editor.lines(other) == [""]
    assert chat.told == ["Request cancelled"]
    assert chat.editor.messages() == ""
    chat.editor.open(chat.path)
    assert chat.editor.option("modifiable")
    assert chat.editor.text() == "@You:\nGo."


def test_a_buffer_that_is_wiped_during_a_command_ends_it(start_chat: StartChat):
    # Case V-16.
    chat = start_pending(start_chat, reply=message(bash("toolu_1", "touch up; sleep 600")))
    before = set(chat.editor.processes())
    chat.keys("<M-CR>")
    chat.wait_until(lambda: (chat.editor.directory / "up").exists())
    chat.editor.command("enew")
    chat.editor.command(f"bwipeout! {chat.buffer}")
    chat.wait_until(lambda: set(chat.editor.processes()) <= before)
    assert chat.editor.text() == ""
    assert chat.told == []


def test_a_chat_that_is_read_again_during_a_request_is_what_the_file_says(start_chat: StartChat):
    chat = start_streaming(start_chat, DONE)
    chat.editor.command("edit!")
    chat.wait_until(lambda: chat.server.disconnects == 1)
    assert chat.text == "@You:\nGo."
    chat.wait_unlocked()
    chat.wait_event("FlemmaRequestFinished")
    assert chat.text == "@You:\nGo."
    assert chat.told == ["Request cancelled"]
    chat.send()
    chat.wait_answered()


def test_a_chat_that_another_program_changed_is_read_and_goes_on(start_chat: StartChat):
    # Case L-02: what was written before is kept.
    chat = start_chat([DONE, DONE])
    chat.send()
    chat.wait_answered()
    chat.editor.command("silent write")
    chat.path.write_text(chat.path.read_text() + "Added elsewhere.\n")
    chat.editor.command("set autoread | checktime")
    chat.wait_for("Added elsewhere.")
    chat.send()
    text_after = chat.wait_answered("Added elsewhere.\n\n@Assistant:\nDone.\n\n@You:\n")
    assert text_after.startswith("@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n")
    assert "Added elsewhere." in chat.history()


def test_a_chat_that_gets_another_name_goes_on_under_it(start_chat: StartChat):
    chat = start_chat([message(read("toolu_1", "here.txt")), DONE])
    elsewhere = chat.editor.directory / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "here.txt").write_text("found\n")
    chat.editor.command("saveas elsewhere/other.chat")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.result("toolu_1")["content"] == "found"


def test_a_chat_without_a_name_works(start_chat: StartChat):
    chat = start_chat([DONE])
    chat.editor.command("enew | set filetype=chat")
    chat.wait_until(lambda: chat.editor.text() == "@You:\n")
    chat.keys("iGo.<Esc>")
    chat.send()
    chat.editor.wait_for_text("Done.\n\n@You:\n")


def test_an_empty_file_gets_a_prompt_with_the_cursor_in_it(start_chat: StartChat):
    # Acceptance 22.
    chat = start_chat([])
    chat.editor.open(chat.editor.directory / "new.chat")
    chat.wait_until(lambda: chat.editor.text() == "@You:\n")
    chat.wait_until(lambda: chat.editor.cursor() == (2, 0))


def test_what_is_typed_into_a_new_file_before_the_host_is_ready_is_the_first_message(
    start_chat: StartChat,
):
    chat = start_chat([DONE], text="")
    chat.keys("iHello there<Esc>")
    assert chat.text == "Hello there"
    chat.send()
    assert chat.wait_answered() == "@You:\nHello there\n\n@Assistant:\nDone.\n\n@You:\n"


def test_no_option_of_another_window_or_buffer_changes(start_chat: StartChat):
    # Case V-01.
    chat = start_chat([message(text("Run."), bash("toolu_1", "true")), DONE])
    chat.editor.command("new | setlocal undolevels=77 foldmethod=marker | wincmd p")
    before = chat.editor.exec_lua(OPTIONS_OF_OTHERS)
    assert before
    chat.send()
    chat.wait_for("(pending)")
    chat.wait_cursor("**Tool Result:**")
    chat.keys("<M-CR>")
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.editor.exec_lua(OPTIONS_OF_OTHERS) == before
    chat.editor.command("set hidden | wincmd p")
    chat.editor.command("wincmd p | enew")
    assert chat.editor.option("modifiable")


def test_a_chat_that_the_user_made_unmodifiable_stays_so(start_chat: StartChat):
    chat = start_chat([DONE])
    chat.editor.command("setlocal nomodifiable")
    chat.send()
    chat.wait_for("Done.\n\n@You:\n")
    chat.wait_event("FlemmaRequestFinished")
    chat.keys("<C-c>")
    chat.wait_notified("Nothing to cancel")
    assert chat.editor.option("modifiable") is False


def test_the_buffer_is_locked_while_something_runs_and_never_after(start_chat: StartChat):
    chat = start_streaming(start_chat)
    chat.keys("ggdd")
    chat.keys("u")
    assert chat.text.startswith("@You:\nGo.\n\n@Assistant:\nFirst words.")
    chat.wait_for("Last words.")
    chat.keys("<C-c>")
    chat.wait_unlocked()


def test_writes_wait_while_the_command_line_window_is_open(start_chat: StartChat):
    # Case V-06.
    chat = start_chat([message(text("First words.\n"), pause(0.3), text("Last words."))])
    chat.send()
    chat.wait_for("First words.")
    chat.keys("q:")
    chat.wait_until(lambda: chat.editor.call("getcmdwintype") == ":")
    chat.keys("ihello<Esc>")
    chat.wait_until(lambda: "Last words." in chat.text)
    chat.keys(":quit<CR>")
    chat.wait_answered("Last words.\n\n@You:\n")
    assert chat.told == []
    assert chat.editor.messages() == ""
    assert chat.editor.exec_lua('return require("flemma.progress").is_running()') is False


# Undo --------------------------------------------------------------------------------------------


def test_an_answer_is_one_undo_step_and_redo_brings_it_back(start_chat: StartChat):
    # Case V-02.
    chat = start_chat([message(text("many words " * 200 + "end", size=7), delay=0.0005)])
    chat.keys("GoMore of mine.<Esc>")
    mine = chat.text
    chat.send()
    answered = chat.wait_answered("end\n\n@You:\n")
    chat.keys("u")
    assert chat.text == mine
    chat.keys("<C-r>")
    assert chat.text == answered
    chat.keys("uu")
    assert chat.text == "@You:\nGo."
    chat.keys("<C-r><C-r>")
    assert chat.text == answered


def test_a_result_is_one_undo_step(start_chat: StartChat):
    chat = start_chat([message(bash("toolu_1", "echo output"))], tools={"autopilot": False})
    chat.send()
    chat.wait_for("**Tool Use:**")
    chat.wait_unlocked()
    chat.send()
    chat.wait_for("(pending)")
    pending = chat.text
    chat.wait_cursor("**Tool Result:**")
    chat.keys("<M-CR>")
    chat.wait_for("output\n```")
    chat.wait_unlocked()
    done = chat.text
    chat.keys("u")
    assert chat.text == pending
    chat.keys("<C-r>")
    assert chat.text == done


def test_undoing_an_approval_takes_it_back(start_chat: StartChat):
    chat = start_pending(start_chat)
    chat.keys("<M-a>")
    chat.wait_for("(approved)")
    chat.keys("u")
    chat.wait_for("(pending)")
    chat.send()
    chat.wait_unlocked()
    assert len(chat.server.requests) == 1
    assert not (chat.editor.directory / "trace").exists()


def test_text_typed_while_a_job_runs_stays(start_chat: StartChat):
    # Case L-06.
    call = bash("toolu_1", "cat fifo", **{"flemma.background": True})
    chat = start_chat(
        [message(text("Started."), call), message(text("It runs.")), DONE],
        tools={"require_approval": False},
    )
    chat.editor.call("system", "mkfifo fifo")
    chat.send()
    chat.wait_answered("It runs.\n\n@You:\n")
    chat.keys("GAmy next question")
    chat.editor.call("system", "echo finished > fifo")
    chat.wait_event("FlemmaJobCompleted")
    chat.keys(", typed on<Esc>")
    chat.wait_for("finished")
    assert chat.text.endswith("@You:\nmy next question, typed on")
    assert len(chat.server.requests) == 2


def test_a_failing_part_of_history_does_not_raise_at_each_key(start_chat: StartChat):
    # Case V-10.
    chat = start_chat([], text="@You:\n{{ nonesuch() }} @./missing.txt {% bad %}\n\n@You:\n")
    chat.keys("Gihello<Esc>")
    for key in "kkjjx":
        chat.keys(key)
    assert chat.told == []
    assert chat.editor.messages() == ""


def test_opening_and_sending_never_hold_the_editor(start_chat: StartChat):
    # Case V-14. What is measured includes a machine under load; what is looked for is a wait.
    chat = start_chat([DONE])
    with chat.editor.measure_blocking() as pause_:
        chat.editor.open(chat.editor.directory / "second.chat")
        chat.keys("iGo.<Esc>")
        chat.send()
        chat.editor.wait_for_text("Done.\n\n@You:\n")
    chat.wait_until(lambda: not chat.told)
    assert pause_.longest < 500


def test_a_selection_at_the_end_is_not_stretched_by_what_arrives(start_chat: StartChat):
    # Case V-05.
    chat = start_chat([slowly(80)])
    chat.send()
    chat.wait_for("line 5")
    chat.keys("GV")
    line = chat.editor.call("line", ".")
    chat.wait_for("line 40")
    assert chat.editor.mode()["mode"] == "V"
    assert chat.editor.call("line", ".") == line
    chat.wait_for("line 79")

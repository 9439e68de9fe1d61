""":Flemma, the rejection popup and typing, with the host behind them (behaviour 2.11, 2.14)."""

import pytest

from tests.editor.chats import (
    DONE,
    Chat,
    StartChat,
    bash,
    read,
    start_pending,
    waiting_result,
)
from tests.support.anthropic_server import message, pause, text, thinking

ONE_USE = "@You:\nGo.\n\n@Assistant:\n**Tool Use:** `bash` (`toolu_1`)\n```json\n{}\n```\n"


def complete(chat: Chat, line: str) -> list[str]:
    return chat.editor.call("getcompletion", line, "cmdline")


@pytest.fixture
def ready(start_chat: StartChat) -> Chat:
    """A chat whose host has told its commands."""
    chat = start_chat([])
    chat.wait_event("FlemmaBootComplete")
    return chat


def test_subcommands_and_their_arguments_are_completed(ready: Chat):
    names = set(complete(ready, "Flemma "))
    assert {"send", "cancel", "tool:approve-all", "message:previous"} <= names
    assert complete(ready, "Flemma tool:app") == ["tool:approve", "tool:approve-all"]
    assert complete(ready, "Flemma send on_request_s") == ["on_request_start="]
    assert "verbose" in complete(ready, "Flemma status v")
    assert complete(ready, "Flemma nonesuch ") == []


def test_what_is_no_command_is_answered_with_the_nearest(ready: Chat):
    ready.keys(":Flemma tool:aprove<CR>")
    ready.wait_notified("Unknown command 'tool:aprove'. Did you mean 'tool:approve'?")
    ready.keys(":Flemma xyzzy<CR>")
    ready.wait_notified("Unknown command 'xyzzy'")
    ready.keys(":Flemma autopilot<CR>")
    ready.wait_notified("'autopilot' expects a sub-command (disable, enable, status)")
    ready.keys(":Flemma<CR>")
    ready.wait_until(lambda: ready.told[-1].startswith("Available commands → autopilot:disable, "))


def test_a_command_of_chats_says_so_elsewhere(ready: Chat):
    ready.editor.command("set hidden | enew")
    ready.keys(":Flemma tool:list<CR>")
    ready.wait_until(lambda: ready.told)
    assert "needs a chat" in ready.told[0]


@pytest.mark.parametrize(
    ("cursor", "command", "answer"),
    [
        ("@You:", "tool:approve", "No tool call found in message"),
        ("**Tool Use:**", "tool:approve", "No tool result placeholder for toolu_1"),
        ("**Tool Use:**", "tool:reject", "No tool result placeholder for toolu_1"),
        ("**Tool Use:**", "tool:background", "Failed to move tool to background"),
    ],
)
def test_what_cannot_be_done_at_the_cursor_is_said(
    start_chat: StartChat, cursor: str, command: str, answer: str
):
    chat = start_chat([], text=ONE_USE)
    chat.put_cursor(cursor)
    chat.keys(f":Flemma {command}<CR>")
    chat.wait_notified(answer)


def test_a_finished_call_is_not_approved_any_more(start_chat: StartChat):
    chat = start_chat([], text=f"{ONE_USE}\n@You:\n\n**Tool Result:** `toolu_1`\n```\nx\n```\n")
    chat.put_cursor("**Tool Result:**")
    for keys in ("<M-a>", "<M-r>"):
        chat.keys(keys)
    chat.wait_until(lambda: chat.told == ["Tool toolu_1 has already completed"] * 2)
    assert "User feedback" not in chat.text
    assert popups(chat) == 0


# The rejection popup -----------------------------------------------------------------------------


def popups(chat: Chat) -> int:
    """How many floating windows can be typed into."""
    return chat.editor.exec_lua("""
    return #vim.tbl_filter(function(window)
      local config = vim.api.nvim_win_get_config(window)
      return config.relative ~= "" and config.focusable
    end, vim.api.nvim_list_wins())
    """)


def open_popup(start_chat: StartChat) -> Chat:
    chat = start_pending(start_chat)
    chat.keys("<M-r>")
    chat.wait_until(lambda: popups(chat) == 1 and chat.editor.mode()["mode"] == "i")
    return chat


def test_a_reason_typed_into_the_popup_reaches_the_model(start_chat: StartChat):
    # Case A-08.
    chat = open_popup(start_chat)
    chat.keys("not like this<C-j>ask me first<CR>")
    chat.wait_for(waiting_result("toolu_1", "rejected"))
    chat.wait_until(lambda: popups(chat) == 0)
    assert chat.editor.call("bufnr") == chat.buffer
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "User feedback: not like this\nask me first"


def test_an_empty_popup_rejects_without_a_reason(start_chat: StartChat):
    chat = open_popup(start_chat)
    chat.keys("<CR>")
    chat.wait_for(waiting_result("toolu_1", "rejected"))
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "This tool has been rejected by the user."


def test_leaving_the_popup_changes_nothing(start_chat: StartChat):
    # Case A-12.
    chat = open_popup(start_chat)
    chat.keys("some words<Esc>")
    chat.wait_until(lambda: popups(chat) == 0)
    assert chat.editor.mode()["mode"] == "n"
    assert waiting_result("toolu_1", "pending") in chat.text
    assert "some words" not in chat.text


def test_the_popup_opens_where_the_user_is_and_nowhere_else(start_chat: StartChat):
    # Case A-13.
    chat = start_pending(start_chat)
    first = chat.editor.call("win_getid")
    chat.editor.command("split")
    chat.put_cursor("**Tool Result:**")
    here = chat.editor.call("win_getid")
    chat.keys("<M-r>")
    chat.wait_until(lambda: popups(chat) == 1)
    float_config = chat.editor.exec_lua("return vim.api.nvim_win_get_config(0)")
    assert float_config["win"] == here != first
    chat.keys("<Esc>")
    # A popup that comes when the user is elsewhere already does not take the focus.
    chat.editor.command("new")
    place = {"bufnr": chat.buffer, "tool_use_id": "toolu_1", "line": 1, "end_line": 2}
    chat.editor.exec_lua('require("flemma.popup").open(...)', place)
    chat.keys("ihello<Esc>")
    assert popups(chat) == 0
    assert chat.editor.text() == "hello"


# Typing ------------------------------------------------------------------------------------------


def test_a_send_from_insert_mode_comes_back_to_it(start_chat: StartChat):
    chat = start_chat([DONE, DONE])
    chat.keys("GA And now.<C-]>")
    chat.wait_answered("Done.\n\n@You:\n")
    chat.wait_until(lambda: chat.editor.mode()["mode"] == "i")
    chat.keys("Once more.<C-]>")
    answered = chat.wait_answered("Once more.\n\n@Assistant:\nDone.\n\n@You:\n")
    assert answered.startswith("@You:\nGo. And now.\n\n@Assistant:\nDone.\n\n@You:\nOnce more.")


def test_a_send_from_insert_mode_stays_in_normal_mode_while_a_call_waits(start_chat: StartChat):
    chat = start_chat([message(bash("toolu_1", "true"))])
    chat.keys("GA<C-]>")
    chat.wait_for("(pending)")
    chat.wait_cursor("**Tool Result:**")
    assert chat.editor.mode()["mode"] == "n"


def test_a_role_marker_completes_itself_while_the_host_follows(start_chat: StartChat):
    # Acceptance 56.
    chat = start_chat([DONE], text="@System:\nBe brief.\n")
    chat.keys("Go@You:")
    chat.keys(" What now?<Esc>")
    assert chat.text == "@System:\nBe brief.\n@You:\nWhat now?"
    chat.send()
    chat.wait_answered()
    assert "Be brief." in str(chat.server.requests[0].json["system"])
    assert "What now?" in chat.history()


def test_messages_are_jumped_over_and_selected_as_they_arrive(start_chat: StartChat):
    chat = start_chat([message(thinking("hm", signature="c2ln"), text("An answer."))])
    chat.send()
    chat.wait_answered()
    chat.wait_until(lambda: chat.editor.cursor()[0] == len(chat.editor.lines()))
    chat.keys("[m")
    chat.wait_cursor("<thinking")
    chat.keys("[m")
    assert chat.editor.call("getline", ".") == "Go."
    chat.keys("]m")
    chat.wait_cursor("<thinking")
    chat.keys("yim")
    assert chat.editor.call("getreg", '"') == "An answer."
    chat.keys("yam")
    assert chat.editor.call("getreg", '"').startswith("@Assistant:\n<thinking")


def test_thinking_closes_once_and_stays_as_the_user_left_it(start_chat: StartChat):
    # Acceptance 107.
    replies = [
        message(thinking("one\ntwo", signature="c2ln"), text("First."), read("toolu_1", "a.txt")),
        message(pause(0.2), text("Second.")),
    ]
    chat = start_chat(replies)
    chat.send()
    chat.wait_answered("Second.\n\n@You:\n")
    line = chat.editor.lines().index('<thinking anthropic:signature="c2ln">') + 1
    chat.wait_until(lambda: chat.editor.call("foldclosed", line) == line)
    chat.editor.command(f"{line}foldopen")
    chat.keys("GoMore.<Esc>")
    chat.put_cursor("First.")
    chat.keys("A!<Esc>")
    chat.wait_until(lambda: "First.!" in chat.text)
    chat.editor.exec_lua("vim.wait(200)")
    assert chat.editor.call("foldclosed", line) == -1

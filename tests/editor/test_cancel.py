"""Ctrl-C in every state: final, and it leaves nothing behind (behaviour 2.9; S-07, S-08)."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.editor.chats import Chat, StartChat, bash, read, start_pending, waiting_result
from tests.support.anthropic_server import cut, error, message, pause, text, thinking

BEFORE = "@You:\nGo."
ABORTED = "<!-- flemma:aborted: Response interrupted by the user. -->"
NOTHING_ANIMATED = """
return not require("flemma.progress").is_running() and not require("flemma.spinner").is_running()
"""


def cancel(chat: Chat, *, told: str | None = "Request cancelled") -> None:
    """Press Ctrl-C and wait until the chat rests."""
    chat.keys("<C-c>")
    if told is not None:
        chat.wait_until(lambda: any(text.startswith(told) for text in chat.told), timeout=5)
    chat.wait_unlocked()
    chat.wait_until(lambda: chat.editor.exec_lua(NOTHING_ANIMATED), message="a still screen")


def finished(chat: Chat) -> list[str]:
    return [data["status"] for name, data in chat.events() if name == "FlemmaRequestFinished"]


def answered_later(chat: Chat) -> None:
    """The next key works: the chat is not left in some state."""
    chat.send()
    chat.wait_answered("Later.\n\n@You:\n")


LATER = message(text("Later."))


@pytest.fixture
def deaf_server() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_while_connecting(start_chat: StartChat, deaf_server: str):
    # Acceptance 50.
    chat = start_chat([], environment={"ANTHROPIC_BASE_URL": deaf_server})
    chat.send()
    chat.wait_event("FlemmaRequestSending")
    chat.wait_until(lambda: chat.shown("Waiting…"))
    cancel(chat)
    assert chat.text == BEFORE
    assert finished(chat) == ["cancelled"]


def test_before_the_first_word(start_chat: StartChat):
    # Acceptance 50.
    chat = start_chat([cut(ending="hang"), LATER], text="@You:\nGo.\n\n\n")
    before = chat.text
    chat.send()
    chat.wait_for("@Assistant:")
    chat.wait_until(lambda: len(chat.server.requests) == 1)
    cancel(chat)
    assert chat.text == before
    chat.wait_until(lambda: chat.server.disconnects == 1)
    answered_later(chat)


def test_during_thinking(start_chat: StartChat):
    # Case S-08.
    thought = thinking("a long thought " * 100, size=3)
    chat = start_chat(
        [cut(thought, pause(60), delay=0.002), LATER], options={"thinking": {"level": "low"}}
    )
    chat.send()
    chat.wait_until(lambda: any("characters ·" in t for _, t in chat.editor.virtual_text()))
    cancel(chat)
    assert chat.text == BEFORE
    answered_later(chat)


def test_while_text_arrives(start_chat: StartChat):
    # Acceptance 19.
    chat = start_chat([cut(text("Some words"), pause(60)), LATER])
    chat.send()
    chat.wait_for("Some words")
    cancel(chat)
    assert chat.text == f"{BEFORE}\n\n@Assistant:\nSome words\n\n{ABORTED}"
    assert finished(chat) == ["cancelled"]
    assert chat.told == ["Request cancelled"]
    chat.keys("Go@You:<CR>Again.<Esc>")
    answered_later(chat)
    blocks = chat.server.requests[1].json["messages"][1]["content"]
    assert [block["text"] for block in blocks] == [
        "Some words",
        "<!-- Response interrupted by the user. -->",
    ]


def test_after_a_complete_call_was_shown(start_chat: StartChat):
    # Acceptance 20.
    call = bash("toolu_1", "echo ran > trace")
    reply = cut(text("I run it."), call, text("Meanwhile"), pause(60))
    chat = start_chat([reply, LATER], tools={"require_approval": False})
    chat.send()
    chat.wait_for("**Tool Use:**")
    cancel(chat)
    assert chat.text.endswith(ABORTED)
    answered_later(chat)
    assert chat.result("toolu_1")["content"] == "Response interrupted by the user."
    assert chat.result("toolu_1")["is_error"] is True
    assert "interrupted by the user. -->" not in chat.history()
    assert not (chat.editor.directory / "trace").exists()


def test_while_it_waits_to_try_again(start_chat: StartChat):
    # Cases S-05 and S-07: the countdown is seen.
    busy = error(429, "rate_limit_error", "Slow down.", headers={"retry-after": "60"})
    chat = start_chat([busy, LATER])
    chat.send()
    chat.wait_until(lambda: chat.shown("retrying in 60s"))
    chat.wait_until(lambda: chat.shown("retrying in 59s"))
    cancel(chat)
    assert chat.text == BEFORE
    assert len(chat.server.requests) == 1
    answered_later(chat)


def test_a_running_command_and_its_children_end(start_chat: StartChat):
    # Cases.
    command = "setsid sleep 600 & sleep 600 & touch up; wait"
    chat = start_pending(start_chat, LATER, reply=message(bash("toolu_1", command)))
    before = set(chat.editor.processes())
    chat.keys("<M-a><C-]>")
    chat.wait_until(lambda: (chat.editor.directory / "up").exists())
    assert len(chat.editor.processes()) >= len(before) + 3
    chat.wait_until(lambda: chat.shown("Executing…"))
    assert chat.editor.option("modifiable") is False
    cancel(chat, told=None)
    chat.wait_for("User aborted tool execution.")
    chat.wait_until(lambda: set(chat.editor.processes()) <= before)
    assert "**Tool Result:** `toolu_1` (error)" in chat.text
    assert len(chat.server.requests) == 1
    answered_later(chat)
    assert chat.result("toolu_1")["is_error"] is True


def test_an_impatient_second_key_does_not_keep_a_stubborn_command_alive(start_chat: StartChat):
    command = "trap '' TERM INT HUP; touch up; while true; do sleep 0.1; done"
    chat = start_pending(start_chat, reply=message(bash("toolu_1", command)))
    before = set(chat.editor.processes())
    chat.keys("<M-CR>")
    chat.wait_until(lambda: (chat.editor.directory / "up").exists())
    chat.keys("<C-c>")
    chat.keys("<C-c>")
    chat.wait_for("User aborted tool execution.")
    chat.wait_until(lambda: set(chat.editor.processes()) <= before)
    chat.wait_unlocked()


def test_the_call_at_the_cursor_ends_and_queued_ones_do_not_start(start_chat: StartChat):
    calls = [bash(f"toolu_{n}", f"touch up{n}; sleep 600") for n in (1, 2, 3)]
    chat = start_chat([message(*calls)], tools={"require_approval": False})
    chat.send()
    chat.wait_until(lambda: len(list(chat.editor.directory.glob("up*"))) == 2)
    chat.put_cursor("**Tool Result:** `toolu_2`")
    chat.keys("<C-c>")
    chat.wait_for("`toolu_2` (error)")
    assert "**Tool Result:** `toolu_1`\n" in chat.text
    chat.keys("gg<C-c>")
    chat.wait_for("`toolu_1` (error)")
    chat.wait_unlocked()
    assert waiting_result("toolu_3", "approved") in chat.text
    assert not (chat.editor.directory / "up3").exists()
    chat.keys("<C-c>")
    chat.wait_notified("Nothing to cancel")


def test_a_send_that_waits_for_tools_to_load_is_dropped(start_chat: StartChat):
    chat = start_chat(
        [LATER],
        lua="""
        require("flemma.tools").register(function(register, done) _G.loaded = done end)
        """,
    )
    chat.send()
    chat.wait_notified("Waiting for tool definitions to load...")
    assert chat.editor.option("modifiable") is False
    cancel(chat, told="Cancelled queued send.")
    assert chat.text == BEFORE
    assert chat.server.requests == []
    chat.editor.exec_lua("_G.loaded()")
    answered_later(chat)


def test_a_send_that_waits_for_tools_goes_on_when_they_are_there(start_chat: StartChat):
    chat = start_chat(
        [LATER],
        lua="""
        require("flemma.tools").register(function(register, done) _G.loaded = done end)
        """,
    )
    chat.send()
    chat.wait_until(lambda: chat.editor.option("modifiable") is False)
    chat.keys("<M-CR>")
    chat.wait_notified("No tool call found in message")
    chat.editor.exec_lua("_G.loaded()")
    chat.wait_answered()


def test_a_send_that_waits_for_a_key_store_is_dropped(start_chat: StartChat):
    def slow_key_store(editor: Any) -> None:
        program = editor.home / "bin" / "secret-tool"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\nexec sleep 600\n")
        program.chmod(0o755)
        editor.exec_lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", str(program.parent))

    chat = start_chat([], environment={"ANTHROPIC_API_KEY": ""}, before=slow_key_store)
    chat.send()
    chat.wait_until(lambda: any(told.startswith("Resolving ") for told in chat.told))
    cancel(chat, told="Cancelled queued send.")
    assert chat.text == BEFORE


def test_keys_that_arrive_together_are_taken_in_order(start_chat: StartChat):
    # A plan that is cancelled before it ran must still end.
    chat = start_chat([LATER])
    chat.send()
    chat.wait_answered()
    chat.keys("iAgain.<Esc>")
    chat.keys("<C-]><C-c>")
    chat.wait_notified("Cancelled queued send.")
    chat.keys("<C-c>")
    chat.wait_notified("Nothing to cancel")
    assert len(chat.server.requests) == 1


def test_nothing_to_cancel_is_said(start_chat: StartChat):
    chat = start_chat([])
    chat.keys("<C-c>")
    chat.wait_notified("Nothing to cancel")
    chat.keys(":Flemma tool:cancel<CR>")
    chat.wait_notified("No pending tool executions")


def test_running_calls_are_listed_and_cancelled_by_command(start_chat: StartChat):
    reply = message(bash("toolu_1", "sleep 600"), read("toolu_2", "nowhere"))
    chat = start_chat([reply], tools={"require_approval": False})
    chat.send()
    chat.wait_for("`toolu_2` (error)")
    chat.keys(":Flemma tool:list<CR>")
    chat.wait_until(lambda: any("bash (toolu_1) — started " in told for told in chat.told))
    chat.keys(":Flemma tool:cancel<CR>")
    chat.wait_notified("Tool execution cancelled")
    chat.wait_for("User aborted tool execution.")

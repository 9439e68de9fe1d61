"""What is left when a process dies: the host, the editor, or all at once (issue A; P-04, P-14)."""

import os
import signal
from pathlib import Path

import pytest

from tests.editor.chats import Chat, StartChat, bash, start_pending, waiting_result
from tests.support.anthropic_server import cut, message, pause, text
from tests.support.processes import is_alive
from tests.support.wait import wait_until

DONE = message(text("Done."))
BUSY = "setsid sleep 600 & sleep 600 & touch up; sleep 600"
ABORTED = "<!-- flemma:aborted: Response interrupted by the user. -->"


def start_running(start_chat: StartChat, *more: object) -> Chat:
    """Open a chat in which a command with children of its own runs."""
    chat = start_pending(start_chat, *more, reply=message(text("I run it."), bash("toolu_1", BUSY)))
    chat.keys("<M-a><C-]>")
    chat.wait_until(lambda: (chat.editor.directory / "up").exists())
    chat.wait_until(lambda: chat.shown("Executing…"))
    return chat


def end_host(chat: Chat) -> int:
    """Kill the host and wait for the next one."""
    old = chat.editor.kill_host()
    chat.wait_until(
        lambda: (
            chat.editor.host_pid() not in (None, old)
            and chat.editor.exec_lua('return require("flemma.host").status()') == "ready"
        )
    )
    return old


def test_a_host_killed_while_a_command_runs_leaves_a_chat_that_goes_on(start_chat: StartChat):
    chat = start_running(start_chat, DONE)
    running = set(chat.editor.processes()) - {chat.editor.pid}
    end_host(chat)
    chat.wait_for(waiting_result("toolu_1", "aborted"))
    chat.wait_until(lambda: not running & set(chat.editor.processes()))
    chat.wait_unlocked()
    chat.wait_until(lambda: not chat.shown("Executing…"))
    chat.wait_notified("1 interrupted tool call marked as aborted.")
    ended, *_ = chat.told
    assert "Flemma's Python host ended unexpectedly (exit code 137) and is started again." in ended
    assert "1 running tool stopped with it and will be marked aborted." in ended
    assert len(chat.told) == 2
    chat.keys("ggoMore.<Esc>u")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert chat.result("toolu_1")["is_error"] is True
    assert chat.result("toolu_1")["content"] == "Response interrupted by the user."


def test_a_host_killed_while_text_arrives_keeps_what_was_shown(start_chat: StartChat):
    # Case L-01.
    chat = start_chat([cut(text("Some words"), pause(60)), DONE])
    chat.send()
    chat.wait_for("Some words")
    end_host(chat)
    chat.wait_for(ABORTED)
    chat.wait_unlocked()
    assert chat.text == f"@You:\nGo.\n\n@Assistant:\nSome words\n\n{ABORTED}"
    assert chat.editor.exec_lua('return require("flemma.progress").is_running()') is False
    chat.keys("Go@You:<CR>Again.<Esc>")
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")


def test_a_host_killed_before_the_first_word_leaves_no_trace(start_chat: StartChat):
    chat = start_chat([cut(ending="hang"), DONE])
    chat.send()
    chat.wait_until(lambda: len(chat.server.requests) == 1)
    end_host(chat)
    chat.wait_until(lambda: chat.text == "@You:\nGo.")
    chat.wait_unlocked()
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")


def test_keys_pressed_before_the_host_is_ready_are_played(start_chat: StartChat):
    chat = start_chat([DONE])
    assert chat.editor.exec_lua('return require("flemma.host").status()') == "starting"
    chat.send()
    chat.wait_answered()


def test_keys_typed_ahead_do_not_approve_what_was_not_seen(start_chat: StartChat):
    # Case A-14.
    chat = start_chat([message(bash("toolu_1", "touch trace")), DONE])
    chat.keys("<C-]><M-a><M-A><C-]>")
    chat.wait_for(waiting_result("toolu_1", "pending"))
    chat.wait_unlocked()
    assert not (chat.editor.directory / "trace").exists()


def test_a_host_that_cannot_start_is_told_once_and_names_the_way_out(start_chat: StartChat):
    # Case P-04.
    chat = start_chat([], options={"python": "/nowhere/python"})
    chat.wait_until(lambda: chat.told)
    for name in ("other.chat", "another.chat"):
        chat.editor.open(chat.editor.directory / name)
        chat.keys("iHello<Esc>")
    [told] = chat.told
    assert "the option `python` names '/nowhere/python', which cannot be run" in told
    assert "make install" in told
    assert ":checkhealth flemma" in told
    # Whoever asks for something is told why nothing happens.
    chat.send()
    chat.wait_until(lambda: chat.told == [told, told])
    chat.keys(":Flemma tool:list<CR>")
    chat.wait_until(lambda: chat.told == [told, told, told])


def test_a_host_that_dies_at_start_shows_what_it_wrote(start_chat: StartChat, tmp_path: Path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho ModuleNotFoundError: pynvim >&2\nexit 3\n")
    program.chmod(0o755)
    chat = start_chat([], options={"python": str(program)})
    chat.send()
    chat.wait_until(lambda: chat.told)
    assert "did not start (exit code 3)" in chat.told[0]
    assert "ModuleNotFoundError: pynvim" in chat.told[0]


def test_a_host_of_another_version_is_refused(start_chat: StartChat, tmp_path: Path):
    program = tmp_path / "python"
    root = Path(__file__).resolve().parent.parent.parent
    program.write_text(
        f"#!{root}/.venv/bin/python\n"
        "import sys\n"
        f"sys.path.insert(0, {str(root)!r})\n"
        "from flemma.host import protocol\n"
        "protocol.VERSION += 1\n"
        "from flemma.host.__main__ import main\n"
        "main()\n"
    )
    program.chmod(0o755)
    chat = start_chat([], options={"python": str(program)})
    chat.wait_until(lambda: chat.told)
    assert "Restart Neovim after an update" in chat.told[0]
    chat.wait_until(lambda: chat.editor.processes() == [chat.editor.pid])


def test_the_health_check_starts_the_host_and_finds_nothing_wrong(start_chat: StartChat):
    chat = start_chat([])
    chat.editor.command("checkhealth flemma")
    report = chat.editor.text()
    assert "ERROR" not in report
    assert "imports Flemma" in report
    assert "answers in" in report


def all_gone(pids: set[int]) -> None:
    wait_until(lambda: not any(is_alive(pid) for pid in pids), message=f"{pids} gone")


def start_everything(start_chat: StartChat) -> tuple[Chat, set[int]]:
    """A command with children and a request, in two chats of one editor."""
    chat = start_running(start_chat, cut(text("Some words"), pause(60)))
    other = chat.editor.directory / "other.chat"
    other.write_text("@You:\nGo.\n")
    chat.editor.command("set hidden")
    chat.editor.open(other)
    chat.keys("<C-]>")
    chat.editor.wait_for_text("Some words")
    return chat, set(chat.editor.processes())


@pytest.mark.parametrize("keys", [":qall!<CR>", ":quit!<CR>:quit!<CR>", "ZQZQ"])
def test_quitting_leaves_no_process_behind(start_chat: StartChat, keys: str):
    # Cases P-14, X-08.
    chat, pids = start_everything(start_chat)
    assert len(pids) > 3
    chat.editor.keys_without_answer(keys)
    all_gone(pids)


def test_an_editor_that_is_killed_leaves_no_process_behind(start_chat: StartChat):
    # Cases P-14, X-08.
    chat, pids = start_everything(start_chat)
    os.kill(chat.editor.pid, signal.SIGKILL)
    all_gone(pids)


def test_editor_and_host_killed_together_leave_no_process_behind(start_chat: StartChat):
    chat, pids = start_everything(start_chat)
    host = chat.editor.host_pid()
    assert host
    os.kill(chat.editor.pid, signal.SIGKILL)
    os.kill(host, signal.SIGKILL)
    all_gone(pids)

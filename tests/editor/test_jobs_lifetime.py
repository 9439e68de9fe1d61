"""What background jobs survive, and what ends them (issue D)."""

import os
import signal
from pathlib import Path

import pytest

from tests.editor.chats import Chat, StartChat
from tests.editor.job_support import GATE, ONE_JOB, PATIENT, delivered, one_job, wait_delivered
from tests.support.processes import is_alive
from tests.support.wait import wait_until

JOB_LOST = "Job lost: session ended before completion."


def command_of(chat: Chat) -> int:
    """Return the process id of the waiting command."""
    editors = (chat.editor.pid, chat.editor.host_pid())
    found = [pid for pid in chat.editor.processes() if pid not in editors and _waits(pid)]
    assert found, "no command runs"
    return found[-1]


def _waits(pid: int) -> bool:
    try:
        return b"open-gate" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize(
    "leaving",
    [
        "split | only",
        "vnew | wincmd p | close",
        "edit other.txt",
        "set hidden | edit other.txt",
        "tabnew | tabonly",
        "edit!",
        "write | edit",
        "file renamed.chat | write",
    ],
)
def test_a_job_survives(start_chat: StartChat, leaving: str) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT, options={"editing": {"auto_write": True}})
    job = one_job(chat)
    running = command_of(chat)
    chat.editor.command(leaving)
    chat.wait_until(lambda: f"(job={job})" in chat.text)
    assert is_alive(running)
    GATE.open(chat)
    wait_delivered(chat, job)
    assert JOB_LOST not in chat.text
    assert chat.text.count("output of gate") == 2, "in the command and in the result"


@pytest.mark.parametrize("ending", ["bdelete!", "bwipeout!", "bunload!"])
def test_a_job_ends_with_its_buffer(start_chat: StartChat, ending: str) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT)
    one_job(chat)
    running = command_of(chat)
    chat.editor.command("split other.txt")
    chat.editor.command(f"{ending} {chat.path}")
    wait_until(lambda: not is_alive(running), message="the command is ended")
    assert chat.editor.host_pid()


def test_a_chat_that_is_closed_and_opened_again_at_once_works(start_chat: StartChat) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT)
    chat.editor.command("split other.txt")
    for _ in range(5):
        chat.editor.command(f"bunload! {chat.path} | buffer {chat.buffer}")
        chat.editor.command(f"bunload! {chat.path}")
        chat.editor.command(f"buffer {chat.buffer}")
    one_job(chat)
    assert command_of(chat)


@pytest.mark.parametrize("ending", ["quit", "kill"])
def test_a_job_ends_with_the_editor(start_chat: StartChat, ending: str) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT)
    one_job(chat)
    running, host = command_of(chat), chat.editor.host_pid()
    assert host
    if ending == "quit":
        chat.editor.keys_without_answer(":qall!<CR>")
    else:
        os.kill(chat.editor.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(running), message="the command is ended")
    wait_until(lambda: not is_alive(host), message="the host is ended")
    wait_until(lambda: not chat.editor.processes(), message="nothing is left")


def test_a_job_ends_with_a_host_that_is_killed_and_is_told_of(start_chat: StartChat) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT)
    job = one_job(chat)
    running = command_of(chat)
    chat.editor.kill_host()
    wait_until(lambda: not is_alive(running), message="the command is ended")
    wait_delivered(chat, job)
    assert f"**Job Result:** `{job}` (error)\n```\n{JOB_LOST}\n```" in chat.text
    chat.wait_notified("1 orphaned job resolved.")
    assert delivered(chat) == [job]

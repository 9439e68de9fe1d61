"""Neovim is killed at each step of a conversation and the file opened again (cases L-01, B-01).

Nothing is lost that was settled, nothing is done or sent twice, and the next send works.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.editor.chats import OPTIONS, RECORD_EVENTS, TOOLS, Chat, StartChat, bash
from tests.editor.job_support import (
    GATE,
    ONE_JOB,
    PATIENT,
    ask_for_status,
    delivered,
    in_background,
    job_blocks,
    one_job,
    wait_delivered,
    wait_jobs,
)
from tests.support.anthropic_server import cut, message, text
from tests.support.nvim import Editor
from tests.support.processes import kill

SAVED = {"editing": {"auto_write": True}}
JOB_LOST = "Job lost: session ended before completion."
INTERRUPTED = "Response interrupted by the user."
HANGING = cut(text("I begin to"), ending="hang")
LEAVES_A_TRACE = bash("toolu_run", f"echo ran >> trace; {GATE.command}")

Reopen = Callable[..., Chat]


@pytest.fixture
def reopen() -> Iterator[Reopen]:
    """Kill the editor of a chat as the kernel does, and open its file in a new one."""
    with ExitStack() as editors:

        def again(chat: Chat, tools: Any = PATIENT) -> Chat:
            kill(chat.editor.pid)
            variables = {"ANTHROPIC_BASE_URL": chat.server.url, "ANTHROPIC_API_KEY": "key"}
            editor = editors.enter_context(
                Editor(environment=variables, directory=chat.path.parent)
            )
            editor.exec_lua(RECORD_EVENTS)
            options = {**OPTIONS, **SAVED, "tools": {**TOOLS, **tools}}
            editor.exec_lua('require("flemma").setup(...)', options)
            opened = Chat(editor, chat.server, chat.path)
            opened.wait_event("FlemmaBootComplete")
            return opened

        yield again


def traces(chat: Chat) -> int:
    """Return how often the command ran."""
    trace = chat.path.parent / "trace"
    return len(trace.read_text().splitlines()) if trace.exists() else 0


def test_during_a_response(start_chat: StartChat, reopen: Reopen) -> None:
    chat = start_chat([HANGING, message(text("At last."))], options=SAVED, prompt="A question.")
    chat.send()
    chat.wait_for("I begin to")
    chat = reopen(chat)
    assert chat.text.startswith("@You:\nA question.")
    chat.send()
    chat.wait_for("At last.")
    assert chat.history().count("A question.") == 1
    assert "I begin to" not in chat.text


def test_while_a_call_waits_for_the_user(start_chat: StartChat, reopen: Reopen) -> None:
    replies = [message(LEAVES_A_TRACE), message(text("It ran."))]
    chat = start_chat(replies, options=SAVED)
    GATE.open(chat)
    chat.send()
    chat.wait_for("(pending)")
    chat.wait_until(lambda: "(pending)" in chat.path.read_text(), message="written")
    chat = reopen(chat, tools={})
    chat.put_cursor("**Tool Result:** `toolu_run` (pending)")
    chat.keys("<M-a>")
    chat.wait_for("(approved)")
    chat.send()
    chat.wait_for("It ran.")
    assert traces(chat) == 1
    assert chat.result("toolu_run")["content"] == "output of gate"


def test_while_a_tool_runs(start_chat: StartChat, reopen: Reopen) -> None:
    replies = [message(LEAVES_A_TRACE), message(text("I see."))]
    chat = start_chat(replies, options=SAVED, tools=PATIENT)
    chat.send()
    chat.wait_until(lambda: traces(chat) == 1, message="the tool runs")
    chat = reopen(chat)
    chat.wait_notified("1 interrupted tool call marked as aborted.")
    assert "**Tool Result:** `toolu_run` (aborted)" in chat.text
    chat.send()
    chat.wait_for("I see.")
    result = chat.result("toolu_run")
    assert (result["content"], result["is_error"]) == (INTERRUPTED, True)
    assert traces(chat) == 1


def test_after_a_tool_has_run(start_chat: StartChat, reopen: Reopen) -> None:
    replies = [message(LEAVES_A_TRACE), HANGING, message(text("I see."))]
    chat = start_chat(replies, options=SAVED, tools=PATIENT)
    GATE.open(chat)
    chat.send()
    chat.wait_for("I begin to")
    chat = reopen(chat)
    chat.send()
    chat.wait_for("I see.")
    assert chat.result("toolu_run")["content"] == "output of gate"
    assert list(chat.results()) == ["toolu_run"]
    assert traces(chat) == 1


def test_while_a_job_runs(start_chat: StartChat, reopen: Reopen) -> None:  # acceptance 88
    replies = [*ONE_JOB, ask_for_status, message(text("It was lost."))]
    chat = start_chat(replies, options=SAVED, tools=PATIENT)
    job = one_job(chat)
    chat.keys("Gomy own words<Esc>:write<CR>")
    chat = reopen(chat)
    chat.wait_notified("1 orphaned job resolved.")
    wait_delivered(chat, job)
    assert chat.text.partition("It runs.\n")[2] == (
        f"\n@You:\n\n**Job Result:** `{job}` (error)\n```\n{JOB_LOST}\n```\n\n@You:\n\nmy own words"
    )
    chat.send()
    chat.wait_for("It was lost.")
    assert job_blocks(chat) == [f"[Job result for bash (toolu_job)]\n{JOB_LOST}"]
    assert '"status": "completed"' in chat.result("toolu_ask")["content"]


def test_while_three_jobs_run_the_answer_names_the_number(
    start_chat: StartChat, reopen: Reopen
) -> None:
    names = ("toolu_1", "toolu_2", "toolu_3")
    calls = [in_background(name, GATE) for name in names]
    chat = start_chat([message(*calls), message(text("They run."))], options=SAVED, tools=PATIENT)
    chat.send()
    chat.wait_for("They run.")
    chat.wait_answered()
    jobs = wait_jobs(chat, *names)
    chat = reopen(chat)
    chat.wait_notified("3 orphaned jobs resolved.")
    wait_delivered(chat, *jobs.values())
    chat.keys("u")
    assert delivered(chat) == []
    chat.keys("<C-r>")
    assert delivered(chat) == list(jobs.values())
    again = reopen(chat)
    assert delivered(again) == list(jobs.values())
    assert not any("orphaned" in told for told in again.told)


@pytest.mark.parametrize("autopilot", [True, False])
def test_after_a_job_was_delivered(start_chat: StartChat, reopen: Reopen, autopilot: bool) -> None:
    tools = PATIENT if autopilot else {**PATIENT, "autopilot": False}
    replies = [*ONE_JOB, message(text("It is done."))]
    chat = start_chat(replies, options=SAVED, tools=PATIENT)
    job = one_job(chat)
    GATE.open(chat)
    wait_delivered(chat, job)
    chat.wait_until(lambda: "**Job Result:**" in chat.path.read_text(), message="written")
    chat = reopen(chat, tools=tools)
    assert delivered(chat) == [job]
    chat.send()
    chat.wait_for("It is done.")
    assert job_blocks(chat) == ["[Job result for bash (toolu_job)]\noutput of gate"]
    assert not any("orphaned" in told for told in chat.told)


def test_every_call_of_a_file_that_was_cut_anywhere_gets_one_result(
    start_chat: StartChat, reopen: Reopen
) -> None:
    """The file is what an editor left that was killed while it wrote the third block."""
    cut_file = (
        "@You:\nGo.\n\n@Assistant:\n"
        '**Tool Use:** `bash` (`toolu_1`)\n```json\n{"command": "echo 1"}\n```\n\n'
        '**Tool Use:** `bash` (`toolu_2`)\n```json\n{"command": "echo 2"}\n```\n\n'
        '**Tool Use:** `bash` (`toolu_3`)\n```json\n{"command": "echo'
    )
    chat = start_chat([message(text("All right."))], text=cut_file, options=SAVED, tools=PATIENT)
    chat.send()
    chat.wait_for("All right.")
    assert {name: result["content"] for name, result in chat.results().items()} == {
        "toolu_1": "1",
        "toolu_2": "2",
    }
    assert len(re.findall(r"\*\*Tool Result:\*\*", chat.text)) == 2

"""Background jobs in a real Neovim (issue D; spec: tools, "Background jobs"; behaviour 7)."""

import json
import re
from typing import Any

import pytest

from tests.editor.chats import Chat, StartChat, bash
from tests.editor.job_support import (
    FREE,
    GATE,
    ONE_JOB,
    PATIENT,
    RUNNING,
    Gate,
    ask_for_status,
    delivered,
    fired,
    in_background,
    job_blocks,
    one_job,
    wait_delivered,
    wait_jobs,
)
from tests.support.anthropic_server import message, pause, text


def test_three_jobs_of_different_length_each_land_once(start_chat: StartChat) -> None:
    """One is put in the background by the model, one by Alt-B, one is cancelled."""
    moved, dropped, longest = Gate("moved"), Gate("dropped"), Gate("longest")
    start = message(
        text("Three things."),
        in_background("toolu_longest", longest),
        bash("toolu_moved", moved.command),
        in_background("toolu_dropped", dropped),
    )
    chat = start_chat(
        [start, message(text("They run.")), message(text("All three are done."))],
        tools={**PATIENT, "max_concurrent": 0},
    )
    chat.send()
    chat.wait_event("FlemmaToolExecuting")
    wait_jobs(chat, "toolu_longest", "toolu_dropped")
    assert not chat.editor.option("modifiable", chat.buffer)
    chat.put_cursor("**Tool Result:** `toolu_moved`")
    chat.keys("<M-b>")
    chat.wait_notified("Tool moved to background.")
    chat.wait_for("They run.")
    chat.wait_answered()
    jobs = wait_jobs(chat, "toolu_moved")
    assert len(set(jobs.values())) == 3

    chat.keys("Gofirst thought<Esc>")
    moved.open(chat)
    wait_delivered(chat, jobs["toolu_moved"])
    chat.keys("Gosecond ")
    chat.editor.command(f"call cursor(search('{jobs['toolu_dropped']}', 'w'), 1)")
    chat.keys("<C-o>:Flemma tool:cancel<CR>")
    chat.wait_notified("Tool execution cancelled")
    wait_delivered(chat, jobs["toolu_moved"], jobs["toolu_dropped"])
    chat.keys("<C-o>G<End>thou")
    longest.open(chat)
    wait_delivered(chat, jobs["toolu_moved"], jobs["toolu_dropped"], jobs["toolu_longest"])
    chat.keys("ght")

    below = chat.text.partition("They run.\n")[2]
    assert below == (
        f"\n@You:\n\n**Job Result:** `{jobs['toolu_moved']}`\n```\noutput of moved\n```\n"
        f"\n**Job Result:** `{jobs['toolu_dropped']}` (error)\n"
        "```\nUser aborted tool execution.\n```\n"
        f"\n**Job Result:** `{jobs['toolu_longest']}`\n```\noutput of longest\n```\n"
        "\n@You:\n\nfirst thought\nsecond thought"
    )
    assert not fired(chat, "FlemmaAutopilotResumeScheduled"), "a draft is not sent by itself"

    chat.keys("<C-]>")
    chat.wait_for("All three are done.")
    assert len(chat.server.requests) == 3
    assert job_blocks(chat) == [
        "[Job result for bash (toolu_moved)]\noutput of moved",
        "[Job result for bash (toolu_dropped)]\nUser aborted tool execution.",
        "[Job result for bash (toolu_longest)]\noutput of longest",
    ]
    for identifier, job in jobs.items():
        assert chat.result(identifier)["content"] == RUNNING.format(job)
    assert chat.history().count("second thought") == 1


def test_the_conversation_goes_on_after_the_delay(start_chat: StartChat) -> None:
    chat = start_chat([*ONE_JOB, message(text("It is done."))], tools=FREE)
    job = one_job(chat)
    placeholder = RUNNING.format(job)
    assert f"**Tool Result:** `toolu_job` (job={job})\n```\n{placeholder}\n```" in chat.text
    assert chat.result("toolu_job")["content"] == placeholder
    GATE.open(chat)
    chat.wait_for("It is done.")
    chat.wait_answered()
    assert job_blocks(chat) == ["[Job result for bash (toolu_job)]\noutput of gate"]
    job_data = {"bufnr": 1, "tool_id": "toolu_job", "tool_name": "bash", "job_id": job}
    assert fired(chat, "FlemmaJobSubmitted") == [job_data]
    assert fired(chat, "FlemmaJobCompleted") == [{**job_data, "status": "success"}]
    resume = [data for name, data in chat.events() if "AutopilotResume" in name]
    assert resume == [{"bufnr": 1, "delay": 50}, {"bufnr": 1}]
    assert fired(chat, "FlemmaAutopilotResumed") == [{"bufnr": 1}]


def scheduled(start_chat: StartChat, *more: Any) -> tuple[Chat, str]:
    """Return a chat whose job has delivered, and that would go on in ten minutes."""
    chat = start_chat([*ONE_JOB, *more], tools=PATIENT)
    job = one_job(chat)
    GATE.open(chat)
    wait_delivered(chat, job)
    chat.wait_event("FlemmaAutopilotResumeScheduled")
    return chat, job


def test_ctrl_c_cancels_the_continuation(start_chat: StartChat) -> None:
    chat, _ = scheduled(start_chat)
    chat.keys("<C-c>")
    chat.wait_notified("Cancelled pending auto-continue.")
    chat.wait_event("FlemmaAutopilotResumeCancelled")
    chat.keys("<C-c>")
    chat.wait_notified("Nothing to cancel")
    assert len(chat.server.requests) == 2


def test_typing_cancels_the_continuation(start_chat: StartChat) -> None:
    chat, _ = scheduled(start_chat)
    chat.keys("Go")
    chat.wait_event("FlemmaAutopilotResumeCancelled")
    assert len(chat.server.requests) == 2


def test_a_send_by_hand_takes_the_place_of_the_continuation(start_chat: StartChat) -> None:
    chat, _ = scheduled(start_chat, message(text("It is done.")))
    chat.send()
    chat.wait_event("FlemmaAutopilotResumeCancelled")
    chat.wait_for("It is done.")
    assert len(job_blocks(chat)) == 1
    assert not fired(chat, "FlemmaAutopilotResumed")


def test_each_completion_starts_the_delay_anew(start_chat: StartChat) -> None:
    one, two = Gate("one"), Gate("two")
    start = message(in_background("toolu_1", one), in_background("toolu_2", two))
    chat = start_chat([start, message(text("They run."))], tools=PATIENT)
    chat.send()
    chat.wait_for("They run.")
    chat.wait_answered()
    jobs = wait_jobs(chat, "toolu_1", "toolu_2")
    two.open(chat)
    chat.wait_event("FlemmaAutopilotResumeScheduled", 1)
    one.open(chat)
    chat.wait_event("FlemmaAutopilotResumeScheduled", 2)
    assert delivered(chat) == [jobs["toolu_2"], jobs["toolu_1"]]
    assert chat.text.count("@You:") == 3, "both results share one message"
    chat.keys("<C-c>")
    chat.wait_notified("Cancelled pending auto-continue.")
    assert len(fired(chat, "FlemmaAutopilotResumeCancelled")) == 1


def test_while_the_user_types_nothing_is_sent(start_chat: StartChat) -> None:  # case L-06
    chat = start_chat([*ONE_JOB, message(text("Sent by hand."))], tools=FREE)
    job = one_job(chat)
    chat.keys("Go")
    GATE.open(chat)
    wait_delivered(chat, job)
    chat.keys("my own words")
    assert chat.text.endswith("\n@You:\n\nmy own words") or chat.text.endswith("\nmy own words")
    chat.keys("<Esc>")
    assert not fired(chat, "FlemmaAutopilotResumeScheduled")
    chat.send()
    chat.wait_for("Sent by hand.")
    assert len(chat.server.requests) == 3
    assert len(job_blocks(chat)) == 1


@pytest.mark.parametrize("leave", ["<Esc>", "<C-c>", "<C-[>"])
def test_who_is_done_typing_nothing_is_waited_for(start_chat: StartChat, leave: str) -> None:
    chat = start_chat([*ONE_JOB, message(text("It is done."))], tools=FREE)
    one_job(chat)
    chat.keys(f"Gox<BS>{leave}")
    chat.wait_until(lambda: chat.editor.mode()["mode"] == "n")
    GATE.open(chat)
    chat.wait_for("It is done.")
    assert fired(chat, "FlemmaAutopilotResumed")


def test_a_job_that_ends_during_a_loop_continues_at_once(start_chat: StartChat) -> None:
    def answer(_: Any) -> Any:
        GATE.open(chat)
        return message(text("It runs"), pause(0.8), text(" and I wait."))

    replies = [ONE_JOB[0], answer, message(text("It is done."))]
    chat = start_chat(replies, tools=PATIENT)
    chat.send()
    chat.wait_for("It is done.")
    assert len(job_blocks(chat)) == 1
    assert not fired(chat, "FlemmaAutopilotResumeScheduled")


def test_the_next_send_of_a_loop_takes_a_result_along(start_chat: StartChat) -> None:
    quick = bash("toolu_job", "echo quick; touch quick", **{"flemma.background": True})
    slow = bash("toolu_slow", "until [ -e quick ]; do sleep 0.02; done; sleep 0.4; echo slow")
    chat = start_chat([message(quick, slow), message(text("Both are done."))], tools=PATIENT)
    chat.send()
    chat.wait_for("Both are done.")
    assert job_blocks(chat) == ["[Job result for bash (toolu_job)]\nquick"]
    assert chat.result("toolu_slow")["content"] == "slow"


def test_without_autopilot_results_are_delivered_and_wait(start_chat: StartChat) -> None:
    tools = {**FREE, "autopilot": {"enabled": False}}
    chat = start_chat([*ONE_JOB, message(text("It is done."))], tools=tools)
    chat.send()
    chat.wait_for("**Tool Use:** `bash`")
    chat.wait_answered()
    chat.send()
    job = wait_jobs(chat, "toolu_job")["toolu_job"]
    chat.wait_unlocked()
    chat.send()
    chat.wait_for("It runs.")
    chat.wait_answered()
    GATE.open(chat)
    wait_delivered(chat, job)
    assert len(chat.server.requests) == 2
    assert not fired(chat, "FlemmaAutopilotResumeScheduled")
    chat.send()
    chat.wait_for("It is done.")
    assert len(job_blocks(chat)) == 1


def test_without_the_status_tool_the_model_is_not_sent_to_it(start_chat: StartChat) -> None:
    head = '```lua\nflemma.opt.tools = { "bash" }\n```\n\n@You:\nGo.\n'
    chat = start_chat(ONE_JOB, tools=PATIENT, text=head)
    one_job(chat)
    assert chat.result("toolu_job")["content"] == (
        "Running as a background job. Do not retry or attempt to check progress — the result "
        "will be delivered to you automatically when the job completes."
    )


def test_a_failed_job_is_an_error_result(start_chat: StartChat) -> None:
    command = f"{GATE.command}; exit 3"
    failing = message(bash("toolu_job", command, **{"flemma.background": True}))
    chat = start_chat([failing, ONE_JOB[1]], tools=PATIENT)
    job = one_job(chat)
    GATE.open(chat)
    wait_delivered(chat, job)
    content = "output of gate\n\nCommand exited with code 3"
    assert f"**Job Result:** `{job}` (error)\n```\n{content}\n```" in chat.text


def test_the_model_can_ask_how_a_job_stands(start_chat: StartChat) -> None:
    chat = start_chat(
        [*ONE_JOB, ask_for_status, message(text("Still running."))],
        tools={"auto_approve": ["$standard", "bash"], "autopilot": {"resume_delay": 600_000}},
    )
    job = one_job(chat)
    chat.keys("Go How is it?<Esc>")
    chat.send()
    chat.wait_for("Still running.")
    answer = json.loads(chat.result("toolu_ask")["content"])
    assert answer.pop("elapsed_seconds") >= 0
    assert answer == {
        "status": "running",
        "job_id": job,
        "tool_id": "toolu_job",
        "tool_name": "bash",
    }


def test_a_running_job_shows_its_spinner_and_stays_open(start_chat: StartChat) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT)
    job = one_job(chat)
    editor = chat.editor
    row = editor.lines().index(f"**Tool Result:** `toolu_job` (job={job})")
    chat.wait_until(
        lambda: [row] == [at for at, shown in editor.virtual_text() if "Executing…" in shown],
        message="a spinner on the placeholder",
    )
    assert editor.call("foldclosed", row + 2) == -1
    use = editor.lines().index("**Tool Use:** `bash` (`toolu_job`)")
    assert editor.call("foldclosed", use + 2) == -1
    GATE.open(chat)
    wait_delivered(chat, job)
    chat.wait_until(
        lambda: not any("Executing…" in shown for _, shown in editor.virtual_text()),
        message="no spinner any more",
    )
    chat.wait_until(lambda: editor.call("foldclosed", row + 2) == row + 1, message="it folds")


def test_one_undo_takes_a_delivery_back_and_the_model_hears_of_it(start_chat: StartChat) -> None:
    chat, job = scheduled(
        start_chat, ask_for_status, message(text("Where is it?"))
    )  # acceptance 89
    chat.keys("<C-c>")
    chat.wait_notified("Cancelled pending auto-continue.")
    chat.keys("u")
    assert delivered(chat) == []
    chat.keys("Go What now?<Esc>")
    chat.send()
    chat.wait_for("Where is it?")
    assert json.loads(chat.result("toolu_ask")["content"]) == {
        "status": "completed (removed from conversation)",
        "job_id": job,
    }


def bar(chat: Chat) -> str:
    """Return what the bottom row of the window shows."""
    return chat.editor.screen_lines()[-3]


def test_a_bar_tells_of_jobs_and_of_the_continuation(start_chat: StartChat) -> None:
    options = {"ui": {"jobs": {"position": "bottom right"}, "usage": {"enabled": False}}}
    chat = start_chat(ONE_JOB, tools=PATIENT, options=options)
    one_job(chat)
    chat.wait_until(lambda: re.search("[⠁-⣿] 1 job", bar(chat)), message="a bar with a spinner")
    GATE.open(chat)
    chat.wait_until(lambda: "continues in 10m 0s" in bar(chat), message="a countdown")
    assert "job" not in bar(chat)
    chat.wait_until(lambda: "continues in 9m 5" in bar(chat), message="it counts down")
    chat.keys("<C-c>")
    chat.wait_until(lambda: "continues" not in bar(chat), message="no bar any more")


def test_the_bar_goes_with_the_host(start_chat: StartChat) -> None:
    options = {"ui": {"jobs": {"position": "bottom right"}, "usage": {"enabled": False}}}
    chat = start_chat(ONE_JOB, tools=PATIENT, options=options)
    one_job(chat)
    chat.wait_until(lambda: "1 job" in bar(chat), message="a bar")
    chat.editor.kill_host()
    chat.wait_until(lambda: "1 job" not in bar(chat), message="no bar any more")
    chat.wait_notified("1 orphaned job resolved.")


def test_without_a_position_there_is_no_bar(start_chat: StartChat) -> None:
    chat, _ = scheduled(start_chat)
    assert not any("continues in" in line for line in chat.editor.screen_lines())

"""kill -9 at any moment: nothing is lost, nothing happens twice, nothing stays behind (L-01)."""

import re
import signal
from collections import Counter

import pytest

from tests.engine.bodies import calls, result_text, results, said
from tests.engine.conftest import Chat
from tests.support.anthropic_server import (
    Recorded,
    Reply,
    cut,
    message,
    pause,
    serving,
    text,
    tool_use,
)
from tests.support.wait import wait_until

QUESTION = "@You:\nPlease go on.\n"


def kill(chat: Chat, child: object) -> None:
    """End the process without a chance to tidy up; the guard ends what it had started."""
    child.send_signal(signal.SIGKILL)  # pyright: ignore
    child.wait(10)  # pyright: ignore
    chat.wait_for_silence()


def test_a_kill_during_an_answer_keeps_what_was_shown_and_a_run_goes_on(chat: Chat):
    chat.write(QUESTION)
    with serving(
        [cut(text("Half of the answer"), ending="hang"), message(text("Whole."))]
    ) as server:
        chat.serve(server)
        child = chat.start()
        assert child.stdout is not None
        child.stdout.readline()
        chat.wait_for(lambda content: "Half of the answer" in content, "the text in the file")
        kill(chat, child)
        before = chat.text
        ran = chat.finish(chat.start())
    assert ran.code == 0
    assert ran.text.startswith(before.rstrip("\n"))
    assert "Whole." in ran.text


def test_a_kill_during_a_command_ends_it_and_it_never_runs_again(chat: Chat):
    chat.write(QUESTION)
    command = "echo ran >> log; echo x > pid; sleep 600"
    replies = [
        message(text("I run."), tool_use("toolu_1", "bash", {"command": command})),
        message(text("It was cut short.")),
    ]
    with serving(replies) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        wait_until(lambda: (chat.directory / "pid").exists(), timeout=20)
        kill(chat, child)
        ran = chat.finish(chat.start("--approve", "bash"))
    assert ran.code == 0
    assert "1 interrupted tool call marked as aborted." in ran.notices
    assert (chat.directory / "log").read_text() == "ran\n"
    assert results(chat.bodies[-1])["toolu_1"]["is_error"]


def test_a_kill_during_a_job_tells_the_model_once_that_it_is_lost(chat: Chat):
    chat.write(QUESTION)
    call = {"command": "echo ran >> log; sleep 600", "flemma.background": True, "timeout": 900}
    replies = [
        message(tool_use("toolu_1", "bash", call)),
        message(text("It runs.")),
        message(text("It is lost.")),
    ]
    with serving(replies) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        chat.wait_for(lambda content: "It runs.\n\n@You:" in content, "the answer in the file")
        kill(chat, child)
        chat.write(chat.text.rstrip() + "\nAnd now?\n")
        ran = chat.finish(chat.start("--approve", "bash"))
    assert ran.code == 0
    assert (chat.directory / "log").read_text() == "ran\n"
    assert "".join(said(chat.bodies[-1])).count("Job lost") == 1


STEPS = 2


def play(request: Recorded) -> Reply:
    """Answer by what was done so far: two calls a step, one of them slow; then a last word."""
    step = len(calls(request.json)) // 2 + 1
    if step > STEPS:
        return message(text("All done."), delay=0.01)
    return message(
        text(f"Step {step}.", size=2),
        tool_use(f"quick_{step}", "bash", {"command": f"echo quick {step} | tee -a log"}),
        pause(0.05),
        tool_use(f"slow_{step}", "bash", {"command": f"sleep 0.05; echo slow {step} | tee -a log"}),
        delay=0.01,
    )


@pytest.mark.parametrize("moment", range(6))
def test_a_kill_at_any_moment_loses_nothing_and_repeats_nothing(chat: Chat, moment: int):  # S-18
    chat.write(QUESTION)
    with serving([play], repeat_last=True) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        # The moment is one of the file's growth, so that it means the same on any machine.
        wanted = len(QUESTION) + 10 + moment * 110
        chat.wait_for(lambda content: len(content) > wanted, f"{wanted} bytes in the file")
        kill(chat, child)
        before = chat.text
        ran = chat.finish(chat.start("--approve", "bash"))
    assert ran.code == 0, ran.notices
    done = Counter((chat.directory / "log").read_text().split("\n")) if log(chat) else Counter()
    assert all(count == 1 for line, count in done.items() if line)
    body = chat.bodies[-1]
    assert list(results(body)) == calls(body)
    for identifier, block in results(body).items():
        name, _, step = identifier.partition("_")
        told = result_text(block)
        assert told == f"{name} {step}" or block["is_error"]
    finished = re.findall(r"^(?:quick|slow) \d$", before, re.MULTILINE)
    assert all(f"```\n{output}\n```" in ran.text for output in finished)
    assert ran.text.count("All done.") == 1


def log(chat: Chat) -> bool:
    return (chat.directory / "log").exists()

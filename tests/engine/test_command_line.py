"""The real program: output, exit codes, signals, and nothing left behind."""

import json
import signal
import subprocess
import sys

import pytest

from tests.engine.conftest import Chat
from tests.support.anthropic_server import Answer, cut, message, serving, text, thinking, tool_use
from tests.support.wait import wait_until

QUESTION = "@You:\nPlease go on.\n"
FOREVER = "echo started; sleep 600 & echo $! > pid; sleep 600"


def flemma(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "flemma.headless", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        **options,
    )


def test_the_answer_goes_to_stdout_and_everything_else_to_stderr(chat: Chat):
    chat.write("@You:\nHello {{ nme }}.\n")
    with serving([message(text("Hello.\n\nYou."))]) as server:
        chat.serve(server)
        ran = chat.finish(chat.start())
    assert ran.code == 0
    assert ran.transcript == "@Assistant:\nHello.\n\nYou.\n"
    assert ran.notices.startswith("flemma: warning: ")
    assert "Undefined variable" in ran.notices


def test_json_is_one_object_with_everything_in_it(chat: Chat):
    chat.write(QUESTION)
    replies = [
        message(thinking("Hm."), text("May I?"), tool_use("toolu_1", "bash", {"command": "ls"}))
    ]
    with serving(replies) as server:
        chat.serve(server)
        ran = chat.finish(chat.start("--json", "--model", "claude-haiku-4-5"))
    report = json.loads(ran.transcript)
    assert ran.code == report["exit_code"] == 3
    assert report["outcome"] == "waiting"
    assert report["file"] == str(chat.path)
    assert report["reply"] == "May I?"
    assert report["pending"] == [{"id": "toolu_1", "name": "bash", "preview": "bash: $ ls"}]
    assert report["turns"] == 1
    assert report["usage"]["input"] == 12
    assert report["cost"] > 0
    assert report["diagnostics"] == []
    assert chat.bodies[0]["model"] == "claude-haiku-4-5"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run"],
        ["walk"],
        ["run", "x.chat", "--max-turns", "0"],
        ["run", "x.chat", "--max-turns", "many"],
        ["run", "x.chat", "--grace", "-1"],
        ["run", "x.chat", "--grace", "inf"],
        ["run", "gone.chat"],
        ["run", "x.chat", "--provider", "nobody"],
    ],
)
def test_wrong_usage_ends_with_code_2_and_a_word(chat: Chat, arguments: list[str]):
    (chat.directory / "x.chat").write_text(QUESTION)
    ran = flemma(*arguments, cwd=chat.directory, env=chat.environment)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr
    assert ran.stderr.strip()


def test_help_names_the_exit_codes():
    ran = flemma("run", "--help")
    assert ran.returncode == 0
    assert "calls wait for approval" in ran.stdout


def test_neither_command_loads_anything_of_neovim():
    source = (
        "import sys, flemma.headless.__main__, flemma.headless.run, flemma.headless.doctor\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('pynvim', 'greenlet')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "[]\n"


def interrupted(chat: Chat, number: signal.Signals, *replies: Answer, seen: str) -> tuple[int, str]:
    """Run, send the signal when ``seen`` is in the file, and return exit code and stderr."""
    with serving(replies, strict=False) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        chat.wait_for(lambda content: seen in content, f"{seen!r} in the file")
        child.send_signal(number)
        ran = chat.finish(child)
    chat.wait_for_silence()
    return ran.code, ran.notices


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_during_an_answer_keeps_the_text_with_a_mark(
    chat: Chat, number: signal.Signals, code: int
):  # S-07, S-08
    chat.write(QUESTION)
    reply = cut(text("Half of the answer"), ending="hang")
    assert interrupted(chat, number, reply, seen="Half of")[0] == code
    assert chat.text == (
        QUESTION + "\n@Assistant:\nHalf of the answer\n\n"
        "<!-- flemma:aborted: Response interrupted by the user. -->\n"
    )


def test_a_signal_before_any_answer_leaves_the_file_as_it_was(chat: Chat):  # acceptance 50
    chat.write(QUESTION)
    code, notices = interrupted(chat, signal.SIGINT, cut(ending="hang"), seen="@Assistant:")
    assert code == 130
    assert chat.text == QUESTION
    assert "Request cancelled" in notices


def test_a_signal_during_a_command_ends_its_whole_tree_and_says_so(chat: Chat):
    chat.write(QUESTION)
    with serving([message(tool_use("toolu_1", "bash", {"command": FOREVER}))]) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        wait_until(lambda: (chat.directory / "pid").exists(), timeout=20)
        child.send_signal(signal.SIGINT)
        ran = chat.finish(child)
    assert ran.code == 130
    chat.wait_for_silence()
    assert "**Tool Result:** `toolu_1` (error)\n```\nUser aborted tool execution." in ran.text
    assert ran.transcript.rstrip().endswith("```")


def test_a_signal_during_a_job_ends_it_and_says_so(chat: Chat):
    chat.write(QUESTION)
    call = {"command": FOREVER, "flemma.background": True, "timeout": 900}
    replies = [message(tool_use("toolu_1", "bash", call)), message(text("It runs."))]
    code, _ = interrupted(chat, signal.SIGTERM, *replies, seen="It runs.")
    assert code == 143
    assert "User aborted tool execution." in chat.text
    assert chat.text.count("**Job Result:**") == 1


def test_a_signal_during_the_wait_before_a_retry_ends_it_at_once(chat: Chat):  # S-07
    from tests.support.anthropic_server import error

    chat.write(QUESTION)
    limited = error(429, "rate_limit_error", "Slow down", headers={"retry-after": "100"})
    with serving([limited], strict=False) as server:
        chat.serve(server)
        child = chat.start()
        assert child.stderr is not None
        assert "retrying in" in child.stderr.readline()
        child.send_signal(signal.SIGINT)
        ran = chat.finish(child, timeout=5)
    assert ran.code == 130
    assert ran.text == QUESTION


def test_a_second_signal_ends_the_program_at_once(chat: Chat):
    chat.write(QUESTION)
    stubborn = {"command": "trap '' INT TERM HUP; echo x > pid; sleep 600; sleep 600"}
    with serving([message(tool_use("toolu_1", "bash", stubborn))]) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        wait_until(lambda: (chat.directory / "pid").exists(), timeout=20)
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGINT)
        ran = chat.finish(child, timeout=10)
    assert ran.code == 130
    chat.wait_for_silence()


def test_a_reader_that_goes_away_does_not_stop_the_run(chat: Chat):
    chat.write(QUESTION)
    replies = [
        message(text("x" * 200_000), tool_use("toolu_1", "bash", {"command": "echo end"})),
        message(text("Done.")),
    ]
    with serving(replies) as server:
        chat.serve(server)
        child = chat.start("--approve", "bash")
        assert child.stdout is not None
        child.stdout.close()
        assert child.wait(20) == 0
    assert "@Assistant:\nDone." in chat.text


def test_bytes_that_are_no_text_do_not_break_the_output(chat: Chat):
    chat.write(QUESTION)
    replies = [
        message(tool_use("toolu_1", "bash", {"command": r"printf 'a\xff\x00\x1b[31mb\n'"})),
        message(text("Odd.")),
    ]
    with serving(replies) as server:
        chat.serve(server)
        ran = chat.finish(chat.start("--approve", "bash"))
    assert ran.code == 0
    assert "\x1b" not in ran.transcript
    assert ran.notices == ""

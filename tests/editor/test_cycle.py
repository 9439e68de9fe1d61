"""The main job: question, read, edit, a command that asks, result, answer (issue A)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editor.chats import (
    Chat,
    StartChat,
    bash,
    has_run,
    read,
    start_pending,
    waiting_result,
)
from tests.support.anthropic_server import message, serving, text, thinking, tool_use

GREETING = "def greet():\n    return 'hello'\n"
EDITED = "def greet():\n    return 'good day'\n"

MAIN_JOB = [
    message(
        thinking("I should look first.", signature="c2ln"),
        text("I read the file."),
        read("toolu_read", "greet.py"),
    ),
    message(
        text("Now I change it."),
        tool_use(
            "toolu_edit",
            "edit",
            {
                "label": "friendlier",
                "path": "greet.py",
                "oldText": "'hello'",
                "newText": "'good day'",
            },
        ),
    ),
    message(text("And I count the lines."), bash("toolu_bash", "wc -l < greet.py")),
    message(text("The greeting is "), text("friendlier now.")),
]

ROOT = Path(__file__).resolve().parent.parent.parent
WAITS = 3
"""Exit code of a run that waits for an approval."""

TRANSCRIPT = """\
@You:
Make the greeting friendlier.

@Assistant:
<thinking anthropic:signature="c2ln">
I should look first.
</thinking>
I read the file.

**Tool Use:** `read` (`toolu_read`)
```json
{"label": "a label", "path": "greet.py"}
```

@You:

**Tool Result:** `toolu_read`
```
def greet():
    return 'hello'
```

@Assistant:
Now I change it.

**Tool Use:** `edit` (`toolu_edit`)
```json
{"label": "friendlier", "path": "greet.py", "oldText": "'hello'", "newText": "'good day'"}
```

@You:

**Tool Result:** `toolu_edit`
```
EDIT_RESULT
```

@Assistant:
And I count the lines.

**Tool Use:** `bash` (`toolu_bash`)
```json
{"label": "a label", "command": "wc -l < greet.py"}
```

@You:

**Tool Result:** `toolu_bash`
```
2
```

@Assistant:
The greeting is friendlier now.

@You:
"""


def start_main_job(start_chat: StartChat) -> Chat:
    chat = start_chat(MAIN_JOB, prompt="Make the greeting friendlier.")
    (chat.editor.directory / "greet.py").write_text(GREETING)
    chat.send()
    chat.wait_for(waiting_result("toolu_bash", "pending"))
    return chat


def test_a_question_is_answered_with_a_read_an_edit_and_an_approved_command(start_chat: StartChat):
    chat = start_main_job(start_chat)
    chat.wait_cursor(waiting_result("toolu_bash", "pending"))
    chat.wait_until(lambda: chat.shown("bash: $ wc -l < greet.py — a label"))
    assert (chat.editor.directory / "greet.py").read_text() == EDITED

    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_bash", "approved"))
    assert len(chat.server.requests) == 3
    chat.send()
    answered = chat.wait_answered()

    edit_result = chat.result("toolu_edit")["content"]
    assert answered == TRANSCRIPT.replace("EDIT_RESULT", edit_result)
    assert list(chat.results()) == ["toolu_read", "toolu_edit", "toolu_bash"]
    assert chat.result("toolu_bash")["content"] == "2"
    chat.wait_until(lambda: chat.editor.cursor() == (len(chat.editor.lines()), 0))
    assert chat.told == []


def run_without_editor(chat: Path, url: str) -> int:
    """Run the command line on a chat and return its exit code."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(chat.parent),
        "XDG_STATE_HOME": str(chat.parent / "state"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "key",
    }
    argv = [sys.executable, "-m", "flemma.headless", "run", str(chat)]
    arguments = ["--provider", "anthropic", "--model", "claude-sonnet-4-6"]
    ran = subprocess.run([*argv, *arguments], env=variables, cwd=ROOT, capture_output=True)
    assert ran.returncode in (0, WAITS), ran.stderr.decode()
    return ran.returncode


def test_the_same_chat_without_an_editor_gets_the_same_text(start_chat: StartChat, tmp_path: Path):
    ask = "```lua\nflemma.opt.tools.auto_approve_sandboxed = false\n```\n\n"
    question = f"{ask}@You:\nMake the greeting friendlier.\n"
    chat = start_chat(MAIN_JOB, text=question)
    (chat.editor.directory / "greet.py").write_text(GREETING)
    chat.send()
    chat.wait_cursor(waiting_result("toolu_bash", "pending"))
    chat.keys("<M-a><C-]>")
    in_editor = chat.wait_answered("now.\n\n@You:\n")
    assert in_editor.removeprefix(ask).startswith(TRANSCRIPT[:200])

    headless = tmp_path / "work.chat"
    headless.write_text(question)
    (tmp_path / "greet.py").write_text(GREETING)
    with serving(MAIN_JOB) as server:
        assert run_without_editor(headless, server.url) == WAITS
        headless.write_text(headless.read_text().replace("(pending)", "(approved)"))
        assert run_without_editor(headless, server.url) == 0
        assert server.requests[-1].json["messages"] == chat.server.requests[-1].json["messages"]
    assert headless.read_text() == in_editor + "\n"
    assert (tmp_path / "greet.py").read_text() == EDITED


@pytest.mark.parametrize(
    ("status", "is_error", "content", "runs"),
    [
        ("approved", False, "output", True),
        ("rejected", True, "This tool has been rejected by the user.", False),
        ("reject", True, "This tool has been rejected by the user.", False),
        ("denied", True, "The tool was denied by a policy.", False),
        ("aborted", True, "Response interrupted by the user.", False),
        ("status=approved note=later", False, "output", True),
    ],
)
def test_a_status_written_into_the_header_decides(
    start_chat: StartChat, status: str, is_error: bool, content: str, runs: bool
):
    chat = start_pending(start_chat)
    chat.keys(f"0f(ci({status}<Esc>")
    chat.send()
    chat.wait_answered()
    result = chat.result("toolu_1")
    assert (result.get("is_error", False), result["content"]) == (is_error, content)
    assert has_run(chat) == runs
    assert f"**Tool Result:** `toolu_1`{' (error)' if is_error else ''}" in chat.text


def test_a_reason_typed_into_a_rejected_block_is_what_the_model_reads(start_chat: StartChat):
    chat = start_pending(start_chat)
    chat.keys("0f(ci(rejected<Esc>joI don't want to.<Esc>")
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1") == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "I don't want to.",
        "is_error": True,
    }


def test_text_typed_into_a_denied_block_does_not_replace_the_denial(start_chat: StartChat):
    # Acceptance 44.
    chat = start_pending(start_chat)
    chat.keys("0f(ci(denied<Esc>jomine<Esc>")
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "The tool was denied by a policy."
    assert "mine" not in chat.text


def test_output_pasted_into_a_pending_block_is_sent_and_nothing_is_run(start_chat: StartChat):
    # Acceptance 40.
    chat = start_pending(start_chat)
    chat.keys("jothe output of my own run<Esc>")
    chat.send()
    chat.wait_answered()
    result = chat.result("toolu_1")
    assert (result["content"], result.get("is_error", False)) == (
        "the output of my own run",
        False,
    )
    assert not has_run(chat)
    assert "**Tool Result:** `toolu_1`\n" in chat.text


def test_an_edited_approved_block_is_neither_run_nor_overwritten(start_chat: StartChat):
    # Acceptance 41.
    chat = start_pending(start_chat)
    chat.keys("jomy words<Esc>k<M-a>")
    chat.wait_for(waiting_result("toolu_1", "approved"))
    chat.send()
    chat.wait_notified(
        "1 tool result(s) have edited content inside an approved tool block — skipping execution "
        "to protect your edits. Remove the (approved) status from the header to send your content."
    )
    assert "my words" in chat.text
    assert not has_run(chat)
    assert len(chat.server.requests) == 1
    chat.put_cursor("**Tool Result:**")
    chat.keys("0f(hD")
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "my words"


def test_approving_again_takes_the_approval_back(start_chat: StartChat):
    chat = start_pending(start_chat)
    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_1", "approved"))
    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_1", "pending"))
    chat.keys(":Flemma tool:reject<CR>")
    chat.wait_for(waiting_result("toolu_1", "rejected"))
    chat.keys(":Flemma tool:reject<CR>")
    chat.wait_for(waiting_result("toolu_1", "pending"))
    chat.keys(":Flemma tool:reject<CR>")
    chat.wait_for(waiting_result("toolu_1", "rejected"))
    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_1", "approved"))
    assert not has_run(chat)


def test_a_rejection_by_command_gives_its_words_to_the_model(start_chat: StartChat):
    # Acceptance 43.
    chat = start_pending(start_chat)
    chat.keys(":Flemma tool:reject too   risky<CR>")
    chat.wait_for("User feedback: too risky")
    chat.send()
    chat.wait_answered()
    assert chat.result("toolu_1")["content"] == "User feedback: too risky"
    assert chat.result("toolu_1")["is_error"] is True


THREE = message(
    text("Three things."),
    bash("toolu_1", "echo 1 > trace1"),
    bash("toolu_2", "echo 2 > trace2"),
    bash("toolu_3", "echo 3 > trace3"),
)


def test_calls_of_a_batch_are_decided_one_by_one_and_keep_their_reasons(start_chat: StartChat):
    # Cases, B-02.
    chat = start_pending(start_chat, reply=THREE)
    chat.wait_until(
        lambda: all(chat.shown(f"bash: $ echo {n} > trace{n} — a label") for n in (1, 2, 3))
    )
    chat.put_cursor("**Tool Result:** `toolu_2`")
    chat.keys(":Flemma tool:reject not that one<CR>")
    chat.wait_for("User feedback: not that one")
    chat.put_cursor("**Tool Result:** `toolu_3`")
    chat.keys(":Flemma tool:reject nor this<CR>")
    chat.wait_for("User feedback: nor this")
    chat.put_cursor("**Tool Result:** `toolu_1`")
    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_1", "approved"))
    chat.send()
    chat.wait_answered()
    assert list(chat.results()) == ["toolu_1", "toolu_2", "toolu_3"]
    assert chat.result("toolu_1")["content"] == "(no output)"
    assert chat.result("toolu_2")["content"] == "User feedback: not that one"
    assert chat.result("toolu_3")["content"] == "User feedback: nor this"
    assert {path.name for path in chat.editor.directory.glob("trace*")} == {"trace1"}


def test_all_pending_calls_are_approved_at_once_and_only_those(start_chat: StartChat):
    chat = start_pending(start_chat, reply=THREE)
    chat.put_cursor("**Tool Result:** `toolu_2`")
    chat.keys(":Flemma tool:reject<CR><M-A>")
    chat.wait_for(waiting_result("toolu_3", "approved"))
    assert waiting_result("toolu_1", "approved") in chat.text
    assert waiting_result("toolu_2", "rejected") in chat.text
    chat.keys("<M-A>")
    chat.wait_notified("No pending tools to approve")
    chat.send()
    chat.wait_answered()
    assert {path.name for path in chat.editor.directory.glob("trace*")} == {"trace1", "trace3"}

"""Calls that wait: what the user writes into the file between two runs decides."""

import pytest

from tests.engine.bodies import result_text, results
from tests.engine.conftest import Chat
from tests.support.anthropic_server import message, text, tool_use

QUESTION = "@You:\nPlease go on.\n"


def bash(number: int, command: str):
    return tool_use(f"toolu_{number}", "bash", {"command": command, "label": f"step {number}"})


@pytest.fixture
def waiting(chat: Chat) -> Chat:
    """A chat in which one command waits; it would leave a mark."""
    chat.write(QUESTION)
    ran = chat.run(message(text("May I?"), bash(1, "touch ran; echo ran")))
    assert ran.code == 3
    assert "**Tool Result:** `toolu_1` (pending)\n```\n```" in ran.text
    return chat


def ran_it(chat: Chat) -> bool:
    return (chat.directory / "ran").exists()


def test_a_call_that_needs_approval_ends_the_run_and_is_named(chat: Chat):
    chat.write(QUESTION)
    ran = chat.run(message(bash(1, "make test"), bash(2, "touch ran")))
    assert ran.code == 3
    assert ran.report["outcome"] == "waiting"
    assert ran.report["pending"] == [
        {"id": "toolu_1", "name": "bash", "preview": "bash: $ make test — step 1"},
        {"id": "toolu_2", "name": "bash", "preview": "bash: $ touch ran — step 2"},
    ]
    assert "2 calls wait for you:\n  bash: $ make test — step 1 (toolu_1)" in ran.notices
    assert "(pending)" in ran.transcript
    assert not ran_it(chat)


def test_running_again_changes_nothing_while_the_call_still_waits(waiting: Chat):
    before = waiting.text
    ran = waiting.run()
    assert ran.code == 3
    assert ran.text == before
    assert ran.transcript == "**Tool Result:** `toolu_1` (pending)\n```\n```\n"


def test_an_approved_call_runs_in_the_next_run(waiting: Chat):
    waiting.replace("(pending)", "(approved)")
    ran = waiting.run(message(text("Thanks.")))
    assert ran.code == 0
    assert ran_it(waiting)
    assert result_text(results(waiting.bodies[-1])["toolu_1"]) == "ran"
    assert ran.transcript.startswith("**Tool Result:** `toolu_1`\n```\nran\n```\n")


@pytest.mark.parametrize(
    ("status", "content", "told"),
    [
        ("rejected", "", "This tool has been rejected by the user."),
        ("rejected", "not on my machine\n", "not on my machine"),
        ("reject", "User feedback: too risky\n", "User feedback: too risky"),  # acceptance 10, 43
        ("denied", "", "The tool was denied by a policy."),
        ("denied", "typed all the same\n", "The tool was denied by a policy."),  # acceptance 44
    ],
)
def test_a_refused_call_tells_the_model_why(waiting: Chat, status: str, content: str, told: str):
    waiting.replace("(pending)\n```\n", f"({status})\n```\n{content}")
    ran = waiting.run(message(text("All right.")))
    result = results(waiting.bodies[-1])["toolu_1"]
    assert result["is_error"]
    assert result_text(result) == told
    assert ran.code == 0
    assert not ran_it(waiting)


def test_pasted_output_is_the_result_of_a_waiting_call(waiting: Chat):  # acceptance 40
    waiting.replace("(pending)\n```\n", "(pending)\n```\nI ran it: ok\n")
    ran = waiting.run(message(text("Good.")))
    result = results(waiting.bodies[-1])["toolu_1"]
    assert result_text(result) == "I ran it: ok"
    assert "is_error" not in result
    assert "**Tool Result:** `toolu_1`\n```\nI ran it: ok\n```" in ran.text
    assert not ran_it(waiting)


def test_text_in_an_approved_block_is_neither_overwritten_nor_sent(waiting: Chat):
    # acceptance 41
    waiting.replace("(pending)\n```\n", "(approved)\n```\nmy own words\n")
    before = waiting.text
    ran = waiting.run()
    assert ran.code == 3
    assert ran.text == before
    assert not ran_it(waiting)
    assert sum("1 tool result(s) have edited content" in entry for entry in ran.messages) == 1


def test_each_of_several_calls_is_decided_by_itself(chat: Chat):  # acceptance 47
    chat.write(QUESTION)
    chat.run(message(*(bash(number, f"echo {number}") for number in range(1, 5))))
    chat.replace("`toolu_1` (pending)", "`toolu_1` (approved)")
    chat.replace("`toolu_2` (pending)\n```\n", "`toolu_2` (rejected)\n```\nnot this one\n")
    chat.replace("`toolu_3` (pending)\n```\n", "`toolu_3` (pending)\n```\nthree by hand\n")
    ran = chat.run()
    assert ran.code == 3
    assert [call["id"] for call in ran.report["pending"]] == ["toolu_4"]
    assert "`toolu_1`\n```\n1\n```" in ran.text
    chat.replace("(pending)", "(approved)")
    chat.run(message(text("Done.")))
    told = {name: result_text(block) for name, block in results(chat.bodies[-1]).items()}
    assert told == {
        "toolu_1": "1",
        "toolu_2": "not this one",
        "toolu_3": "three by hand",
        "toolu_4": "4",
    }


def test_queued_calls_all_run_before_the_loop_pauses(chat: Chat):  # A-17, acceptance 46, 47
    chat.write("```yaml\nflemma:\n  tools:\n    max_concurrent: 1\n```\n" + QUESTION)
    (chat.directory / "a.txt").write_text("text\n")
    reads = [tool_use(f"read_{n}", "read", {"path": "a.txt", "label": "x"}) for n in range(5)]
    ran = chat.run(message(bash(1, "touch ran"), *reads))
    assert ran.code == 3
    assert ran.text.count("```\ntext\n```") == 5
    assert [call["id"] for call in ran.report["pending"]] == ["toolu_1"]


def test_a_message_below_a_waiting_call_is_sent_with_its_result(waiting: Chat):  # B-06
    waiting.replace("(pending)\n```\n```", "(rejected)\n```\n```\n\nDo something else.")
    ran = waiting.run(message(text("Of course.")))
    last = waiting.bodies[-1]["messages"][-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    assert last[1]["text"].strip() == "Do something else."
    assert ran.code == 0


def test_a_file_that_turns_autopilot_off_goes_one_step_a_run(chat: Chat):
    chat.write("```yaml\nflemma:\n  tools:\n    autopilot: false\n```\n" + QUESTION)
    ran = chat.run(message(bash(1, "echo one")), approve=("bash",))
    assert ran.code == 3
    ran = chat.run(approve=("bash",))
    assert ran.code == 3
    assert "```\none\n```" in ran.text
    assert "Autopilot is off in this file" in ran.notices
    ran = chat.run(message(text("Done.")), approve=("bash",))
    assert ran.code == 0


def test_autopilot_is_on_whatever_the_options_file_says(chat: Chat):
    chat.configure({"sandbox": {"enabled": False}, "tools": {"autopilot": {"enabled": False}}})
    chat.write(QUESTION)
    ran = chat.run(message(bash(1, "echo one")), message(text("Done.")), approve=("bash",))
    assert ran.code == 0


def test_calls_of_an_interrupted_answer_are_told_as_aborted_and_never_run(chat: Chat):
    # acceptance 20
    chat.write(
        QUESTION + "\n@Assistant:\nI begin.\n\n**Tool Use:** `bash` (`toolu_1`)\n```json\n"
        '{"command": "touch ran"}\n```\n<!-- flemma:aborted: Response interrupted by the user. -->'
        "\n\n@You:\nGo on without it.\n"
    )
    ran = chat.run(message(text("I do.")), approve=("*",))
    result = results(chat.bodies[-1])["toolu_1"]
    assert result["is_error"]
    assert result_text(result) == "Response interrupted by the user."
    assert "flemma:aborted" not in str(chat.bodies[-1])
    assert ran.code == 0
    assert not ran_it(chat)


def test_a_waiting_call_can_be_approved_on_the_command_line_of_the_next_run(waiting: Chat):
    ran = waiting.run(message(text("Thanks.")), approve=("bash",))
    assert ran.code == 0
    assert ran_it(waiting)
    assert ran.transcript.startswith("**Tool Result:** `toolu_1`\n```\nran\n```\n")


def test_the_command_line_does_not_undo_what_stands_in_the_file(chat: Chat):
    chat.write(QUESTION)
    chat.run(message(*(bash(number, f"echo {number}") for number in range(1, 4))))
    chat.replace("`toolu_1` (pending)", "`toolu_1` (rejected)")
    chat.replace("`toolu_2` (pending)\n```\n", "`toolu_2` (pending)\n```\nby hand\n")
    chat.run(message(text("Done.")), approve=("*",))
    told = {name: result_text(block) for name, block in results(chat.bodies[-1]).items()}
    assert told == {
        "toolu_1": "This tool has been rejected by the user.",
        "toolu_2": "by hand",
        "toolu_3": "3",
    }


LINE = "seq 3 | tail -1 > last; cat last"


def test_what_is_granted_stands_in_the_file_and_is_not_asked_about_again(chat: Chat):
    # the line, or a pattern the user chose; nothing wider.
    grants = f"flemma.opt.tools.bash.allow:append({LINE!r})\n" \
             "flemma.opt.tools.bash.allow:append('echo *')\n"  # fmt: skip
    chat.write(f"```lua\n{grants}```\n@You:\nGo.\n")

    def commands(*lines: str):
        return message(
            *(tool_use(f"toolu_{n}", "bash", {"command": line}) for n, line in enumerate(lines))
        )

    ran = chat.run(commands(LINE, "echo a && echo b", LINE + "; rm last", "echo a && rm last"))
    assert ran.code == 3
    assert [call["id"] for call in ran.report["pending"]] == ["toolu_2", "toolu_3"]
    assert "**Tool Result:** `toolu_0`\n```\n3\n```" in ran.text
    assert "**Tool Result:** `toolu_1`\n```\na\nb\n```" in ran.text
    assert (chat.directory / "last").exists()
    chat.replace(grants, "")
    chat.replace("(pending)", "(rejected)", count=2)
    ran = chat.run(message(tool_use("toolu_5", "bash", {"command": LINE})))
    assert [call["id"] for call in ran.report["pending"]] == ["toolu_5"]

"""Long outputs, redirected outputs, and background jobs."""

import re
from pathlib import Path

from tests.engine.bodies import result_text, results, said
from tests.engine.conftest import Chat
from tests.support.anthropic_server import Recorded, message, pause, text, tool_use
from tests.support.wait import wait_until

QUESTION = "@You:\nPlease go on.\n"
AFTER_THE_ANSWER = "while ! grep -q 'left but the job.$' notes.chat; do sleep 0.02; done"
JOB = re.compile(r"\(job=(job_[a-z0-9]{5})\)")


def bash(identifier: str, command: str, **parameters: object):
    return tool_use(identifier, "bash", {"command": command, "label": "x", **parameters})


def background(identifier: str, command: str, **parameters: object):
    return bash(identifier, command, **{"flemma.background": True}, **parameters)


def store(chat: Chat, name: str) -> Path:
    return chat.directory / ".flemma" / "notes.chat" / name


def test_a_long_output_is_cut_and_the_whole_is_in_the_store(chat: Chat):  # acceptance 68, 82
    chat.write(QUESTION)
    chat.run(message(bash("toolu_1", "seq 2001")), message(text("Long.")), approve=("bash",))
    told = result_text(results(chat.bodies[-1])["toolu_1"])
    path = store(chat, "tool_bash_toolu_1.txt")
    assert told.endswith(f"[Showing lines 2-2001 of 2001. Full output: {path}]")
    assert path.read_text().split() == [str(number) for number in range(1, 2002)]


def test_an_output_saved_to_a_file_leaves_a_preview(chat: Chat):  # acceptance 83
    chat.write(QUESTION)
    chat.run(
        message(
            bash("toolu_1", "seq 30", **{"flemma.save_to": "out/numbers.txt"}),
            bash("toolu_2", "echo kept", **{"flemma.save_to": "out/"}),
        ),
        message(text("Saved.")),
        approve=("bash",),
    )
    told = {name: result_text(block) for name, block in results(chat.bodies[-1]).items()}
    saved = chat.directory / "out" / "numbers.txt"
    assert saved.read_text().split() == [str(number) for number in range(1, 31)]
    first, stub = told["toolu_1"].split("\n\n")
    assert first.split("\n") == [str(number) for number in range(1, 11)]
    assert stub.startswith(f"[Output saved: {saved} — ")
    assert told["toolu_2"].startswith("kept\n\n[Output not saved: save_to target 'out/'")


def test_a_job_goes_on_while_the_model_does_and_is_delivered_once(chat: Chat):
    # behaviour 7; the conversation goes on by itself when it is done
    chat.write(QUESTION)
    ran = chat.run(
        message(
            text("In the background."),
            background("toolu_1", f"{AFTER_THE_ANSWER}; echo from the job"),
            bash("toolu_2", "echo foreground"),
        ),
        message(text("I wait."), bash("toolu_3", "true")),
        message(text("Nothing is left but the job.")),
        message(text("There it is.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert ran.report["reply"] == "There it is."
    first = result_text(results(chat.bodies[1])["toolu_1"])
    assert first.startswith("Running as a background job `job_")
    words = "".join(said(chat.bodies[-1]))
    assert words.count("from the job") == 1
    assert "[Job result for bash (toolu_1)]" in words
    assert ran.text.count("from the job") == 2  # the command, and its output
    assert len(JOB.findall(ran.text)) == 1
    assert ran.text.count("**Job Result:**") == 1


def test_two_jobs_are_delivered_in_the_order_in_which_they_end(chat: Chat):
    chat.write(QUESTION)

    def later(request: Recorded):
        del request
        (chat.directory / "go").touch()
        wait_until(lambda: (chat.directory / "over").exists())
        return message(text("One came first."))

    ran = chat.run(
        message(
            background("slow", "while ! test -e go; do sleep 0.02; done; echo slow; touch over"),
            background("quick", "echo quick"),
        ),
        later,
        message(text("Both, then.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert ran.text.index("```\nquick\n```") < ran.text.index("```\nslow\n```")
    assert ran.text.count("**Job Result:**") == 2


def test_a_job_that_does_not_end_is_stopped_after_the_grace_period(chat: Chat):
    chat.write(QUESTION)
    ran = chat.run(
        message(background("toolu_1", "echo $$ > pid; sleep 600", timeout=900)),
        message(text("It runs.")),
        approve=("bash",),
        grace=0.5,
    )
    assert ran.code == 0
    assert "1 background job was still running and had to be stopped." in ran.messages
    assert "(error)\n```\nJob lost: session ended before completion.\n```" in ran.text
    chat.wait_for_silence()
    chat.write(ran.text.rstrip() + "\nWhat became of it?\n")
    ran = chat.run(message(text("It was lost.")))
    assert ran.messages == []
    assert "".join(said(chat.bodies[-1])).count("Job lost") == 1


def test_a_job_that_ends_while_a_call_waits_is_in_the_file_for_the_next_run(chat: Chat):
    chat.write(
        "```lua\nflemma.opt.tools.auto_approve = function(name, input)\n"
        "  return not input.command:match('danger')\nend\n```\n" + QUESTION
    )
    ran = chat.run(
        message(background("toolu_1", "sleep 0.2; echo job done"), bash("toolu_2", "danger"))
    )
    assert ran.code == 3
    assert "**Job Result:** `job_" in ran.text
    assert "```\njob done\n```" in ran.text
    chat.replace("(pending)", "(rejected)")
    ran = chat.run(message(text("I see.")))
    assert ran.code == 0
    assert "".join(said(chat.bodies[-1])).count("job done") == 1


def test_a_job_that_ends_during_a_request_is_delivered_behind_the_answer(chat: Chat):
    chat.write(QUESTION)
    ran = chat.run(
        message(background("toolu_1", "echo early")),
        message(text("Thinking"), pause(0.4), text(" long.")),
        message(text("Got it.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert ran.text.index("Thinking long.") < ran.text.index("**Job Result:**")
    assert "@Assistant:\nGot it." in ran.text


def test_a_lost_job_of_an_earlier_session_is_told_to_the_model_once(chat: Chat):
    # acceptance 88
    chat.write(
        QUESTION + "\n@Assistant:\n**Tool Use:** `bash` (`toolu_1`)\n```json\n"
        '{"command": "sleep 9", "flemma.background": true}\n```\n\n@You:\n\n'
        "**Tool Result:** `toolu_1` (job=job_a1b2c)\n```\nRunning as a background job.\n```\n\n"
        "What now?\n"
    )
    ran = chat.run(message(text("It is lost.")))
    assert ran.messages == ["1 orphaned job resolved."]
    assert "".join(said(chat.bodies[-1])).count("Job lost: session ended before completion.") == 1

"""Whole conversations: a question, tools of all kinds, an answer; the server checks each body."""

import json

from tests.engine.bodies import result_text, results
from tests.engine.conftest import Chat
from tests.support.anthropic_server import message, text, thinking, tool_use

QUESTION = "@System:\nYou mend files.\n\n@You:\nPlease mend notes.md.\n"


def test_a_question_is_read_edited_run_and_answered(chat: Chat):  # issue A, S-18
    notes = chat.directory / "notes.md"
    notes.write_text("The buffer is the sate.\n")
    chat.write(QUESTION)
    ran = chat.run(
        message(
            thinking("I look first."),
            text("I read it."),
            tool_use("toolu_1", "read", {"path": "notes.md", "label": "reading"}),
        ),
        message(
            text("A word is wrong."),
            tool_use(
                "toolu_2",
                "edit",
                {"path": "notes.md", "oldText": "sate", "newText": "state", "label": "mending"},
            ),
        ),
        message(tool_use("toolu_3", "bash", {"command": "cat notes.md; pwd", "label": "looking"})),
        message(text("It says state now.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert notes.read_text() == "The buffer is the state.\n"
    last = results(chat.bodies[-1])
    assert list(last) == ["toolu_1", "toolu_2", "toolu_3"]
    assert result_text(last["toolu_1"]) == "The buffer is the sate."
    assert result_text(last["toolu_3"]) == f"The buffer is the state.\n{chat.directory}"
    assert ran.text.endswith("@Assistant:\nIt says state now.\n\n@You:\n\n")
    assert ran.report["reply"] == "It says state now."
    assert ran.report["turns"] == 4
    assert ran.report["usage"]["output"] == 28
    assert ran.report["pending"] == []


def test_the_transcript_is_what_the_file_gained(chat: Chat):
    chat.write(QUESTION)
    ran = chat.run(
        message(text("Running."), tool_use("toolu_1", "bash", {"command": "echo 1", "label": "x"})),
        message(text("Done.\n\nReally.")),
        approve=("bash",),
    )
    gained = ran.text.removeprefix(QUESTION).strip()
    assert ran.transcript.strip() == gained.removesuffix("@You:").strip()


def test_of_parallel_calls_each_gets_its_own_result_in_order(chat: Chat):  # B-02, B-04, X-24
    chat.write(QUESTION)
    (chat.directory / "notes.md").write_text("text\n")
    ran = chat.run(
        message(
            tool_use("toolu_1", "bash", {"command": "exit 1", "label": "failing"}),
            tool_use("toolu_2", "read", {"path": "notes.md", "label": "reading"}),
            tool_use("toolu_3", "no_such_tool", {"a": 1}),
            tool_use("toolu_4", "read", {"path": ["not", "a", "path"], "label": "x"}),
            tool_use("toolu_5", "edit", {"path": "gone.md", "oldText": "a", "newText": "b"}),
            tool_use("toolu_6", "bash", {"command": "echo last", "label": "working"}),
        ),
        message(text("I see.")),
        approve=("bash", "no_such_tool"),
    )
    assert ran.code == 0
    found = results(chat.bodies[-1])
    assert list(found) == [f"toolu_{number}" for number in range(1, 7)]
    failed = {name: block.get("is_error", False) for name, block in found.items()}
    assert failed == {
        "toolu_1": True,
        "toolu_2": False,
        "toolu_3": True,
        "toolu_4": True,
        "toolu_5": True,
        "toolu_6": False,
    }
    assert "Unknown tool: no_such_tool" in result_text(found["toolu_3"])
    assert "path" in result_text(found["toolu_4"])
    assert "exited with code 1" in result_text(found["toolu_1"])
    assert "Traceback" not in ran.text


def test_a_call_with_broken_arguments_gets_an_error_and_the_good_one_its_result(chat: Chat):
    # B-03
    chat.write(QUESTION)
    ran = chat.run(
        message(
            tool_use("toolu_1", "bash", {"command": "echo good", "label": "x"}),
            tool_use("toolu_2", "bash", '{"command": "rm -rf', closed=True),
        ),
        message(text("I try again.")),
        approve=("bash",),
    )
    found = results(chat.bodies[-1])
    assert result_text(found["toolu_1"]) == "good"
    assert found["toolu_2"]["is_error"]
    assert "rm -rf" in result_text(found["toolu_2"])
    assert ran.code == 0


def test_a_denied_call_is_told_and_its_siblings_run(chat: Chat):
    chat.write(
        "```lua\n"
        "flemma.opt.tools.auto_approve = function(name, input)\n"
        "  if name == 'bash' and input.command:match('rm') then return 'deny' end\n"
        "  return true\n"
        "end\n"
        "```\n" + QUESTION
    )
    ran = chat.run(
        message(
            tool_use("toolu_1", "bash", {"command": "rm -rf /", "label": "x"}),
            tool_use("toolu_2", "bash", {"command": "echo fine", "label": "x"}),
        ),
        message(text("As you wish.")),
    )
    found = results(chat.bodies[-1])
    assert result_text(found["toolu_1"]) == "The tool was denied by a policy."
    assert found["toolu_1"]["is_error"]
    assert result_text(found["toolu_2"]) == "fine"
    assert ran.code == 0


def test_the_third_identical_call_that_failed_waits_for_the_user(chat: Chat):  # E-34
    chat.write(QUESTION)

    def failing(number: int):
        call = {"command": "cat gone.md", "label": f"try {number}"}
        return message(tool_use(f"toolu_{number}", "bash", call))

    ran = chat.run(failing(1), failing(2), failing(3), approve=("bash",))
    assert ran.code == 3
    assert [call["id"] for call in ran.report["pending"]] == ["toolu_3"]
    assert any("repeats a call that failed twice" in entry for entry in ran.messages)
    assert chat.run(approve=("bash",)).code == 3


def test_the_run_stops_after_its_turns_and_goes_on_when_run_again(chat: Chat):
    chat.write(QUESTION)

    def step(number: int):
        return message(tool_use(f"toolu_{number}", "bash", {"command": f"echo {number}"}))

    ran = chat.run(step(1), step(2), step(3), approve=("bash",), max_turns=2)
    assert ran.code == 4
    assert ran.report["outcome"] == "max_turns"
    assert [call["id"] for call in ran.report["pending"]] == ["toolu_3"]
    assert "exceeded 2 consecutive turns" in ran.notices
    ran = chat.run(message(text("Enough.")), approve=("bash",), max_turns=2)
    assert ran.code == 0
    assert list(results(chat.bodies[-1])) == ["toolu_1", "toolu_2", "toolu_3"]


def test_an_unknown_name_to_approve_is_named_with_the_nearest(chat: Chat):
    chat.write(QUESTION)
    ran = chat.run(message(text("Hi.")), approve=("bahs", "read", "$standard", "b*"))
    assert ran.messages == ["--approve: no tool is called 'bahs'. Did you mean 'bash'?"]


def test_the_body_names_all_tools_with_their_schemas(chat: Chat):  # B-24
    chat.write(QUESTION)
    chat.run(message(text("Hi.")))
    tools = chat.bodies[0]["tools"]
    names = [tool["name"] for tool in tools]
    assert names == sorted(names)
    assert {"bash", "read", "write", "edit", "grep", "find", "ls"} <= set(names)
    assert all(tool["input_schema"]["type"] == "object" for tool in tools)
    assert json.dumps(tools).count("flemma.save_to") >= 2

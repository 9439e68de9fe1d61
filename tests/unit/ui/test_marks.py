from flemma.ui.marks import message_marks
from flemma.ui.state import RunState, ViewOptions
from tests.unit.ui.drawing import TOOLS, of_kind, scene


def test_a_role_marker_is_a_ruler_and_the_message_has_its_background() -> None:
    marks = message_marks(scene("@You:\nhello\n"), 0)
    assert of_kind(marks, "ruler") == [
        {"kind": "ruler", "row": 0, "column": 1, "end_column": 4, "group": "FlemmaRoleUserName"}
    ]
    assert of_kind(marks, "line") == [
        {"kind": "line", "row": 0, "end_row": 2, "group": "FlemmaLineUser"}
    ]


def test_an_unknown_role_has_no_background() -> None:
    assert of_kind(message_marks(scene("@Notes:\nx"), 0), "line") == []


def test_thinking_has_a_background_and_its_tags_a_colour() -> None:
    marks = message_marks(scene(TOOLS), 1)
    assert {"kind": "line", "row": 1, "end_row": 3, "group": "FlemmaThinkingBlock"} in marks
    tags = [m["row"] for m in of_kind(marks, "text") if m.get("group") == "FlemmaThinkingTag"]
    assert sorted(tags) == [1, 3]


def test_a_thinking_block_of_one_line_has_one_tag() -> None:
    text = '@Assistant:\n<thinking openai:signature="x"/>\nhi'
    marks = of_kind(message_marks(scene(text), 0), "text")
    assert [m["row"] for m in marks if m.get("group") == "FlemmaThinkingTag"] == [1]


def test_the_parts_of_a_tool_header_have_colours() -> None:
    marks = of_kind(message_marks(scene(TOOLS), 2), "text")
    found = {m.get("group"): (m.get("column"), m.get("end_column")) for m in marks}
    line = "**Tool Result:** `t1` (pending)"
    assert found == {
        "FlemmaToolResultTitle": (0, len("**Tool Result:**")),
        "FlemmaToolName": (line.index("`"), line.index(" (")),
        "FlemmaToolResultPending": (line.index("("), len(line)),
    }


def test_columns_are_bytes() -> None:
    marks = of_kind(message_marks(scene("@You:\nä{{ x }}é"), 0), "text")
    assert [(m.get("column"), m.get("end_column"), m.get("group")) for m in marks] == [
        (2, 9, "FlemmaLuaExpression"),
        (2, 4, "FlemmaLuaDelimiter"),
        (7, 9, "FlemmaLuaDelimiter"),
    ]


def test_a_statement_over_lines_is_marked_to_its_end() -> None:
    marks = of_kind(message_marks(scene("@You:\na {%- set x =\n  1 %} b"), 0), "text")
    assert marks[0].get("group") == "FlemmaLuaCodeBlock"
    assert (marks[0]["row"], marks[0].get("end_row")) == (1, 2)
    assert (marks[0].get("column"), marks[0].get("end_column")) == (2, 6)
    assert (marks[1].get("column"), marks[1].get("end_column")) == (2, 5)


def test_file_references_have_a_colour() -> None:
    marks = of_kind(message_marks(scene("@You:\nsee @./a.txt now"), 0), "text")
    assert [(m.get("group"), m.get("column"), m.get("end_column")) for m in marks] == [
        ("FlemmaUserFileReference", 4, 12)
    ]


def test_a_pending_call_shows_so_and_what_it_would_do() -> None:
    marks = message_marks(scene(TOOLS), 2)
    assert of_kind(marks, "status") == [
        {"kind": "status", "row": 2, "text": "⏸ Pending", "group": "FlemmaToolPending"}
    ]
    assert of_kind(marks, "preview") == [
        {
            "kind": "preview",
            "row": 3,
            "name": "bash",
            "detail": "make test",
            "label": "running tests",
        }
    ]


def test_a_running_call_spins_and_keeps_its_preview() -> None:
    text = TOOLS.replace(" (pending)", "")
    marks = message_marks(scene(text, RunState(executing={"t1": 5.0})), 2)
    (status,) = of_kind(marks, "status")
    assert status.get("spinner") is True
    assert status.get("started") == 5.0
    assert status.get("text") == "Executing…"
    assert len(of_kind(marks, "preview")) == 1


def test_a_running_call_need_not_spin() -> None:
    text, run = TOOLS.replace(" (pending)", ""), RunState(executing={"t1": 5.0})
    marks = message_marks(scene(text, run, ViewOptions(show_spinner=False)), 2)
    assert [m.get("spinner") for m in of_kind(marks, "status")] == [False]


def test_a_call_without_a_result_block_spins_at_its_own_header() -> None:
    text = TOOLS[: TOOLS.index("@You:\n\n**")]
    marks = message_marks(scene(text, RunState(executing={"t1": 5.0})), 1)
    assert [m["row"] for m in of_kind(marks, "status")] == [7]


def test_an_outcome_is_shown_for_a_moment() -> None:
    text = TOOLS.replace(" (pending)\n```\n", "\n```\nok\n")
    for succeeded, words in ((True, "✔ Complete"), (False, "⚠ Failed")):
        marks = message_marks(scene(text, RunState(finished={"t1": succeeded})), 2)
        (status,) = of_kind(marks, "status")
        assert (status.get("text"), status.get("expires")) == (words, 1.5)


def test_a_placeholder_of_a_running_job_spins() -> None:
    text = TOOLS.replace("(pending)\n```\n", "(job=job_a)\n```\nstarted\n")
    marks = message_marks(scene(text, RunState(jobs={"job_a": 7.0})), 2)
    assert [m.get("spinner") for m in of_kind(marks, "status")] == [True]
    assert of_kind(message_marks(scene(text), 2), "status") == []


def test_a_filled_placeholder_has_no_preview() -> None:
    text = TOOLS.replace("(pending)\n```\n", "(pending)\n```\nmine\n")
    assert of_kind(message_marks(scene(text), 2), "preview") == []


def test_a_final_result_has_neither_indicator_nor_preview() -> None:
    marks = message_marks(scene(TOOLS.replace(" (pending)", "")), 2)
    assert of_kind(marks, "status") == []
    assert of_kind(marks, "preview") == []

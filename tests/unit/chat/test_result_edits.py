"""Placeholders, statuses, results (spec: behaviour 2.10, 2.11, 7.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.document import Document
from flemma.chat.edits import (
    ResultText,
    apply_edits,
    changes_of,
    error_text,
    insert_placeholders,
    put_job_placeholder,
    put_result,
    put_results,
    reject_call,
    set_status,
    set_statuses,
)
from flemma.chat.nodes import AppendText, ReplaceLines, Status
from flemma.chat.pairing import CallKey, siblings
from flemma.chat.query import unresolved
from tests.unit.chat.samples import chat, tool_result, tool_use

ANSWER = ("@Assistant:", *tool_use("a"), "", *tool_use("b"))
WANTED = [("a", Status.APPROVED), ("b", Status.PENDING)]
EMPTY = ("```", "```")


def placed(document: Document, first_line: int) -> list[str]:
    """Return the lines from ``first_line`` on after placeholders for all calls are in."""
    wanted = [(call.key, Status.PENDING) for call in siblings(document)]
    after = apply_edits(document, insert_placeholders(document, wanted))
    return after.lines_between(first_line, after.line_count)


def test_placeholders_make_a_message_of_their_own():
    document = chat(*ANSWER)
    after = apply_edits(document, insert_placeholders(document, WANTED))
    assert after.text == "\n".join(
        [
            *ANSWER,
            "",
            "@You:",
            "",
            "**Tool Result:** `a` (approved)",
            *EMPTY,
            "",
            "**Tool Result:** `b` (pending)",
            *EMPTY,
        ]
    )


def test_headers_that_are_not_compact_have_a_blank_line_below():
    document = chat("@Assistant:", *tool_use("a"))
    edits = insert_placeholders(document, [("a", Status.PENDING)], compact_headers=False)
    assert apply_edits(document, edits).lines_between(5, 13) == [
        "",
        "@You:",
        "",
        "**Tool Result:** `a` (pending)",
        "",
        *EMPTY,
    ]


def test_placeholders_go_into_the_empty_message_below():
    lines = placed(chat("@Assistant:", *tool_use("a"), "", "@You:", ""), 6)
    assert lines == ["@You:", "", "**Tool Result:** `a` (pending)", *EMPTY, ""]


@pytest.mark.parametrize("gap", [(), ("",)])
def test_what_the_user_typed_stays_below_the_placeholders(gap: tuple[str, ...]):
    """Case L-06."""
    lines = placed(chat("@Assistant:", *tool_use("a"), "@You:", *gap, "typed"), 5)
    assert lines == ["@You:", "", "**Tool Result:** `a` (pending)", *EMPTY, "", "typed"]


@pytest.mark.parametrize("present", ["a", "b", "c"])
def test_results_come_in_the_order_of_the_calls(present: str):
    """Case B-02."""
    document = chat(
        "@Assistant:",
        *tool_use("a"),
        *tool_use("b"),
        *tool_use("c"),
        "",
        "@You:",
        *tool_result(present, "", "kept"),
        "typed",
    )
    lines = placed(document, 14)
    headers = [line[17:20] for line in lines if line.startswith("**")]
    assert headers == ["`a`", "`b`", "`c`"]
    assert lines[-1] == "typed"
    assert "kept" in lines
    assert "" in lines[lines.index("```") :]


def test_a_call_that_has_a_block_gets_no_second_one():
    document = chat(*ANSWER, "@You:", *tool_result("a", "pending"), *tool_result("b"))
    assert insert_placeholders(document, WANTED) == ()


def test_placeholders_before_another_marker_keep_their_distance():
    document = chat("@Assistant:", *tool_use("a"), "@System:", "x")
    after = apply_edits(document, insert_placeholders(document, [("a", Status.DENIED)]))
    assert [message.role for message in after.messages] == ["assistant", "user", "system"]
    assert after.messages[1].lines == [
        "@You:",
        "",
        "**Tool Result:** `a` (denied)",
        *EMPTY,
        "",
    ]


def test_a_fence_the_model_left_open_is_closed_first():
    document = chat("@Assistant:", *tool_use("a"), "````python", "x")
    after = apply_edits(document, insert_placeholders(document, [("a", Status.PENDING)]))
    assert after.line(7) == "````"
    [call] = siblings(after)
    assert call.result is not None


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.booleans(), st.data())
def test_after_placing_every_call_has_exactly_one_block(
    counts: list[int], typed: bool, data: st.DataObject
):
    """Cases B-01, B-02: whatever is there already, in whatever order."""
    lines: list[str] = ["@You:", "go", ""]
    for turn, count in enumerate(counts):
        ids = [f"t{turn}.{n}" for n in range(count)]
        lines += ["@Assistant:", *(x for i in ids for x in tool_use(i)), ""]
        if turn < len(counts) - 1 or typed:
            present = data.draw(st.lists(st.sampled_from(ids), unique=True))
            lines += ["@You:", *(x for i in present for x in tool_result(i, "", "x")), "typed", ""]
    document = chat(*lines)
    wanted = [(call.key, Status.PENDING) for call in siblings(document)]
    after = apply_edits(document, insert_placeholders(document, wanted))
    assert all(len(call.results) == 1 for call in siblings(after))
    assert after.text.count("typed") == document.text.count("typed")
    assert after.diagnostics() == ()
    assert insert_placeholders(after, wanted) == ()


def result_of(document: Document, reference: CallKey | str = "a") -> list[str]:
    return next(
        document.lines_between(call.result.line, call.result.end + 1)
        for call in siblings(document)
        if call.result is not None and reference in (call.key, call.id)
    )


def test_a_status_changes_and_the_rest_of_the_header_stays():
    """Case 8."""
    document = chat("@Assistant:", *tool_use("a"), "@You:", *tool_result("a", "pending x=1", "y"))
    approved = apply_edits(document, set_status(document, "a", Status.APPROVED))
    assert result_of(approved)[0] == "**Tool Result:** `a` (approved x=1)"
    cleared = apply_edits(approved, set_statuses(approved, [("a", None)]))
    assert result_of(cleared) == ["**Tool Result:** `a` (x=1)", "```", "y", "```"]
    assert set_status(cleared, "a", None) == ()
    assert set_status(cleared, "gone", None) == ()


def test_a_result_takes_the_place_of_its_placeholder():
    document = chat(*ANSWER, "@You:", "", *tool_result("a", "approved x=1"), "", "typed")
    done = apply_edits(
        document, put_result(document, "a", ResultText('{"a": "```"}', language="json"))
    )
    assert result_of(done) == [
        "**Tool Result:** `a` (x=1)",
        "````json",
        '{"a": "```"}',
        "````",
    ]
    assert done.line(done.line_count - 1) == "typed"


def test_a_failed_result_says_so_and_keeps_the_output_so_far():
    assert error_text(None) == "Unknown error"
    document = chat("@Assistant:", *tool_use("a"))
    text = ResultText(error_text("killed", "line 1\n"), Status.ERROR)
    done = apply_edits(document, put_result(document, "a", text))
    assert result_of(done) == [
        "**Tool Result:** `a` (error)",
        "```",
        "killed",
        "",
        "Partial output:",
        "line 1",
        "",
        "```",
    ]
    assert unresolved(done) == ()


def test_several_results_at_once_are_replaced_or_inserted():
    document = chat(*ANSWER, "@You:", *tool_result("b", "denied"))
    texts = [("b", ResultText("no", Status.ERROR)), ("a", ResultText("yes")), ("z", ResultText())]
    done = apply_edits(document, put_results(document, texts))
    assert [call.result.node.content for call in siblings(done) if call.result] == ["yes", "no"]
    assert [line for line in done.text.split("\n") if "Result:" in line] == [
        "**Tool Result:** `a`",
        "**Tool Result:** `b` (error)",
    ]


def test_the_second_use_of_an_id_gets_its_own_result():
    """Case B-07."""
    document = chat(
        "@Assistant:",
        *tool_use("a"),
        "@You:",
        *tool_result("a", "", "old"),
        "@Assistant:",
        *tool_use("a"),
    )
    done = apply_edits(document, put_result(document, CallKey("a", 1), ResultText("new")))
    contents = [call.result.node.content for call in siblings(done) if call.result]
    assert contents == ["old", "new"]


def test_a_rejection_with_a_message_is_written_into_the_fence():
    """Cases 43 and A-08."""
    document = chat("@Assistant:", *tool_use("a"), "@You:", *tool_result("a", "pending x=1"))
    rejected = apply_edits(document, reject_call(document, "a", "too risky"))
    assert result_of(rejected) == [
        "**Tool Result:** `a` (rejected x=1)",
        "```",
        "User feedback: too risky",
        "```",
    ]


def test_a_rejection_without_a_message_keeps_what_the_user_typed():
    document = chat("@Assistant:", *tool_use("a"), "@You:", *tool_result("a", "pending", "why"))
    rejected = apply_edits(document, reject_call(document, "a", " "))
    assert result_of(rejected) == ["**Tool Result:** `a` (rejected)", "```", "why", "```"]


@pytest.mark.parametrize(
    ("has_status_tool", "text"),
    [
        (
            True,
            "Running as a background job `job_k7x2m`. Use `flemma.jobs.status` with this job ID "
            "to check progress. Do not retry — the result will be delivered to you automatically "
            "when the job completes.",
        ),
        (
            False,
            "Running as a background job. Do not retry or attempt to check progress — the result "
            "will be delivered to you automatically when the job completes.",
        ),
    ],
)
def test_a_job_placeholder_is_a_final_result_that_names_its_job(has_status_tool: bool, text: str):
    document = chat("@Assistant:", *tool_use("a"), "@You:", *tool_result("a", "approved"))
    edits = put_job_placeholder(document, "a", "job_k7x2m", has_status_tool=has_status_tool)
    running = apply_edits(document, edits)
    header, _, content, _ = result_of(running)
    assert (header, content) == ("**Tool Result:** `a` (job=job_k7x2m)", text)
    [call] = siblings(running)
    assert call.is_resolved
    assert call.result is not None
    assert call.result.node.job_id == "job_k7x2m"
    again = apply_edits(running, put_result(running, "a", ResultText("x")))
    assert result_of(again)[0] == "**Tool Result:** `a`"


def test_edits_of_one_call_do_not_move_each_other():
    document = chat("a", "b", "c")
    edits = [
        ReplaceLines(2, 3, ("C1", "C2")),
        ReplaceLines(1, 1, ("first",)),
        ReplaceLines(1, 1, ("second",)),
        AppendText(0, "!\nnew"),
    ]
    assert apply_edits(document, edits).text == "a!\nnew\nfirst\nsecond\nb\nC1\nC2"


def test_edits_that_overlap_are_refused():
    with pytest.raises(ValueError, match="overlap"):
        changes_of(chat("a", "b"), [ReplaceLines(0, 2, ()), AppendText(1, "x")])

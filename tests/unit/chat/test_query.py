"""Pairing, the tool at the cursor, jobs, turns, folds, lint."""

import pytest

from flemma.chat.document import Document
from flemma.chat.folds import FoldKind, fold_ranges
from flemma.chat.lint import lint
from flemma.chat.nodes import Code, Expression, Status, Text
from flemma.chat.query import (
    CallKey,
    NoToolAtCursor,
    find_call,
    is_aborted,
    job_placeholders,
    job_results,
    last_assistant,
    node_at,
    orphan_results,
    orphaned_jobs,
    placeholders,
    siblings,
    tool_at,
    tool_index,
    unresolved,
    without_result,
)
from flemma.chat.turns import Turn, turns
from tests.unit.chat.samples import chat, tool_result, tool_use


def pairs(document: Document) -> list[tuple[CallKey, list[str]]]:
    return [
        (call.key, [result.node.content for result in call.results]) for call in siblings(document)
    ]


def test_the_first_of_two_results_is_rewritten_and_the_last_decides():
    """Case 14."""
    document = chat(
        "@Assistant:",
        *tool_use("c9"),
        "@You:",
        *tool_result("c9", "", "one"),
        *tool_result("c9", "", "two"),
    )
    [call] = siblings(document)
    assert call.first_result is not None
    assert call.last_result is not None
    assert (call.first_result.node.content, call.last_result.node.content) == ("one", "two")
    assert call.result is call.first_result
    assert call.is_resolved


def test_a_placeholder_that_comes_last_is_the_one_to_rewrite():
    document = chat(
        "@Assistant:", *tool_use("c"), "@You:", *tool_result("c"), *tool_result("c", "pending")
    )
    [call] = unresolved(document)
    assert call.result is call.last_result


def test_results_pair_by_id_wherever_they_stand():
    """Case B-06."""
    document = chat(
        "@You:",
        *tool_result("b", "", "early"),
        "@Assistant:",
        *tool_use("a"),
        *tool_use("b"),
        "@You:",
        "text",
        "@Assistant:",
        "@You:",
        *tool_result("a", "error", "late"),
    )
    assert pairs(document) == [(CallKey("a"), ["late"]), (CallKey("b"), ["early"])]
    assert unresolved(document) == ()


def test_one_id_used_in_two_answers_is_two_calls():
    """Case B-07."""
    document = chat(
        "@Assistant:",
        *tool_use("x", "read"),
        "@You:",
        *tool_result("x", "", "first"),
        "@Assistant:",
        *tool_use("x", "bash"),
        "@You:",
        *tool_result("x", "pending"),
    )
    assert pairs(document) == [(CallKey("x", 0), ["first"]), (CallKey("x", 1), [""])]
    [waiting] = placeholders(document)
    assert (waiting.key, waiting.use.node.name) == (CallKey("x", 1), "bash")
    assert tool_index(document)["x"].node.name == "bash"
    first, last = find_call(document, CallKey("x")), find_call(document, "x")
    assert first is not None
    assert last is not None
    assert (first.use.node.name, last.use.node.name) == ("read", "bash")


def test_one_id_used_twice_in_one_answer_takes_results_in_order():
    """Case B-07."""
    document = chat(
        "@Assistant:",
        *tool_use("x"),
        *tool_use("x"),
        "@You:",
        *tool_result("x", "", "1"),
        *tool_result("x", "", "2"),
        *tool_result("x", "", "3"),
    )
    assert pairs(document) == [(CallKey("x", 0), ["1"]), (CallKey("x", 1), ["2", "3"])]


def test_a_lost_result_does_not_shift_the_pairs():
    document = chat(
        "@Assistant:", *tool_use("x"), "@Assistant:", *tool_use("x"), "@You:", *tool_result("x")
    )
    assert [call.key for call in without_result(document)] == [CallKey("x", 0)]


@pytest.mark.parametrize("status", list(Status))
def test_only_results_without_status_and_errors_are_final(status: Status):
    document = chat("@Assistant:", *tool_use("x"), "@You:", *tool_result("x", status.value))
    assert len(unresolved(document)) == (status is not Status.ERROR)
    assert len(placeholders(document)) == (status is not Status.ERROR)


TOOLS = chat(
    "```lua",  # 0
    "```",
    "",
    "@You:",  # 3
    "hi",
    "@Assistant:",  # 5
    "text",
    *tool_use("a"),  # 7-10
    "",
    "",
    *tool_use("b"),  # 13-16
    "",
    "@You:",  # 18
    "",
    *tool_result("a", "pending"),  # 20-22
    "",
    *tool_result("b", "pending"),  # 24-26
    "more",
)


@pytest.mark.parametrize(
    ("line", "tool_use_id"),
    [
        (5, "a"),
        (8, "a"),
        (11, "a"),
        (12, "b"),
        (15, "b"),
        (18, "a"),
        (23, "a"),
        (24, "b"),
        (27, "b"),
    ],
)
def test_the_tool_at_the_cursor_is_the_nearest_of_its_message(line: int, tool_use_id: str):
    assert tool_at(TOOLS, line).id == tool_use_id


def test_below_an_answer_without_results_its_last_tool_is_meant():
    document = chat("@Assistant:", *tool_use("a"), *tool_use("b"), "@You:", "")
    assert tool_at(document, document.line_count - 1).id == "b"


@pytest.mark.parametrize(
    ("document", "line", "message"),
    [
        (TOOLS, 1, "No tool call at cursor position"),
        (TOOLS, 99, "No tool call at cursor position"),
        (TOOLS, 4, "No tool call found in message"),
        (chat("@Assistant:", "x"), 1, "No tool call found in message"),
        (chat("@System:", "x"), 1, "No tool call found in message"),
        (chat("@You:", *tool_result("gone")), 1, "No tool call found near cursor"),
    ],
)
def test_without_a_tool_the_message_says_why(document: Document, line: int, message: str):
    with pytest.raises(NoToolAtCursor, match=message):
        tool_at(document, line)


def test_the_node_on_a_line():
    document = chat("```lua", "x", "```", "above", "@You:", "a {{ b }}{% c %} d", "@Assistant:")
    assert node_at(document, 1).frontmatter is document.frontmatter
    assert node_at(document, 3).message is None
    assert node_at(document, 4).segment is None
    assert node_at(document, 6).message_index == 1

    def node(column: int | None) -> type:
        located = node_at(document, 5, column).segment
        assert located is not None
        assert (located.message, located.line, located.end) == (0, 5, 5)
        return type(located.node)

    assert [node(column) for column in (None, 0, 2, 9, 16)] == [
        Expression,
        Text,
        Expression,
        Code,
        Text,
    ]


@pytest.mark.parametrize(
    ("lines", "aborted"),
    [
        (("x", "<!-- flemma:aborted: m -->"), True),
        ((*tool_use("t"), "<!-- flemma:aborted: m -->", " "), True),
        (("<!-- flemma:aborted: m -->", "more"), False),
        (("x",), False),
    ],
)
def test_an_answer_is_aborted_when_it_ends_with_the_marker(lines: tuple[str, ...], aborted: bool):
    """Cases 19 and 20."""
    assert is_aborted(chat("@Assistant:", *lines).messages[0]) is aborted
    assert not is_aborted(chat("@You:", *lines).messages[0])


def test_the_last_assistant_message():
    found = last_assistant(TOOLS)
    assert found == (1, TOOLS.messages[1])
    assert last_assistant(chat("@You:")) is None


def test_jobs_without_life_or_result_are_orphans():
    """Case 88."""
    document = chat(
        "@You:",
        *tool_result("a", "job=job_a", "running"),
        *tool_result("b", "job=job_b", "running"),
        *tool_result("c", "job=job_c", "running"),
        "**Job Result:** `job_b`",
        "```",
        "```",
    )
    assert len(job_placeholders(document)) == 3
    assert [result.node.job_id for result in job_results(document)] == ["job_b"]
    assert [orphan.node.job_id for orphan in orphaned_jobs(document, ["job_c"])] == ["job_a"]
    assert len(orphan_results(document)) == 3


def test_turns_go_from_a_question_to_the_answer_without_tools():
    document = chat(
        "@Assistant:",  # 0: nobody asked
        "@You:",
        "@Assistant:",
        *tool_use("a"),
        "@You:",
        *tool_result("a"),
        "@Assistant:",
        "@Assistant:",
        "",
        "@System:",
        "@You:",
        "@Assistant:",
        *tool_use("b"),
        "@System:",
        "@You:",
    )
    assert turns(document) == (Turn(1, 5, 1, 13, True), Turn(7, 8, 15, 20, False))


def test_a_later_tool_use_reopens_nothing_but_completes_later():
    document = chat("@You:", "@You:", "@Assistant:", "@Assistant:", *tool_use("b"))
    assert turns(document) == (Turn(0, 3, 0, 7, False),)


def test_folds_are_messages_and_the_blocks_in_them():
    document = chat(
        "```lua",
        "```",
        "@Assistant:",  # 2
        "<thinking>",
        "</thinking>",
        '<thinking a:signature="s"/>',
        *tool_use("a"),  # 6-9
        "",
        *tool_use("b"),  # 11-14
        *tool_use("c"),  # 15-18
        "@You:",  # 19
        *tool_result("a", "", "x"),  # 20-23
        " ",
        *tool_result("b", "pending"),  # 25-27
        "**Job Result:** `job_a`",  # 28-30
        "```",
        "```",
    )
    found = [(f.kind, f.start, f.end, f.terminal) for f in fold_ranges(document)]
    assert found == [
        (FoldKind.FRONTMATTER, 0, 1, False),
        (FoldKind.MESSAGE, 2, 18, False),
        (FoldKind.THINKING, 3, 4, False),
        (FoldKind.TOOL_USE, 6, 10, True),
        (FoldKind.TOOL_USE, 11, 14, False),
        (FoldKind.MESSAGE, 19, 30, False),
        (FoldKind.TOOL_RESULT, 20, 23, True),
        (FoldKind.JOB_RESULT, 28, 30, True),
    ]
    for fold in fold_ranges(document):
        if fold.segment is not None and fold.message is not None:
            node = document.messages[fold.message].segments[fold.segment]
            assert document.start_of(fold.message) + node.start == fold.start


def test_every_fold_has_an_id_of_its_own():
    block = ("@Assistant:", *tool_use("a"), "@You:", *tool_result("a", "", "x"))
    ids = [fold.id for fold in fold_ranges(chat(*block, *block, *tool_result("a", "", "x")))]
    assert len(set(ids)) == len(ids) == 9


def test_lint_names_what_would_surprise():
    document = chat("@User:", "x", "@You:", *tool_result("a"), "```", "@You:", "@Assistant:")
    messages = [(d.line, d.message) for d in lint(document)]
    assert messages == [
        (0, "'@User:' is no role that is sent; use @System:, @You: or @Assistant:"),
        (3, "Tool result 'a' belongs to no tool use in this chat"),
        (
            6,
            "This code fence is never closed: 2 role marker(s) below it are read as its content; "
            "close it with the same number of backticks",
        ),
    ]
    assert lint(TOOLS) == ()

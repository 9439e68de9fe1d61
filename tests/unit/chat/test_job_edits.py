"""Delivering job results (spec: behaviour 7.3, 7.5)."""

from collections.abc import Sequence

from flemma.chat.document import Document
from flemma.chat.edits import (
    JobDelivery,
    apply_edits,
    insert_job_results,
    resolve_orphaned_jobs,
)
from flemma.chat.nodes import Status
from flemma.chat.query import job_results, orphaned_jobs
from tests.unit.chat.samples import chat, tool_result, tool_use

ONE = JobDelivery("job_1", "out")
TWO = JobDelivery("job_2", "bad", Status.ERROR)
ONE_LINES = ("**Job Result:** `job_1`", "```", "out", "```")
TWO_LINES = ("**Job Result:** `job_2` (error)", "```", "bad", "```")


def delivered(document: Document, deliveries: Sequence[JobDelivery] = (ONE, TWO)) -> list[str]:
    after = apply_edits(document, insert_job_results(document, deliveries))
    assert [r.node.job_id for r in job_results(after)][-len(deliveries) :] == [
        delivery.job_id for delivery in deliveries
    ]
    return after.text.split("\n")


def test_results_go_into_the_empty_prompt_in_the_order_of_completion():
    assert delivered(chat("@Assistant:", "x", "", "@You:", "")) == [
        "@Assistant:",
        "x",
        "",
        "@You:",
        "",
        *ONE_LINES,
        "",
        *TWO_LINES,
        "",
    ]


def test_text_being_typed_stays_below_in_its_own_message():
    """Case L-06."""
    assert delivered(chat("@Assistant:", "x", "", "@You:", "typing"), [ONE]) == [
        "@Assistant:",
        "x",
        "",
        "@You:",
        "",
        *ONE_LINES,
        "",
        "@You:",
        "typing",
    ]


def test_a_later_result_joins_the_message_of_the_earlier():
    document = chat("@Assistant:", "x", "", "@You:", "", *ONE_LINES, "", "@You:", "typing")
    assert delivered(document, [TWO]) == [
        "@Assistant:",
        "x",
        "",
        "@You:",
        "",
        *ONE_LINES,
        "",
        *TWO_LINES,
        "",
        "@You:",
        "typing",
    ]


def test_results_follow_the_tool_results_that_are_there():
    lines = ("@Assistant:", *tool_use("a"), "@You:", *tool_result("a"))
    assert delivered(chat(*lines), [ONE]) == [*lines, "", *ONE_LINES]
    typed = delivered(chat(*lines, "", "typing"), [ONE])
    assert typed == [*lines, "", *ONE_LINES, "", "typing"]


def test_without_a_prompt_a_message_is_made():
    assert delivered(chat("@Assistant:", "x", ""), [ONE]) == [
        "@Assistant:",
        "x",
        "",
        "@You:",
        "",
        *ONE_LINES,
        "",
    ]
    assert delivered(chat(""), [ONE]) == ["@You:", "", *ONE_LINES, ""]


def test_nothing_to_deliver_changes_nothing():
    assert insert_job_results(chat("@You:"), []) == ()


def test_jobs_that_died_with_their_session_get_an_error():
    """Case 88."""
    document = chat(
        "@Assistant:",
        *tool_use("a"),
        "@You:",
        *tool_result("a", "job=job_1", "Running"),
        "@Assistant:",
        "fine",
        "@You:",
        "next",
    )
    after = apply_edits(document, resolve_orphaned_jobs(document, []))
    [result] = job_results(after)
    assert (result.node.status, result.node.content) == (
        Status.ERROR,
        "Job lost: session ended before completion.",
    )
    assert orphaned_jobs(after, []) == ()
    assert resolve_orphaned_jobs(document, ["job_1"]) == ()

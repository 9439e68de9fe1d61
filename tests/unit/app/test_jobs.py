"""What `flemma.jobs.status` answers, and what counts as alive (spec: behaviour 7.6)."""

import pytest

from flemma.app.jobs import Job, Jobs
from flemma.app.results import FinalResult
from flemma.chat.parser import parse

JOB = Job("job_abcde", "toolu_1", "bash", started=100.0)
EMPTY = parse("@You:\n")
FACTS = {"job_id": "job_abcde", "tool_id": "toolu_1", "tool_name": "bash"}


@pytest.fixture
def jobs() -> Jobs:
    jobs = Jobs()
    jobs.submit(JOB)
    return jobs


def complete(jobs: Jobs, *, is_error: bool = False) -> None:
    jobs.complete(JOB.id, FinalResult("x", is_error=is_error), 103.26, in_loop=False)


def test_a_running_job_tells_how_long_it_runs(jobs: Jobs) -> None:
    assert jobs.status(JOB.id, EMPTY, 112.04) == {
        "status": "running",
        **FACTS,
        "elapsed_seconds": 12.0,
    }


def test_the_runtime_of_a_finished_job_stands_still(jobs: Jobs) -> None:
    complete(jobs)
    expected = {"status": "completed (delivery pending)", **FACTS, "elapsed_seconds": 3.3}
    assert jobs.status(JOB.id, EMPTY, 200.0) == expected
    assert jobs.status(JOB.id, EMPTY, 900.0) == expected


def test_after_a_restart_the_buffer_alone_answers() -> None:
    text = "@You:\n\n**Job Result:** `job_abcde` (error)\n```\nx\n```\n"
    answer = {"status": "completed", "job_id": JOB.id}
    assert Jobs().status(JOB.id, parse(text), 0.0) == answer
    fabricated = text.replace("@You:", "@Assistant:")
    assert Jobs().status(JOB.id, parse(fabricated), 0.0)["status"] != "completed"


def test_a_job_whose_result_is_gone_is_no_error(jobs: Jobs) -> None:  # acceptance 89
    complete(jobs)
    jobs.delivered(jobs.peek())
    answer = {"status": "completed (removed from conversation)", "job_id": JOB.id}
    assert jobs.status(JOB.id, EMPTY, 0.0) == answer
    assert jobs.status("job_zzzzz", EMPTY, 0.0)["status"] == answer["status"]


def test_a_job_lives_until_its_result_is_delivered(jobs: Jobs) -> None:
    assert jobs.live_ids == {JOB.id}
    assert jobs.states() == {JOB.id: "pending"}
    complete(jobs, is_error=True)
    assert jobs.live_ids == {JOB.id}
    assert jobs.states() == {JOB.id: "error"}
    jobs.delivered(jobs.peek())
    assert jobs.live_ids == frozenset()
    assert jobs.states() == {}

"""Results of jobs reach the buffer once, whatever happens meanwhile (spec: behaviour 7.3)."""

import asyncio
from contextlib import suppress

from flemma.app.deliveries import deliver
from flemma.app.jobs import Job, Jobs
from flemma.app.results import FinalResult
from flemma.chat.query import job_results
from tests.unit.app.memory_buffer import MemoryBuffer

CHAT = "@You:\nx\n\n@Assistant:\ny\n\n@You:\n"


def finished(*ids: str) -> Jobs:
    jobs = Jobs()
    for number, job_id in enumerate(ids):
        jobs.submit(Job(job_id, f"toolu_{job_id}", "bash", started=0.0))
        result = FinalResult(f"output of {job_id}", is_error=number == 1)
        jobs.complete(job_id, result, 1.0, in_loop=False)
    return jobs


def delivered(buffer: MemoryBuffer) -> list[str]:
    return [result.node.job_id for result in job_results(buffer.document)]


async def test_all_queued_results_are_written_in_order_of_completion() -> None:
    jobs, buffer = finished("job_b", "job_a"), MemoryBuffer(CHAT)
    written = await deliver(buffer, jobs, compact_headers=True)
    assert [delivery.job.id for delivery in written] == ["job_b", "job_a"]
    assert buffer.text == (
        f"{CHAT}\n**Job Result:** `job_b`\n```\noutput of job_b\n```\n"
        "\n**Job Result:** `job_a` (error)\n```\noutput of job_a\n```\n"
    )
    assert jobs.queued == 0
    assert await deliver(buffer, jobs, compact_headers=True) == ()


async def test_a_delivery_cancelled_after_its_edit_is_not_repeated() -> None:
    jobs, buffer = finished("job_a"), MemoryBuffer(CHAT)
    buffer.gate.clear()
    first = asyncio.ensure_future(deliver(buffer, jobs, compact_headers=True))
    while not delivered(buffer):
        await asyncio.sleep(0)
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    buffer.gate.set()
    assert jobs.queued == 1
    assert await deliver(buffer, jobs, compact_headers=True) == ()
    assert (delivered(buffer), jobs.queued) == (["job_a"], 0)


async def test_a_delivery_cancelled_before_its_edit_is_made_up_for() -> None:
    jobs, buffer = finished("job_a"), MemoryBuffer(CHAT)
    first = asyncio.ensure_future(deliver(buffer, jobs, compact_headers=True))
    await asyncio.sleep(0)
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    assert delivered(buffer) == []
    await deliver(buffer, jobs, compact_headers=True)
    assert delivered(buffer) == ["job_a"]


async def test_two_deliveries_at_once_write_each_result_once() -> None:
    jobs, buffer = finished("job_a", "job_b"), MemoryBuffer(CHAT)
    buffer.gate.clear()
    first = asyncio.ensure_future(deliver(buffer, jobs, compact_headers=True))
    second = asyncio.ensure_future(deliver(buffer, jobs, compact_headers=True))
    while not delivered(buffer):
        await asyncio.sleep(0)
    buffer.gate.set()
    written = await asyncio.gather(first, second)
    assert sorted(map(len, written)) == [0, 2]
    assert delivered(buffer) == ["job_a", "job_b"]


async def test_a_result_that_queued_up_during_a_delivery_keeps_its_place_in_the_queue() -> None:
    jobs, buffer = finished("job_a"), MemoryBuffer(CHAT)
    buffer.gate.clear()
    first = asyncio.ensure_future(deliver(buffer, jobs, compact_headers=True))
    while not delivered(buffer):
        await asyncio.sleep(0)
    jobs.submit(Job("job_late", "toolu_late", "bash", started=0.0))
    jobs.complete("job_late", FinalResult("late", is_error=False), 2.0, in_loop=False)
    buffer.gate.set()
    await first
    assert jobs.queued == 1
    await deliver(buffer, jobs, compact_headers=True)
    assert delivered(buffer) == ["job_a", "job_late"]


async def test_what_the_user_types_meanwhile_stays_below() -> None:  # case L-06
    jobs, buffer = finished("job_a"), MemoryBuffer(CHAT)
    buffer.interfere = lambda text: f"{text}half a sen"
    await deliver(buffer, jobs, compact_headers=True)
    assert buffer.text == (
        "@You:\nx\n\n@Assistant:\ny\n\n@You:\n\n**Job Result:** `job_a`\n```\noutput of job_a\n"
        "```\n\n@You:\nhalf a sen"
    )

"""Background jobs of one buffer: what runs, and what waits for delivery (spec: behaviour 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flemma.app.results import FinalResult
from flemma.chat.document import Document
from flemma.chat.query import job_results


@dataclass(frozen=True, slots=True)
class Job:
    """A call that runs, or ran, in the background. Times are monotonic seconds."""

    id: str
    tool_use_id: str
    tool_name: str
    started: float
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A finished job whose result is not in the buffer yet."""

    job: Job
    result: FinalResult
    in_loop: bool
    """Whether it finished while a loop was under way."""


class Jobs:
    """The running jobs and the delivery queue, in order of completion."""

    def __init__(self) -> None:
        self._running: dict[str, Job] = {}
        self._queue: list[Delivery] = []

    @property
    def running(self) -> Mapping[str, Job]:
        """Jobs under way, by job id."""
        return self._running

    @property
    def live_ids(self) -> frozenset[str]:
        """Jobs that will still be delivered: running or queued."""
        return frozenset(self._running) | {delivery.job.id for delivery in self._queue}

    @property
    def queued(self) -> int:
        """Results that wait for delivery."""
        return len(self._queue)

    def states(self) -> dict[str, str]:
        """Return `pending`, `completed` or `error` for each job that is not in the buffer yet."""
        states = dict.fromkeys(self._running, "pending")
        for delivery in self._queue:
            states[delivery.job.id] = "error" if delivery.result.is_error else "completed"
        return states

    def submit(self, job: Job) -> None:
        """A job starts."""
        self._running[job.id] = job

    def complete(self, job_id: str, result: FinalResult, now: float, *, in_loop: bool) -> None:
        """A job is over: its result is queued."""
        job = self._running.pop(job_id)
        self._queue.append(Delivery(replace(job, ended=now), result, in_loop))

    def peek(self) -> tuple[Delivery, ...]:
        """Return the queue; :meth:`delivered` empties it once the buffer holds the results."""
        return tuple(self._queue)

    def delivered(self, deliveries: tuple[Delivery, ...]) -> None:
        """These results are in the buffer."""
        done = {delivery.job.id for delivery in deliveries}
        self._queue = [delivery for delivery in self._queue if delivery.job.id not in done]

    def status(self, job_id: str, document: Document, now: float) -> dict[str, Any]:
        """Answer `flemma.jobs.status`; without process state the buffer alone decides (7.6)."""
        running = self._running.get(job_id)
        if running is not None:
            return _facts("running", running, now - running.started)
        for delivery in self._queue:
            job = delivery.job
            if job.id == job_id and job.ended is not None:
                return _facts("completed (delivery pending)", job, job.ended - job.started)
        if any(result.node.job_id == job_id for result in job_results(document)):
            return {"status": "completed", "job_id": job_id}
        return {"status": "completed (removed from conversation)", "job_id": job_id}


def _facts(status: str, job: Job, elapsed: float) -> dict[str, Any]:
    return {
        "status": status,
        "job_id": job.id,
        "tool_id": job.tool_use_id,
        "tool_name": job.tool_name,
        "elapsed_seconds": round(elapsed, 1),
    }

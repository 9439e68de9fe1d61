"""Puts the results of finished background jobs into the buffer (spec: behaviour 7.3)."""

from collections.abc import Collection, Sequence

from flemma.app.jobs import Delivery, Jobs
from flemma.chat.document import Document
from flemma.chat.edits import JobDelivery, insert_job_results
from flemma.chat.nodes import Edit, Status
from flemma.chat.query import job_results
from flemma.ports.editor import ChatBuffer


async def deliver(buffer: ChatBuffer, jobs: Jobs, *, compact_headers: bool) -> tuple[Delivery, ...]:
    """Write all queued results, in order of completion; return what was written.

    Each result is written once: what stands in the text already is passed over. So it does not
    matter whether this is cancelled between the edit and the note that it was made, or whether two
    deliveries run at the same time.
    """
    deliveries = jobs.peek()
    if not deliveries:
        return ()
    missing = deliveries

    def insert(document: Document) -> Sequence[Edit]:
        nonlocal missing
        present = {result.node.job_id for result in job_results(document)}
        missing = _without(deliveries, present)
        results = [_written(delivery) for delivery in missing]
        return insert_job_results(document, results, compact_headers=compact_headers)

    await buffer.edit(insert)
    jobs.delivered(deliveries)
    return missing


def _without(deliveries: tuple[Delivery, ...], ids: Collection[str]) -> tuple[Delivery, ...]:
    return tuple(delivery for delivery in deliveries if delivery.job.id not in ids)


def _written(delivery: Delivery) -> JobDelivery:
    result = delivery.result
    return JobDelivery(
        delivery.job.id,
        result.text,
        Status.ERROR if result.is_error else None,
        "json" if result.structured else "",
    )

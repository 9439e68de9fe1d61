"""Puts the results of finished background jobs into the buffer (spec: behaviour 7.3)."""

from collections.abc import Sequence

from flemma.app.jobs import Delivery, Jobs
from flemma.app.settings import BufferSettings
from flemma.chat.document import Document
from flemma.chat.edits import JobDelivery, insert_job_results
from flemma.chat.nodes import Edit, Status
from flemma.ports.editor import ChatBuffer


async def deliver(buffer: ChatBuffer, jobs: Jobs, settings: BufferSettings) -> tuple[Delivery, ...]:
    """Write all queued results, in order of completion; return what was written."""
    deliveries = jobs.peek()
    if not deliveries:
        return ()
    written = [_written(delivery) for delivery in deliveries]
    compact = settings.config.editing.compact_headers

    def insert(document: Document) -> Sequence[Edit]:
        return insert_job_results(document, written, compact_headers=compact)

    await buffer.edit(insert)
    jobs.delivered(deliveries)
    return deliveries


def _written(delivery: Delivery) -> JobDelivery:
    result = delivery.result
    return JobDelivery(
        delivery.job.id,
        result.text,
        Status.ERROR if result.is_error else None,
        "json" if result.structured else "",
    )

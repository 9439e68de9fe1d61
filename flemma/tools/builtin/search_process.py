"""Runs a search program and hands over its output record by record, within bounds (case E-30)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flemma.errors import ProcessError
from flemma.ports.processes import ProcessOutcome, ProcessSpec
from flemma.tools.context import ToolContext

OUTPUT_LIMIT = 64 << 20
"""Bytes of output after which a search is ended."""
_RECORD_LIMIT = 16 << 10
"""Bytes kept of one record: more than any path and the part of a line that is shown."""
_ERROR_LIMIT = 4 << 10

Take: TypeAlias = Callable[[bytes], Awaitable[bool]]
"""Receives a record; true means that enough was found."""


@dataclass(frozen=True, slots=True)
class SearchRun:
    """How a search ended. ``stopped``: it was ended because enough, or too much, was found."""

    exit_code: int | None
    stopped: bool
    timed_out: bool
    errors: str


async def run_search(
    context: ToolContext, argv: Sequence[str], cwd: str, separator: bytes, take: Take
) -> SearchRun:
    """Run ``argv`` in the sandbox and give each record of its output to ``take``.

    The program and its children are ended as soon as ``take`` has enough. Raises
    :class:`flemma.errors.SandboxUnavailable` and :class:`flemma.errors.ProcessError`.
    """
    spec = ProcessSpec(
        argv=await context.sandbox.wrap_command(argv),
        cwd=cwd,
        environment=context.environment,
        timeout=context.timeout,
        output_limit=OUTPUT_LIMIT,
    )
    chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
    errors = bytearray()

    def keep_error(data: bytes) -> None:
        errors.extend(data[: _ERROR_LIMIT - len(errors)])

    async def run() -> ProcessOutcome | ProcessError:
        try:
            return await context.processes.run(spec, chunks.put_nowait, keep_error)
        except ProcessError as error:
            # Returned, as a task group would wrap it in an exception group.
            return error
        finally:
            chunks.put_nowait(None)

    async with asyncio.TaskGroup() as group:
        running = group.create_task(run())
        enough = await _consume(chunks, _Records(separator), take)
        if enough:
            running.cancel()
    message = errors.decode("utf-8", "replace").strip()
    if running.cancelled():
        return SearchRun(None, stopped=True, timed_out=False, errors=message)
    return _ended(running.result(), message, stopped=enough)


class _Records:
    """Cuts chunks into records; of an over-long one only the beginning is kept."""

    def __init__(self, separator: bytes) -> None:
        self._separator = separator
        self._partial = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        *complete, rest = data.split(self._separator)
        for record in complete:
            self._extend(record)
            yield bytes(self._partial)
            self._partial.clear()
        self._extend(rest)

    def finish(self) -> Iterator[bytes]:
        if self._partial:
            yield bytes(self._partial)

    def _extend(self, data: bytes) -> None:
        self._partial.extend(data[: _RECORD_LIMIT - len(self._partial)])


async def _consume(chunks: "asyncio.Queue[bytes | None]", records: _Records, take: Take) -> bool:
    while (data := await chunks.get()) is not None:
        for record in records.feed(data):
            if await take(record):
                return True
    for record in records.finish():
        if await take(record):
            return True
    return False


def _ended(outcome: ProcessOutcome | ProcessError, errors: str, *, stopped: bool) -> SearchRun:
    if isinstance(outcome, ProcessError):
        raise outcome
    return SearchRun(
        outcome.exit_code,
        stopped=stopped or outcome.ended_by == "output_limit",
        timed_out=outcome.ended_by == "timeout",
        errors=errors,
    )

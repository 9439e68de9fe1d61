"""One send: from the prepared request to the written response (spec: behaviour 2.5 to 2.7)."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flemma.app.costs import price
from flemma.app.exchange import Exchange, Exchanged
from flemma.app.prepare import Preparation, Prepared
from flemma.app.progress import RequestProgress
from flemma.app.response_writer import FLUSH_INTERVAL, ResponseWriter
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.app.turn import Outcome
from flemma.app.usage import RequestRecord
from flemma.chat.document import Document
from flemma.chat.edits import (
    ResultText,
    append_aborted,
    append_prompt,
    assistant_opening,
    begin_assistant,
    put_results,
    remove_assistant,
)
from flemma.chat.nodes import Edit, Status
from flemma.conversation.events import (
    StopReason,
    StreamEvent,
    ToolUseBroken,
    ToolUseDone,
    ToolUseStarted,
)
from flemma.errors import BufferGone, ErrorKind, ProviderError
from flemma.ports.editor import ChatBuffer, Level
from flemma.providers.failures import error_text
from flemma.providers.names import wire_name

log = logging.getLogger(__name__)

TRUNCATED = "Response truncated — model reached max output tokens"
EMPTY = "Request completed but no response was received."
LAST_LINE = -1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a send ended."""

    outcome: Outcome
    has_tool_uses: bool = False


class Request:
    """Sends one conversation and writes what comes back."""

    def __init__(self, services: Services, buffer: ChatBuffer, settings: BufferSettings) -> None:
        self._services = services
        self._buffer = buffer
        self._settings = settings
        started = services.clock.now()
        self._started = started
        self._undo_group = f"response {started.timestamp()}"
        compact = settings.config.editing.compact_headers
        self._writer = ResponseWriter(buffer, self._undo_group, compact_headers=compact)
        self._progress = RequestProgress(
            services.screen, services.clock, buffer.id, settings.config.parameters.timeout
        )
        self._opening: tuple[str, ...] = ()
        self._abandoned = False
        self._prepared: Prepared | None = None

    @property
    def anything_shown(self) -> bool:
        """Whether content of the response is in the buffer or about to be."""
        return self._writer.anything_shown

    def take(self, event: StreamEvent) -> None:
        """Take an event of the stream."""
        event = self._with_tool_name(event)
        self._progress.take(event)
        self._writer.take(event)

    def connecting(self) -> None:
        """A request leaves."""
        self._progress.connecting()

    def waiting(self, seconds: float, error: ProviderError, attempt: int) -> None:
        """A request is repeated after a pause."""
        self._progress.waiting(seconds, error, attempt)

    def abandon(self) -> None:
        """The place of the response is gone: nothing is written any more."""
        self._abandoned = True
        self._writer.close()

    async def run(self, preparation: Preparation, *, user_initiated: bool) -> Ended:
        """Send. Cancelling ends the request and leaves what was shown, marked as interrupted.

        Raises :class:`flemma.app.prepare.NotSentError`, and nothing is written then.
        """
        self._prepared = await preparation.prepare(
            self._buffer.document, self._settings, self._buffer.path
        )
        await self._buffer.edit(self._open, undo_group=self._undo_group)
        await self._buffer.move_cursor(LAST_LINE, force=user_initiated)
        self._services.screen.event("request:sending", {"bufnr": self._buffer.id})
        preparation.sent(self._prepared)
        try:
            exchanged = await self._exchange(self._prepared)
            ended = await self._completed(exchanged, preparation)
        except ProviderError as error:
            ended = await self._failed(error)
        except asyncio.CancelledError:
            ended = await self._cancelled()
        finally:
            self._progress.end()
        return ended

    async def _exchange(self, prepared: Prepared) -> Exchanged:
        exchange = Exchange(self._services.http, self._services.clock, self._services.jitter)
        pump = self._services.tasks.spawn(self._pump(), "response writer")
        try:
            return await exchange.run(prepared.sending, self)
        finally:
            pump.cancel()
            await asyncio.wait([pump])

    async def _pump(self) -> None:
        """Write what has arrived, forty times a second."""
        while True:
            await self._services.clock.sleep(FLUSH_INTERVAL)
            await asyncio.shield(self._writer.flush())
            self._progress.show()

    def _open(self, document: Document) -> tuple[Edit, ...]:
        self._opening = assistant_opening(document)
        return begin_assistant(document)

    async def _completed(self, exchanged: Exchanged, preparation: Preparation) -> Ended:
        self._writer.complete()
        await self._writer.flush()
        if exchanged.dropped_thinking:
            preparation.drop_thinking()
        match exchanged.finished.reason:
            case StopReason.BLOCKED:
                raise self._blocked(exchanged.finished.detail)
            case StopReason.LENGTH:
                self._notify(TRUNCATED, Level.WARN)
            case _:
                pass
        await self._buffer.edit(append_prompt, undo_group=self._undo_group)
        broken = await self._resolve_broken_calls()
        await self._buffer.move_cursor(LAST_LINE)
        record = await self._record(exchanged)
        self._finished_event("completed", record)
        cut = broken and exchanged.finished.reason is StopReason.LENGTH
        return Ended(Outcome.CUT if cut else Outcome.COMPLETED, self._writer.has_tool_uses)

    async def _resolve_broken_calls(self) -> bool:
        """Give each call that must not run the error that tells the model why (S-09, B-03)."""
        broken = self._writer.broken_calls
        compact = self._settings.config.editing.compact_headers
        results = [
            (call.id, ResultText(_broken_text(call), status=Status.ERROR)) for call in broken
        ]
        await self._buffer.edit(
            lambda document: put_results(document, results, compact_headers=compact),
            undo_group=self._undo_group,
        )
        return bool(broken)

    def _blocked(self, detail: str | None) -> ProviderError:
        assert self._prepared is not None
        reason = f" ({detail})" if detail else ""
        name = self._prepared.sending.provider.display_name
        return ProviderError(f"Response blocked by {name}{reason}", kind=ErrorKind.BLOCKED)

    async def _failed(self, error: ProviderError) -> Ended:
        """Keep what was shown, take an empty placeholder away, tell the user once (S-17)."""
        if error.kind is ErrorKind.EMPTY_RESPONSE:
            await self._remove_placeholder()
            await self._buffer.edit(append_prompt, undo_group=self._undo_group)
            self._notify(EMPTY, Level.WARN)
            self._finished_event("errored", None)
            return Ended(Outcome.ERRORED)
        self._writer.complete()
        await self._writer.flush()
        await self._remove_placeholder()
        if self._writer.broken_calls:
            await self._resolve_broken_calls()
        if error.kind is ErrorKind.AUTHENTICATION and self._prepared and self._prepared.credential:
            self._services.credentials.invalidate(self._prepared.credential)
        self._notify(error_text(error), Level.ERROR)
        self._finished_event("errored", None)
        return Ended(Outcome.ERRORED, self._writer.has_tool_uses)

    async def _cancelled(self) -> Ended:
        self._writer.discard()
        try:
            if not self._abandoned and not await self._remove_placeholder():
                await self._buffer.edit(append_aborted, undo_group=self._undo_group)
        except BufferGone:
            log.info("request cancelled: buffer %d is gone", self._buffer.id)
        self._notify("Request cancelled", Level.INFO)
        self._finished_event("cancelled", None)
        return Ended(Outcome.CANCELLED, self._writer.has_tool_uses)

    async def _remove_placeholder(self) -> bool:
        """Take the bare `@Assistant:` away again; tell whether it was still bare."""
        removed = False

        def remove(document: Document) -> tuple[Edit, ...]:
            nonlocal removed
            edits = remove_assistant(document, self._opening)
            removed = bool(edits)
            return edits

        await self._buffer.edit(remove, undo_group=self._undo_group)
        return removed

    def _with_tool_name(self, event: StreamEvent) -> StreamEvent:
        """Give a call the tool's internal name; long names travel shortened (case B-18)."""
        if self._prepared is None:
            return event
        if isinstance(event, ToolUseStarted | ToolUseDone | ToolUseBroken):
            return replace(event, name=self._prepared.names.internal(wire_name(event.name)))
        return event

    async def _record(self, exchanged: Exchanged) -> RequestRecord:
        assert self._prepared is not None
        sending = self._prepared.sending
        record = RequestRecord(
            provider=sending.provider.name,
            model=sending.parameters.model,
            usage=exchanged.usage,
            cost=await price(exchanged.usage, self._prepared.model),
            path=self._buffer.path,
            bufnr=self._buffer.id,
            started=self._started,
            ended=self._services.clock.now(),
        )
        self._services.usage.add(record)
        return record

    def _finished_event(self, status: str, record: RequestRecord | None) -> None:
        data: dict[str, Any] = {"bufnr": self._buffer.id, "status": status}
        if record is not None:
            data["request"] = _record_data(record)
        self._services.screen.event("request:finished", data)

    def _notify(self, message: str, level: Level) -> None:
        self._services.screen.notify(message, level)


def _broken_text(call: ToolUseBroken) -> str:
    received = call.raw.strip()
    return f"{call.reason}\n\nReceived: {received[:2000]}" if received else call.reason


def _record_data(record: RequestRecord) -> Mapping[str, Any]:
    usage = record.usage
    return {
        "provider": record.provider,
        "model": record.model,
        "cost": record.cost,
        "tokens": {
            "input": usage.input,
            "output": usage.output,
            "thoughts": usage.thinking,
            "cache_read": usage.cache_read,
            "cache_creation": usage.cache_write + usage.cache_write_long,
        },
        "elapsed": (record.ended - record.started).total_seconds(),
    }

"""One request to the model's service, with its retries, until the response is complete.

Knows nothing of buffers: what arrives goes to a :class:`Listener` (spec: behaviour 2.6, providers
0.2 and 0.3; cases S-01 to S-09).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from flemma.conversation.events import (
    Failed,
    Finished,
    Notice,
    StopReason,
    StreamEvent,
    UsageReport,
)
from flemma.conversation.messages import Conversation
from flemma.conversation.usage import Usage
from flemma.errors import ErrorKind, ProviderError
from flemma.ports.clock import Clock
from flemma.ports.http import Http, HttpResponse
from flemma.providers.largest import largest_items
from flemma.providers.protocol import Parameters, Provider, WireTool
from flemma.providers.retry import (
    GiveUp,
    RetryDroppingThinking,
    Wait,
    decide,
    empty_response,
)

log = logging.getLogger(__name__)

ERROR_BODY_LIMIT = 1 << 20
"""Bytes read of a response that is an error."""


class Listener(Protocol):
    """Takes a response while it arrives."""

    @property
    def anything_shown(self) -> bool:
        """Whether content of this response is on the screen, so that it is never thrown away."""
        ...

    def take(self, event: StreamEvent) -> None:
        """Take the next event."""
        ...

    def waiting(self, seconds: float, error: ProviderError, attempt: int) -> None:
        """The request is sent again after ``seconds``; ``attempt`` requests were made."""
        ...

    def connecting(self) -> None:
        """A request leaves."""
        ...


@dataclass(frozen=True, slots=True)
class Sending:
    """Everything a request is built from."""

    provider: Provider
    conversation: Conversation
    parameters: Parameters
    tools: tuple[WireTool, ...]
    secret: str | None
    environment: dict[str, str]


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A response that ended properly."""

    finished: Finished
    usage: Usage
    dropped_thinking: bool
    """Whether thinking had to be dropped; the conversation keeps doing so."""


class Exchange:
    """Sends requests over HTTP and decodes the responses."""

    def __init__(self, http: Http, clock: Clock, jitter: Callable[[], float]) -> None:
        self._http = http
        self._clock = clock
        self._jitter = jitter

    async def run(self, sending: Sending, listener: Listener) -> Exchanged:
        """Send until a response is complete. Raises :class:`ProviderError` when it gives up."""
        attempt = 0
        while True:
            attempt += 1
            listener.connecting()
            attempted = _Attempt(listener)
            try:
                await self._attempt(sending, attempted)
                return attempted.outcome(sending.parameters.drop_mismatched_thinking)
            except ProviderError as error:
                log.info("request failed (%s, attempt %d): %s", error.kind, attempt, error)
                sending = await self._recover(error, sending, listener, attempt)

    async def _recover(
        self, error: ProviderError, sending: Sending, listener: Listener, attempt: int
    ) -> Sending:
        """Wait, or change what is sent; raises ``error`` when nothing helps."""
        decision = decide(
            error,
            attempt,
            listener.anything_shown,
            self._jitter(),
            dropping_thinking=sending.parameters.drop_mismatched_thinking,
        )
        match decision:
            case Wait(seconds):
                listener.waiting(seconds, error, attempt)
                await self._clock.sleep(seconds)
                return sending
            case RetryDroppingThinking():
                parameters = replace(sending.parameters, drop_mismatched_thinking=True)
                return replace(sending, parameters=parameters)
            case GiveUp():
                raise _naming_items(error, sending.conversation)

    async def _attempt(self, sending: Sending, attempted: "_Attempt") -> None:
        request = sending.provider.build(
            sending.conversation,
            sending.parameters,
            sending.tools,
            sending.secret,
            sending.environment,
        )
        log.debug("POST %s (%d bytes)", request.url, len(request.body))
        async with self._http.stream(request) as response:
            if not 200 <= response.status < 300:
                body = await _bounded_body(response)
                raise sending.provider.error(response.status, response.headers, body)
            await _decode(sending.provider, response, attempted)


def _naming_items(error: ProviderError, conversation: Conversation) -> ProviderError:
    """Name what makes the conversation too large, unless that was done already (case B-17)."""
    if error.kind in (ErrorKind.TOO_LARGE, ErrorKind.CONTEXT_OVERFLOW):
        items = largest_items(conversation)
        if not set(items) <= set(error.details):
            error.details = (*error.details, "The largest items are:", *items)
    return error


class _Attempt:
    """What one response held."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._usage = Usage()
        self._finished: Finished | None = None
        self._error: ProviderError | None = None

    @property
    def ended(self) -> bool:
        return self._finished is not None or self._error is not None

    def take(self, event: StreamEvent) -> None:
        match event:
            case UsageReport(usage):
                self._usage = usage
            case Finished():
                self._finished = event
            case Failed(error):
                self._error = error
            case Notice(message):
                log.info("provider: %s", message)
            case _:
                self._listener.take(event)

    def outcome(self, dropped_thinking: bool) -> Exchanged:
        if self._error is not None:
            raise self._error
        if self._finished is None:
            raise ProviderError(
                "The response broke off before its end.", kind=ErrorKind.BROKEN_STREAM
            )
        if not self._listener.anything_shown and self._finished.reason is not StopReason.BLOCKED:
            raise empty_response()
        return Exchanged(self._finished, self._usage, dropped_thinking)


async def _bounded_body(response: HttpResponse) -> bytes:
    body = bytearray()
    async for chunk in response.chunks():
        body += chunk
        if len(body) >= ERROR_BODY_LIMIT:
            break
    return bytes(body)


async def _decode(provider: Provider, response: HttpResponse, attempted: _Attempt) -> None:
    decoder = provider.decoder(response.headers.get("content-type", ""))
    async for chunk in response.chunks():
        for event in decoder.feed(chunk):
            attempted.take(event)
        if attempted.ended:
            return
        # A burst must not keep the loop from the editor's messages.
        await asyncio.sleep(0)
    for event in decoder.finish():
        attempted.take(event)

"""Anthropic's event stream as neutral events (spec: providers 1.6).

A closed tool call is held back until the next block or the stop reason comes: only then it is known
whether the output limit cut it (case S-09).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from flemma.conversation.events import (
    Failed,
    Finished,
    Notice,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ToolUseDelta,
    ToolUseStarted,
    UsageReport,
)
from flemma.errors import ErrorKind, ProviderError
from flemma.providers.anthropic.blocks import (
    CUT_BY_BLOCK,
    CUT_BY_FAILURE,
    CUT_BY_LIMIT,
    Block,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
)
from flemma.providers.anthropic.errors import classify
from flemma.providers.anthropic.stop import stop_detail, stop_reason
from flemma.providers.anthropic.usage import UsageCounter
from flemma.providers.failures import parse_json, reported_error, unexpected_response
from flemma.providers.sse import ServerSentEvent, ServerSentEvents
from flemma.text.safe import without_surrogates


class AnthropicDecoder:
    """Decodes one response. ``provider`` is the tag for signatures, ``display`` the spoken name."""

    def __init__(self, provider: str = "anthropic", display: str = "Anthropic") -> None:
        self._provider = provider
        self._display = display
        self._frames = ServerSentEvents()
        self._open: dict[int, Block] = {}
        self._held: ToolBlock | None = None
        self._usage = UsageCounter()
        self._stop: str | None = None
        self._stop_details: object = None
        self._settled = False
        self._called_tools = False
        self._framed = False
        self._ended = False

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take the next bytes of the body."""
        return [] if self._ended else list(self._decode(self._frames.feed(data)))

    def finish(self) -> Sequence[StreamEvent]:
        """Take the end of the body. Without its end marker a stream is broken, not complete."""
        if self._ended:
            return []
        events = list(self._decode(self._frames.finish()))
        if not self._ended:
            events += self._end_of_body()
        return events

    def _decode(self, frames: list[ServerSentEvent]) -> Iterator[StreamEvent]:
        for frame in frames:
            value = parse_json(frame.data)
            if isinstance(value, dict):
                self._framed = True
                yield from self._event(cast("dict[str, Any]", value))
            elif frame.data.strip() != "[DONE]":
                yield Notice(f"Skipped an event that is not JSON: {frame.data[:200]}")
            if self._ended:
                return

    def _event(self, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match event.get("type"):
            case "message_start":
                yield from self._message_start(_mapping(event.get("message")))
            case "content_block_start":
                yield from self._block_start(_index(event), _mapping(event.get("content_block")))
            case "content_block_delta":
                yield from self._block_delta(_index(event), _mapping(event.get("delta")))
            case "content_block_stop":
                yield from self._block_stop(_index(event))
            case "message_delta":
                yield from self._message_delta(event)
            case "message_stop":
                yield from self._message_stop()
            case "error":
                yield from self._reported(event)
            case None if "error" in event:
                yield from self._reported(event)
            case _:
                return

    def _message_start(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if self._usage.add(message.get("usage")):
            yield UsageReport(self._usage.usage)
        transformations = message.get("input_transformations")
        if isinstance(transformations, list):
            for change in cast("list[object]", transformations):
                facts = _mapping(change)
                yield Notice(
                    f"The server changed the input: {facts.get('type')} at {facts.get('path')} "
                    f"({facts.get('reason')})"
                )

    def _block_start(self, index: int, block: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._release_held()
        match block.get("type"):
            case "text":
                self._open[index] = TextBlock()
                yield from self._block_delta(index, {**block, **_TEXT})
            case "thinking":
                self._open[index] = ThinkingBlock(str(block.get("signature") or ""))
                yield from self._block_delta(index, {**block, **_THINKING})
            case "redacted_thinking" if block.get("data"):
                yield ThinkingDone(str(block["data"]), self._provider, None, redacted=True)
            case "tool_use":
                call = ToolBlock.started(block, index)
                self._open[index] = call
                self._called_tools = True
                yield ToolUseStarted(call.id, call.name)
            case _:
                return

    def _block_delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match self._open.get(index), delta:
            case TextBlock(joiner), {"type": "text_delta", "text": str(piece)}:
                text = joiner.add(piece)
                if text:
                    yield TextDelta(text)
            case ThinkingBlock() as block, {"type": "thinking_delta", "thinking": str(piece)}:
                text = block.joiner.add(piece)
                if text:
                    block.pieces.append(text)
                    yield ThinkingDelta(text)
            case ThinkingBlock() as block, {"type": "signature_delta", "signature": str(piece)}:
                block.signature.append(piece)
            case ToolBlock() as block, {"type": "input_json_delta", "partial_json": str(piece)}:
                if piece:
                    block.pieces.append(piece)
                    yield ToolUseDelta(block.id, without_surrogates(piece))
            case _:
                return

    def _block_stop(self, index: int) -> Iterator[StreamEvent]:
        match self._open.pop(index, None):
            case ToolBlock() as block:
                yield from self._release_held()
                self._held = block
            case TextBlock() | ThinkingBlock() as block:
                yield from self._close(block)
            case None:
                return

    def _close(self, block: TextBlock | ThinkingBlock) -> Iterator[StreamEvent]:
        match block:
            case TextBlock(joiner):
                rest = joiner.rest()
                if rest:
                    yield TextDelta(rest)
            case ThinkingBlock():
                done = block.done(self._provider)
                if done is not None:
                    yield done

    def _release_held(self) -> Iterator[StreamEvent]:
        held, self._held = self._held, None
        if held is not None:
            yield held.done()

    def _message_delta(self, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        delta = _mapping(event.get("delta"))
        if self._usage.add(event.get("usage")):
            yield UsageReport(self._usage.usage)
        reason = delta.get("stop_reason")
        if isinstance(reason, str):
            self._stop = reason
            self._stop_details = delta.get("stop_details")
            yield from self._settle()

    def _settle(self) -> Iterator[StreamEvent]:
        """Close what is open, now that the stop reason tells whether it was cut."""
        self._settled = True
        match stop_reason(self._stop, self._called_tools):
            case StopReason.LENGTH:
                cut = CUT_BY_LIMIT
            case StopReason.BLOCKED:
                cut = CUT_BY_BLOCK
            case _:
                cut = None
        if self._held is not None and cut is not None:
            yield self._held.broken(cut)
            self._held = None
        yield from self._release_held()
        yield from self._close_open(cut or CUT_BY_FAILURE)

    def _close_open(self, reason: str) -> Iterator[StreamEvent]:
        blocks, self._open = list(self._open.values()), {}
        for block in blocks:
            match block:
                case ToolBlock():
                    yield block.broken(reason)
                case _:
                    yield from self._close(block)

    def _message_stop(self) -> Iterator[StreamEvent]:
        if not self._settled:
            yield from self._settle()
        self._ended = True
        reason = stop_reason(self._stop, self._called_tools)
        if reason is None:
            yield Notice(f"Unknown stop reason {self._stop!r}, taken as a normal end")
            reason = StopReason.TOOL_USE if self._called_tools else StopReason.END
        yield Finished(reason, stop_detail(self._stop, self._stop_details))

    def _reported(self, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        found = reported_error(event)
        if found is None:
            yield from self._fail(
                ProviderError(
                    f"{self._display} reported an error without a message",
                    kind=ErrorKind.SERVER,
                    retryable=True,
                )
            )
        else:
            yield from self._fail(classify(found))

    def _fail(self, error: ProviderError) -> Iterator[StreamEvent]:
        held, self._held = self._held, None
        if held is not None:
            yield held.after_failure()
        yield from self._close_open(CUT_BY_FAILURE)
        self._ended = True
        yield Failed(error)

    def _end_of_body(self) -> Iterator[StreamEvent]:
        body = self._frames.unframed
        whole = parse_json(body)
        if not self._framed and _mapping(whole).get("type") == "message":
            yield from self._whole_message(_mapping(whole))
            return
        found = next(
            filter(None, map(reported_error, [whole, *map(parse_json, body.split("\n"))])), None
        )
        if found is not None:
            yield from self._fail(classify(found))
        elif body.strip() and not self._framed:
            yield from self._fail(
                ProviderError(unexpected_response(body), kind=ErrorKind.SERVER, retryable=False)
            )
        else:
            yield from self._fail(self._broken())

    def _broken(self) -> ProviderError:
        return ProviderError(
            f"The connection to {self._display} ended before the response was complete.",
            kind=ErrorKind.BROKEN_STREAM,
            retryable=True,
        )

    def _whole_message(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take an answer that was not streamed: a proxy ignored the wish for a stream."""
        yield from self._message_start(message)
        content = message.get("content")
        for index, item in enumerate(
            cast("list[object]", content) if isinstance(content, list) else []
        ):
            yield from self._block_start(index, _mapping(item))
            yield from self._block_stop(index)
        yield from self._message_delta({"delta": message})
        yield from self._message_stop()


_TEXT = {"type": "text_delta"}
_THINKING = {"type": "thinking_delta"}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0

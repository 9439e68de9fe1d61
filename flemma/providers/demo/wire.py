"""A turn as the bytes of an Anthropic stream, with the pauses between them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flemma.providers.demo.script import Failure, Pace, Turn
from flemma.providers.names import wire_name

SIGNATURE = "ZGVtbw=="
"""Signs the demo's thinking, so that it is kept and comes back as the demo's own."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes, sent ``delay`` seconds after what came before."""

    delay: float
    data: bytes


def stream_frames(
    turn: Turn, pace: Pace, prompt_tokens: int, failure: Failure | None
) -> list[Frame]:
    """Return the whole stream. With a ``failure`` it ends in an error event."""
    frames = [Frame(0.0, _message_start(prompt_tokens))]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if turn.thinking:
        deltas = [
            _delta("thinking_delta", "thinking", piece) for piece in _cut(turn.thinking, pace)
        ]
        deltas.append(_delta("signature_delta", "signature", SIGNATURE))
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if turn.text:
        deltas = [_delta("text_delta", "text", piece) for piece in _cut(turn.text, pace)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for tool in turn.tools:
        raw = json.dumps(tool.input, ensure_ascii=False)
        deltas = [_delta("input_json_delta", "partial_json", piece) for piece in _cut(raw, pace)]
        call = {"type": "tool_use", "id": tool.id, "name": wire_name(tool.name)}
        blocks.append((call, deltas))
    for index, (start, deltas) in enumerate(blocks):
        frames += _block(index, start, deltas, pace)
    if failure is not None:
        frames.append(Frame(pace.delay, error_event(failure)))
    elif not turn.cut:
        frames += _end(turn)
    return frames


def error_body(failure: Failure) -> bytes:
    """Return the JSON body of an error status."""
    return json.dumps(_error(failure)).encode()


def error_event(failure: Failure) -> bytes:
    """Return the event of an error inside a stream."""
    return _event("error", _error(failure))


def _error(failure: Failure) -> dict[str, Any]:
    return {"type": "error", "error": {"type": failure.type, "message": failure.message}}


def _cut(text: str, pace: Pace) -> list[str]:
    return [text[at : at + pace.chunk] for at in range(0, len(text), pace.chunk)]


def _delta(kind: str, key: str, piece: str) -> dict[str, Any]:
    return {"type": kind, key: piece}


def _block(
    index: int, start: dict[str, Any], deltas: list[dict[str, Any]], pace: Pace
) -> Iterator[Frame]:
    opening = {"index": index, "content_block": start}
    yield Frame(pace.delay, _event("content_block_start", opening))
    for delta in deltas:
        payload = {"index": index, "delta": delta}
        yield Frame(pace.delay, _event("content_block_delta", payload))
    yield Frame(0.0, _event("content_block_stop", {"index": index}))


def _message_start(prompt_tokens: int) -> bytes:
    usage = {"input_tokens": prompt_tokens, "output_tokens": 1}
    message = {"id": "msg_demo", "type": "message", "role": "assistant", "usage": usage}
    return _event("message_start", {"message": message})


def _end(turn: Turn) -> Iterator[Frame]:
    reason = turn.stop or ("tool_use" if turn.tools else "end_turn")
    characters = (
        len(turn.text) + len(turn.thinking) + sum(len(str(tool.input)) for tool in turn.tools)
    )
    ended = {"delta": {"stop_reason": reason}, "usage": {"output_tokens": max(1, characters // 4)}}
    yield Frame(0.0, _event("message_delta", ended))
    yield Frame(0.0, _event("message_stop", {}))


def _event(kind: str, payload: Mapping[str, Any]) -> bytes:
    data = json.dumps({"type": kind, **payload}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()

"""Concise replies for the scripted Anthropic server: blocks, messages, errors, cuts, pauses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

DEFAULT_USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 1,
}


@dataclass(frozen=True)
class Block:
    """One content block: its start payload, its deltas, and whether its stop event is sent."""

    start: dict[str, Any]
    deltas: tuple[dict[str, Any], ...] = ()
    closed: bool = True


@dataclass(frozen=True)
class Pause:
    """Silence inside a stream, in seconds."""

    seconds: float


Piece: TypeAlias = "Block | Pause"


@dataclass(frozen=True)
class Reply:
    """One response: status, headers, then bytes and pauses (seconds), then how it ends."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: tuple["bytes | float", ...] = ()
    ending: str = "close"
    """``close``, ``abort`` (the connection is reset) or ``hang`` (stays open, silent)."""


def _pieces(content: str, size: int | None) -> list[str]:
    if size is None:
        return [content] if content else []
    return [content[at : at + size] for at in range(0, len(content), size)]


def text(content: str, *, size: int | None = None) -> Block:
    """A text block, in deltas of ``size`` characters (default: one)."""
    deltas = tuple({"type": "text_delta", "text": piece} for piece in _pieces(content, size))
    return Block({"type": "text", "text": ""}, deltas)


def thinking(
    content: str, *, signature: str | None = "c2lnbmF0dXJl", size: int | None = None
) -> Block:
    """A thinking block; without a signature it is one that was cut."""
    deltas: list[dict[str, Any]] = [
        {"type": "thinking_delta", "thinking": piece} for piece in _pieces(content, size)
    ]
    if signature is not None:
        deltas.append({"type": "signature_delta", "signature": signature})
    return Block({"type": "thinking", "thinking": "", "signature": ""}, tuple(deltas))


def redacted(data: str) -> Block:
    """A redacted thinking block."""
    return Block({"type": "redacted_thinking", "data": data})


def tool_use(
    id: str,
    name: str,
    input: Mapping[str, Any] | str,
    *,
    size: int | None = None,
    closed: bool = True,
) -> Block:
    """A tool call. A string ``input`` is sent as it is (broken or cut JSON)."""
    raw = input if isinstance(input, str) else json.dumps(input, ensure_ascii=False)
    deltas = [{"type": "input_json_delta", "partial_json": ""}]
    deltas += [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(raw, size)]
    start = {"type": "tool_use", "id": id, "name": name, "input": {}}
    return Block(start, tuple(deltas), closed)


def pause(seconds: float) -> Pause:
    """Silence between two blocks."""
    return Pause(seconds)


def sse(event: str, payload: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return f"event: {event}\ndata: {json.dumps(payload, ensure_ascii=False)}\n\n".encode()


def _start(usage: Mapping[str, int] | None, model: str) -> bytes:
    head = {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**DEFAULT_USAGE, **(usage or {})},
    }
    return sse("message_start", {"type": "message_start", "message": head})


def _blocks(pieces: Sequence[Piece], delay: float) -> list[bytes | float]:
    body: list[bytes | float] = []
    index = 0
    for piece in pieces:
        if isinstance(piece, Pause):
            body.append(piece.seconds)
            continue
        start = {"type": "content_block_start", "index": index, "content_block": piece.start}
        body.append(sse("content_block_start", start))
        for delta in piece.deltas:
            if delay:
                body.append(delay)
            payload = {"type": "content_block_delta", "index": index, "delta": delta}
            body.append(sse("content_block_delta", payload))
        if piece.closed:
            body.append(sse("content_block_stop", {"type": "content_block_stop", "index": index}))
        index += 1
    return body


def _default_stop(pieces: Sequence[Piece]) -> str:
    calls = any(isinstance(p, Block) and p.start["type"] == "tool_use" for p in pieces)
    return "tool_use" if calls else "end_turn"


STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_test"}


def message(
    *pieces: Piece,
    stop_reason: str | None = None,
    stop_details: Mapping[str, Any] | None = None,
    usage: Mapping[str, int] | None = None,
    output_tokens: int = 7,
    delay: float = 0.0,
    model: str = "claude-sonnet-4-6",
) -> Reply:
    """A complete response. ``delay`` seconds pass before every delta."""
    delta: dict[str, Any] = {
        "stop_reason": stop_reason or _default_stop(pieces),
        "stop_sequence": None,
    }
    if stop_details is not None:
        delta["stop_details"] = dict(stop_details)
    ended = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": output_tokens}}
    body = [_start(usage, model), *_blocks(pieces, delay)]
    body += [sse("message_delta", ended), sse("message_stop", {"type": "message_stop"})]
    return Reply(headers=STREAM_HEADERS, body=tuple(body))


def cut(*pieces: Piece, ending: str = "close", delay: float = 0.0) -> Reply:
    """A response whose stream ends after ``pieces`` without its end marker."""
    body = (_start(None, "claude-sonnet-4-6"), *_blocks(pieces, delay))
    return Reply(headers=STREAM_HEADERS, body=body, ending=ending)


def stream_error(
    *pieces: Piece, type: str = "overloaded_error", message: str = "Overloaded"
) -> Reply:
    """Status 200, then ``pieces``, then an error event (case S-04)."""
    payload = {"type": "error", "error": {"type": type, "message": message}}
    body = (_start(None, "claude-sonnet-4-6"), *_blocks(pieces, 0.0), sse("error", payload))
    return Reply(headers=STREAM_HEADERS, body=body)


def error(
    status: int, type: str, message: str, *, headers: Mapping[str, str] | None = None
) -> Reply:
    """An error status with Anthropic's JSON body."""
    payload = {"type": "error", "error": {"type": type, "message": message}, "request_id": "req_e"}
    return raw(json.dumps(payload), status=status, content_type="application/json", headers=headers)


def raw(
    content: "str | bytes",
    *,
    status: int = 200,
    content_type: str = "text/html",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Any body with any content type."""
    data = content.encode() if isinstance(content, str) else content
    return Reply(status, {"content-type": content_type, **(headers or {})}, (data,))


def _block_from_script(entry: Mapping[str, Any]) -> Piece:
    size = entry.get("size")
    match entry:
        case {"pause": seconds}:
            return Pause(float(seconds))
        case {"text": content}:
            return text(content, size=size)
        case {"redacted": data}:
            return redacted(data)
        case {"thinking": content}:
            return thinking(content, signature=entry.get("signature", "c2lnbmF0dXJl"), size=size)
        case {"tool_use": call}:
            return tool_use(call["id"], call["name"], call.get("input", {}), size=size)
    raise ValueError(f"unknown block in the script: {dict(entry)!r}")


def from_script(entry: "str | Mapping[str, Any]") -> Reply:
    """Make a reply of one entry of a YAML script.

    A string is a text answer; else a mapping with ``blocks`` (``text``, ``thinking`` and
    ``signature``, ``redacted``, ``tool_use: {id, name, input}``, ``pause``; ``size`` sets the
    length of deltas) and ``delay``, ``stop_reason``, ``usage``; ``cut: close|abort|hang``;
    ``stream_error: {type, message}``; or instead of blocks ``error: {status, type, message,
    headers}`` or ``raw: {content, status, content_type}``.
    """
    if isinstance(entry, str):
        return message(text(entry))
    if "error" in entry:
        return error(**entry["error"])
    if "raw" in entry:
        return raw(**entry["raw"])
    pieces = [_block_from_script(block) for block in entry.get("blocks", [])]
    if "cut" in entry:
        return cut(*pieces, ending=entry["cut"], delay=float(entry.get("delay", 0)))
    if "stream_error" in entry:
        return stream_error(*pieces, **entry["stream_error"])
    return message(
        *pieces,
        stop_reason=entry.get("stop_reason"),
        usage=entry.get("usage"),
        delay=float(entry.get("delay", 0)),
    )

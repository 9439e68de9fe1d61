"""Decoding of Anthropic streams (spec: providers 1.6; cases B-03, B-10, B-14, S-01 to S-17)."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.conversation.events import (
    Failed,
    Finished,
    Notice,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDone,
    ToolUseBroken,
    ToolUseDone,
    ToolUseStarted,
    UsageReport,
)
from flemma.conversation.usage import Usage
from flemma.errors import ErrorKind
from flemma.providers.anthropic.stream import AnthropicDecoder

GOLDEN = Path(__file__).parents[2] / "golden" / "anthropic"
RECORDED = sorted(path.name for path in GOLDEN.glob("*.sse"))


def recorded(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def comparable(event: StreamEvent) -> object:
    if isinstance(event, Failed):
        return ("failed", event.error.kind, event.error.message, event.error.retryable)
    return event


def decode(*pieces: bytes) -> list[StreamEvent]:
    decoder = AnthropicDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.finish()]


def kept(events: Sequence[StreamEvent], *kinds: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kinds)]


def text_of(events: Sequence[StreamEvent]) -> str:
    return "".join(event.text for event in kept(events, TextDelta))


def failure(events: Sequence[StreamEvent]) -> Failed:
    (failed,) = kept(events, Failed)
    assert events[-1] is failed
    assert not kept(events, Finished)
    return failed


def sse(*payloads: dict[str, Any]) -> bytes:
    return "".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads).encode()


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def stop(reason: str | None) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


TEXT = {"type": "text", "text": ""}


@pytest.mark.parametrize("name", RECORDED)
def test_a_split_at_any_byte_gives_the_same_events(name: str) -> None:  # S-01, S-02
    data = recorded(name)
    whole = [comparable(event) for event in decode(data)]
    for split in range(len(data) + 1):
        assert [comparable(e) for e in decode(data[:split], data[split:])] == whole
    assert [comparable(e) for e in decode(*(bytes([byte]) for byte in data))] == whole


@given(st.sampled_from(RECORDED), st.data())
def test_any_chunking_gives_the_same_events(name: str, data: st.DataObject) -> None:
    raw = recorded(name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=12)))
    bounds = [0, *cuts, len(raw)]
    pieces = [raw[a:b] for a, b in pairwise(bounds)]
    assert [comparable(e) for e in decode(*pieces)] == [comparable(e) for e in decode(raw)]


@given(st.sampled_from(RECORDED), st.integers(0, 3000))
def test_a_stream_cut_anywhere_ends_in_exactly_one_failure_or_end(name: str, at: int) -> None:
    events = decode(recorded(name)[:at])
    assert len(kept(events, Finished, Failed)) == 1
    assert isinstance(events[-1], Finished | Failed)
    started = {event.id for event in kept(events, ToolUseStarted)}
    assert started == {event.id for event in kept(events, ToolUseDone, ToolUseBroken)}


def test_text_keeps_every_character() -> None:
    events = decode(recorded("text.sse"))
    assert text_of(events) == "Zwölf Möwen 🐦\u2028über dem Hafen."
    assert events[-1] == Finished(StopReason.END)
    assert kept(events, UsageReport)[-1].usage == Usage(input=31, output=9, cache_read=4096)


def test_thinking_is_verbatim_and_signed() -> None:
    events = decode(recorded("thinking_then_text.sse"))
    done = ThinkingDone("The gull is\n  white. ", "anthropic", "Z3VsbA==")
    assert kept(events, ThinkingDone) == [done]


def test_omitted_thinking_keeps_its_signature() -> None:
    events = decode(recorded("omitted_thinking.sse"))
    assert kept(events, ThinkingDone) == [ThinkingDone("", "anthropic", "bm90ZXh0")]


def test_redacted_thinking_is_kept() -> None:  # B-10
    events = decode(recorded("redacted.sse"))
    assert kept(events, ThinkingDone) == [
        ThinkingDone("aGlkZGVu", "anthropic", None, redacted=True)
    ]


def test_parallel_calls_come_in_order_with_internal_names_and_empty_input() -> None:
    events = decode(recorded("parallel_tools.sse"))
    assert kept(events, ToolUseDone) == [
        ToolUseDone("toolu_a", "read", {"path": "harbour.md"}),
        ToolUseDone("toolu_b", "flemma.jobs.status", {}),
    ]
    assert events[-1] == Finished(StopReason.TOOL_USE)


def test_a_call_with_broken_arguments_does_not_cost_the_good_one() -> None:  # B-03
    events = decode(recorded("one_bad_call.sse"))
    good, bad = kept(events, ToolUseDone, ToolUseBroken)
    assert good == ToolUseDone("toolu_a", "read", {"path": "a.md"})
    assert bad.raw == '{"path": a.md}'
    assert bad.reason.startswith("Failed to parse tool input: Expecting value")


@pytest.mark.parametrize("arguments", ["[1]", '"x"', "NaN", '{"a": NaN}', "null"])
def test_arguments_that_are_no_object_are_a_broken_call(arguments: str) -> None:
    start = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": arguments}
    events = decode(sse(*block(0, start, delta), *stop("tool_use")))
    (broken,) = kept(events, ToolUseBroken)
    assert broken.reason.startswith("Failed to parse tool input: ")


@pytest.mark.parametrize("name", ["cut_call.sse", "cut_call_without_stop.sse"])
def test_a_call_cut_by_the_output_limit_never_runs(name: str) -> None:  # S-09
    events = decode(recorded(name))
    (broken,) = kept(events, ToolUseBroken)
    assert broken.id == "toolu_b"
    assert "output limit" in broken.reason
    assert events[-1] == Finished(
        StopReason.LENGTH, "Response truncated — model reached max output tokens"
    )
    assert all(event.id == "toolu_a" for event in kept(events, ToolUseDone))


@pytest.mark.parametrize("arguments", ["", '{"path": "a"}'])
def test_the_last_call_before_the_limit_never_runs_even_if_it_parses(arguments: str) -> None:
    # S-09: empty arguments would parse as {} though they were cut.
    start = {"type": "tool_use", "id": "t", "name": "write", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": arguments}]
    events = decode(sse(*block(0, start, *deltas), *stop("max_tokens")))
    assert not kept(events, ToolUseDone)
    assert kept(events, ToolUseBroken)


def test_a_call_before_text_that_is_cut_was_complete() -> None:
    start = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    text = block(1, TEXT, {"type": "text_delta", "text": "and th"})
    events = decode(sse(*block(0, start), *text, *stop("max_tokens")))
    assert kept(events, ToolUseDone) == [ToolUseDone("t", "read", {})]


@pytest.mark.parametrize("ending", [b"", sse({"type": "error", "error": {"message": "x"}})])
def test_an_open_call_is_broken_when_the_stream_fails(ending: bytes) -> None:  # S-09
    data = recorded("cut_call_without_stop.sse")
    cut = data[: data.index(b"event: message_delta")]
    events = decode(cut + ending)
    (broken,) = kept(events, ToolUseBroken)
    assert broken.raw == '{"content": "once the gu'
    assert "broke off" in broken.reason
    failure(events)


def test_a_closed_call_survives_a_later_failure_only_with_arguments() -> None:
    full = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    argument = {"type": "input_json_delta", "partial_json": '{"path": "a"}'}
    assert kept(decode(sse(*block(0, full, argument))), ToolUseDone)
    assert kept(decode(sse(*block(0, full))), ToolUseBroken)


def test_end_of_body_without_the_end_marker_is_a_broken_stream() -> None:
    data = recorded("text.sse")
    events = decode(data[: data.index(b"event: message_stop")])
    assert failure(events).error.kind is ErrorKind.BROKEN_STREAM
    assert failure(events).error.retryable


def test_thinking_that_was_cut_is_kept_but_nobody_signs_it() -> None:  # B-11
    before, _, _ = recorded("thinking_then_text.sse").partition(b"signature_delta")
    events = decode(before)
    assert kept(events, ThinkingDone) == [ThinkingDone("The gull is\n  white. ", None, None)]


def test_an_error_event_is_classified_and_reported_once() -> None:  # S-04, S-17
    events = decode(recorded("overloaded_midway.sse"))
    error = failure(events).error
    assert (error.kind, error.retryable) == (ErrorKind.OVERLOADED, True)
    assert error.message == "overloaded_error — Overloaded"
    assert text_of(events) == "Half an ans"


def test_nothing_comes_after_a_failure_or_the_end() -> None:
    decoder = AnthropicDecoder()
    decoder.feed(recorded("overloaded_midway.sse"))
    assert list(decoder.feed(recorded("text.sse"))) == []
    assert list(decoder.finish()) == []


def test_a_refusal_is_a_block_with_its_category() -> None:
    assert decode(recorded("refusal.sse"))[-1] == Finished(
        StopReason.BLOCKED, "refusal: bio — Not this."
    )


def test_usage_is_merged_and_cache_writes_are_split_by_lifetime() -> None:
    usage = kept(decode(recorded("cached_usage.sse")), UsageReport)[-1].usage
    assert usage == Usage(
        input=31, output=12, thinking=5, cache_read=300, cache_write=500, cache_write_long=200
    )


def test_unknown_events_blocks_and_reasons_do_no_harm() -> None:  # S-13
    events = decode(recorded("unknown_things.sse"))
    assert text_of(events) == "fine"
    assert kept(events, Notice)
    assert events[-1] == Finished(StopReason.END)


@pytest.mark.parametrize("reason", ["end", "", None, "STOP"])
def test_an_unknown_reason_with_a_call_still_means_that_tools_are_due(reason: str | None) -> None:
    start = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    events = decode(sse(*block(0, start), *stop(reason)))
    assert kept(events, ToolUseDone)
    assert events[-1] == Finished(StopReason.TOOL_USE)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("pause_turn", StopReason.PAUSED),
        ("stop_sequence", StopReason.END),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("sensitive", StopReason.BLOCKED),
    ],
)
def test_stop_reasons_are_mapped(reason: str, expected: StopReason) -> None:
    finished = decode(sse(*block(0, TEXT), *stop(reason)))[-1]
    assert isinstance(finished, Finished)
    assert finished.reason is expected


def test_dropped_thinking_is_noticed() -> None:
    change = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "model_x"}
    start = {"type": "message_start", "message": {"input_transformations": [change]}}
    events = decode(sse(start, *stop("end_turn")))
    assert "messages.1.content.0" in kept(events, Notice)[0].message


def test_a_null_message_in_the_start_event_is_survived() -> None:
    assert decode(sse({"type": "message_start", "message": None}, *stop("end_turn")))[-1] == (
        Finished(StopReason.END)
    )


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_a_surrogate_pair_split_over_two_deltas_is_joined(kind: str) -> None:  # B-14
    key = {"text": "text", "thinking": "thinking"}[kind]
    deltas = [{"type": f"{kind}_delta", key: piece} for piece in ("a\ud83d", "\udc26b\ud83d")]
    events = decode(sse(*block(0, {"type": kind, key: ""}, *deltas), *stop("end_turn")))
    (done,) = kept(events, ThinkingDone) or [TextDelta(text_of(events))]
    assert done.text == "a🐦b\ufffd"


def test_half_a_pair_in_arguments_is_repaired() -> None:  # B-14
    start = {"type": "tool_use", "id": "t", "name": "write", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"content": "a\\ud83d"}'}
    events = decode(sse(*block(0, start, delta), *stop("tool_use")))
    assert kept(events, ToolUseDone)[0].input == {"content": "a\ufffd"}


def test_a_json_error_with_status_200_is_reported_once() -> None:  # S-17
    body = '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'
    events = decode(body.encode())
    assert events == [failure(events)]
    assert failure(events).error.kind is ErrorKind.RATE_LIMIT


def test_a_json_error_in_mid_stream_ends_it() -> None:
    data = recorded("overloaded_midway.sse")
    cut = data[: data.index(b"event: error")]
    events = decode(cut + b'{"error": {"type": "api_error", "message": "boom"}}\n')
    assert failure(events).error.message == "api_error — boom"


def test_an_html_body_is_shown_short() -> None:  # acceptance 103
    page = "<html>\n<body>" + "<p>Sign in</p>\n" * 100 + "</body></html>"
    message = failure(decode(page.encode())).error.message
    assert message.startswith("Unexpected API response: <html> <body><p>Sign in</p>")
    assert message.endswith("...")
    assert len(message) == len("Unexpected API response: ") + 300 + 3


def test_an_empty_body_is_a_broken_stream() -> None:
    assert failure(decode(b"")).error.kind is ErrorKind.BROKEN_STREAM


def test_an_answer_that_was_not_streamed_is_understood() -> None:
    message = {
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "Whole."},
            {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    events = decode(json.dumps(message, indent=2).encode())
    assert text_of(events) == "Whole."
    assert kept(events, ThinkingDone) == [ThinkingDone("hm", "anthropic", "c2ln")]
    assert kept(events, ToolUseDone) == [ToolUseDone("t", "read", {"path": "a"})]
    assert events[-1] == Finished(StopReason.TOOL_USE)
    assert kept(events, UsageReport)[0].usage == Usage(input=3, output=4)

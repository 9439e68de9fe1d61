"""Framing of server-sent events (spec: providers 0.1; cases S-01, S-02)."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.providers.sse import ServerSentEvent, ServerSentEvents

STRESS = (
    '\ufeff: hi\r\ndata: {"a":"\u00e9\u2028x"}\r\n\r\nevent: z\ndata:1\ndata: 2\n\nfoo\ndata: tail'
).encode()
STRESS_EVENTS = [
    ServerSentEvent("", '{"a":"\u00e9\u2028x"}'),
    ServerSentEvent("z", "1\n2"),
    ServerSentEvent("", "tail"),
]


def decode(*pieces: bytes) -> tuple[list[ServerSentEvent], str]:
    frames = ServerSentEvents()
    events = [event for piece in pieces for event in frames.feed(piece)]
    return events + frames.finish(), frames.unframed


def test_the_stress_input_gives_its_events_and_keeps_the_foreign_line_aside() -> None:
    assert decode(STRESS) == (STRESS_EVENTS, "foo")


@pytest.mark.parametrize("split", range(len(STRESS) + 1))
def test_a_split_at_any_byte_changes_nothing(split: int) -> None:  # S-01, S-02
    assert decode(STRESS[:split], STRESS[split:]) == (STRESS_EVENTS, "foo")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_small_chunks_change_nothing(size: int) -> None:
    pieces = [STRESS[at : at + size] for at in range(0, len(STRESS), size)]
    assert decode(*pieces) == (STRESS_EVENTS, "foo")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_accepted_byte_by_byte(end: str) -> None:
    data = f"event: a{end}data: 1{end}{end}data: 2{end}{end}".encode()
    events, _ = decode(*(bytes([byte]) for byte in data))
    assert events == [ServerSentEvent("a", "1"), ServerSentEvent("", "2")]


def test_an_event_without_data_is_dropped_and_its_name_does_not_leak() -> None:
    assert decode(b"event: a\n\ndata: 1\n\n")[0] == [ServerSentEvent("", "1")]


def test_a_field_without_a_colon_has_an_empty_value() -> None:
    assert decode(b"data\n\n")[0] == [ServerSentEvent("", "")]


def test_only_one_leading_space_belongs_to_the_format() -> None:
    assert decode(b"data:   x\n\n")[0] == [ServerSentEvent("", "  x")]


def test_a_json_body_goes_to_the_side_buffer_whole() -> None:
    body = '{\n  "type": "error",\n  "error": {"message": "no"}\n}'
    events, unframed = decode(*(bytes([byte]) for byte in body.encode()))
    assert events == []
    assert json.loads(unframed) == json.loads(body)


def test_a_broken_byte_becomes_a_replacement_character_only() -> None:
    assert decode(b"data: a\xff", b"b\n\n")[0] == [ServerSentEvent("", "a\ufffdb")]


def test_a_huge_line_in_tiny_pieces_is_put_together_once() -> None:
    # Quadratic handling would copy 2 MB some 31,000 times here and run into the test timeout.
    payload = b"x" * 2_000_000
    pieces = [payload[at : at + 64] for at in range(0, len(payload), 64)]
    events, _ = decode(b"data: ", *pieces, b"\n\n")
    assert len(events[0].data) == len(payload)


@given(st.text(alphabet=st.sampled_from("data: \r\nevent\u2028\x85é🐦x")), st.data())
def test_any_chunking_gives_the_same_events(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    bounds = [0, *cuts, len(raw)]
    pieces = [raw[a:b] for a, b in pairwise(bounds)]
    assert decode(*pieces) == decode(raw)

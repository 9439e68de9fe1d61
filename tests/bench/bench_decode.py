"""How long the bytes of an answer take to become events."""

from pytest_benchmark.fixture import BenchmarkFixture

from flemma.conversation.events import StreamEvent
from flemma.providers.anthropic.stream import AnthropicDecoder
from tests.support.anthropic_replies import message, text

DELTAS = 10_000
CHUNK = 1400
"""Bytes that arrive at once: what fits into a packet."""


def decode(chunks: list[bytes]) -> list[StreamEvent]:
    decoder = AnthropicDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)] + list(decoder.finish())


def test_decode_ten_thousand_deltas(benchmark: BenchmarkFixture):
    reply = message(text("word " * DELTAS, size=5))
    stream = b"".join(part for part in reply.body if isinstance(part, bytes))
    chunks = [stream[start : start + CHUNK] for start in range(0, len(stream), CHUNK)]
    events = benchmark(decode, chunks)
    assert len(events) > 2

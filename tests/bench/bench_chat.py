"""How long the pure parts of a chat take."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from flemma.chat.document import Document
from flemma.chat.nodes import Change
from flemma.chat.parser import parse
from tests.bench.samples import chat

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def large() -> Document:
    return parse(chat(5 * MEGABYTE))


def test_parse_one_megabyte(benchmark: BenchmarkFixture):
    text = chat(MEGABYTE)
    document = benchmark(parse, text)
    assert document.serialize() == text


@pytest.mark.parametrize("where", [0.0, 0.5, 1.0], ids=["start", "middle", "end"])
def test_type_one_character_in_five_megabytes(
    benchmark: BenchmarkFixture, large: Document, where: float
):
    line = min(int(large.line_count * where) + 1, large.line_count - 1)
    change = Change(line, line + 1, (large.line(line) + "x",))
    changed = benchmark(large.apply, change)
    assert changed.line(line).endswith("x")

"""How long the pure parts of a chat take."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from flemma.chat.document import Document
from flemma.chat.edits import ResponseText
from flemma.chat.folds import fold_ranges
from flemma.chat.nodes import Change, Segment
from flemma.chat.parser import parse
from flemma.chat.query import unresolved
from tests.bench.samples import chat

MEGABYTE = 1_000_000
LINES = 118_000
RESULT_LINES = 36
BLOCK = (
    "**Tool Result:** `t{number}`\n```\n"
    + "a line of the output of a tool\n" * RESULT_LINES
    + "```\n"
)
SHAPES = {
    "many_messages": lambda: chat(5 * MEGABYTE),
    "one_message_of_prose": lambda: "@You:\n" + "a line of text that somebody wrote\n" * LINES,
    "one_message_of_results": lambda: (
        "@You:\n"
        + "".join(BLOCK.format(number=number) for number in range(LINES // (RESULT_LINES + 3)))
    ),
}
PLACES = pytest.mark.parametrize("where", [0.0, 0.5, 1.0], ids=["start", "middle", "end"])


def _parsed(text: str) -> Document:
    document = parse(text)
    for message in document.messages:
        assert message.tools
    return document


@pytest.fixture(scope="module", params=SHAPES)
def large(request: pytest.FixtureRequest) -> Document:
    return _parsed(SHAPES[request.param]())


def _line(document: Document, where: float) -> int:
    return min(int(document.line_count * where) + 1, document.line_count - 2)


def test_parse_one_megabyte(benchmark: BenchmarkFixture):
    text = chat(MEGABYTE)
    document: Document = benchmark(parse, text)
    assert document.serialize() == text


@pytest.mark.parametrize("shape", SHAPES)
def test_parse_five_megabytes(benchmark: BenchmarkFixture, shape: str):
    text = SHAPES[shape]()
    document: Document = benchmark(parse, text)
    assert document.messages


@PLACES
def test_type_one_character(benchmark: BenchmarkFixture, large: Document, where: float):
    line = _line(large, where)
    change = Change(line, line + 1, (large.line(line) + "x",))
    changed: Document = benchmark(large.apply, change)
    assert changed.line(line).endswith("x")


@PLACES
@pytest.mark.parametrize("new", ["", "@Assistant:", "```", "````", "<thinking>"])
def test_type_a_line(benchmark: BenchmarkFixture, large: Document, where: float, new: str):
    line = _line(large, where)
    changed: Document = benchmark(large.apply, Change(line, line, (new,)))
    assert changed.line(line) == new


@PLACES
def test_segments_after_one_character(benchmark: BenchmarkFixture, large: Document, where: float):
    line = _line(large, where)
    change = Change(line, line + 1, (large.line(line) + "x",))

    def segments() -> tuple[Segment, ...]:
        found = large.apply(change).message_at(line)
        assert found is not None
        return found[1].segments

    assert benchmark(segments)


def test_find_what_is_unresolved(benchmark: BenchmarkFixture):
    document = _parsed(chat(5 * MEGABYTE))
    assert benchmark(unresolved, document) == ()


def test_compute_all_folds(benchmark: BenchmarkFixture):
    document = _parsed(chat(5 * MEGABYTE))
    assert benchmark(fold_ranges, document)


def test_stream_one_megabyte_in_small_pieces(benchmark: BenchmarkFixture):
    """Case V-08: linear, also when it is all one line."""

    def stream() -> int:
        response = ResponseText()
        return sum(len(response.text("word ")) for _ in range(MEGABYTE // 5))

    assert benchmark(stream) > MEGABYTE // 2

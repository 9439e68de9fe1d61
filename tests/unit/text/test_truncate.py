"""Truncation: exact facts of behaviour 5.2 to 5.5 (cases B-14, B-15, X-16, X-17)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.text.notices import overflow_notice, with_notice
from flemma.text.tail import TailBuffer
from flemma.text.truncate import truncate_head, truncate_line, truncate_tail

LINES = [f"line {number}" for number in range(1, 2003)]


@pytest.mark.parametrize(("count", "truncated"), [(1999, False), (2000, False), (2001, True)])
def test_limits_are_exact_at_one_line_less_equal_and_more(count: int, truncated: bool) -> None:
    text = "\n".join(LINES[:count])
    head, tail = truncate_head(text), truncate_tail(text)
    assert (head.truncated, tail.truncated) == (truncated, truncated)
    assert (head.total_lines, head.output_lines) == (count, min(count, 2000))
    assert head.content == "\n".join(LINES[:count][:2000])
    assert tail.content == "\n".join(LINES[:count][-2000:])


def test_a_final_newline_is_one_more_empty_line() -> None:
    assert truncate_head("a\n").total_lines == 2
    assert truncate_head("x\n" * 2000).truncated_by == "lines"


@pytest.mark.parametrize(("size", "truncated"), [(9, False), (10, False), (11, True)])
def test_byte_limits_are_exact(size: int, truncated: bool) -> None:
    text = "abcd\n" + "e" * (size - 5)
    head = truncate_head(text, max_bytes=10)
    assert head.truncated is truncated
    if truncated:
        assert (head.content, head.truncated_by, head.output_bytes) == ("abcd", "bytes", 4)
        assert truncate_tail(text, max_bytes=10).content == "e" * 6


def test_cause_is_lines_when_both_limits_meet() -> None:
    assert truncate_head("ab\ncd\nef", max_lines=2, max_bytes=5).truncated_by == "lines"
    assert truncate_tail("ab\ncd\nef", max_lines=2, max_bytes=5).truncated_by == "lines"
    assert truncate_head("ab\ncd\nef", max_lines=2, max_bytes=4).truncated_by == "bytes"


def test_a_first_line_over_the_limit_gives_nothing() -> None:
    head = truncate_head("x" * 11 + "\nb", max_bytes=10)
    assert (head.content, head.output_lines, head.first_line_exceeds_limit) == ("", 0, True)
    assert (head.truncated_by, head.total_bytes) == ("bytes", 13)


def test_a_last_line_over_the_limit_keeps_its_end_on_a_character_start() -> None:
    tail = truncate_tail("a\n" + "😀" * 5, max_bytes=10)
    assert (tail.content, tail.output_bytes, tail.output_lines) == ("😀😀", 8, 1)
    assert tail.last_line_partial
    assert not tail.first_line_exceeds_limit


@given(st.text(), st.integers(0, 20), st.integers(0, 40))
def test_cut_text_is_within_limits_and_whole_characters(text: str, lines: int, size: int) -> None:
    for cut in (
        truncate_head(text, max_lines=lines, max_bytes=size),
        truncate_tail(text, max_lines=lines, max_bytes=size),
    ):
        encoded = cut.content.encode()
        assert cut.content in text
        assert len(encoded) == cut.output_bytes
        assert cut.total_lines == text.count("\n") + 1
        assert cut.total_bytes == len(text.encode())
        assert cut.truncated or cut.content == text
        assert not cut.truncated or (len(encoded) <= size and cut.output_lines <= max(lines, 1))


@pytest.mark.parametrize(
    ("line", "limit", "cut"),
    [
        ("x" * 500, 500, "x" * 500),
        ("x" * 501, 500, "x" * 485 + "... [truncated]"),
        ("é" * 300, 500, "é" * 242 + "... [truncated]"),
        ("abcdef", 5, "a... [truncated]"),
    ],
)
def test_single_lines_are_cut_below_the_limit(line: str, limit: int, cut: str) -> None:
    assert truncate_line(line, limit) == cut


CHUNK = st.sampled_from(["a", "word", "\n", " ", "\t\n", "😀", "é" * 9, "\n" * 30, "x" * 50])


@given(st.lists(CHUNK, max_size=60), st.integers(1, 7), st.integers(1, 6), st.integers(4, 30))
def test_tail_buffer_agrees_with_truncating_the_whole(
    chunks: list[str], step: int, lines: int, size: int
) -> None:
    data = "".join(chunks).encode()
    buffer = TailBuffer(max_lines=lines, max_bytes=size)
    for start in range(0, len(data), step):
        buffer.feed(data[start : start + step])
    stripped = data.rstrip().decode()
    assert buffer.truncation() == truncate_tail(stripped, max_lines=lines, max_bytes=size)


def test_tail_buffer_stays_small() -> None:
    buffer = TailBuffer(max_bytes=1000)
    for _ in range(1000):
        buffer.feed(b"some line of output\n" * 100 + b"\n" * 5000)
    assert buffer.overflowed
    assert sum(len(part) for part in (buffer._kept, buffer._blank)) < 20_000  # pyright: ignore
    assert buffer.truncation().total_bytes == 1000 * 7000 - 5001


PATH = "/store/tool_bash_1.txt"


def test_notices_name_the_lines_shown_and_the_file() -> None:
    text = "\n".join(LINES[:2001])
    assert (
        overflow_notice(truncate_tail(text), "tail", PATH)
        == f"[Showing lines 2-2001 of 2001. Full output: {PATH}]"
    )
    assert overflow_notice(truncate_head(text), "head", None) == "[Showing lines 1-2000 of 2001]"
    wide = "\n".join(["x" * 1023] * 60)
    assert (
        overflow_notice(truncate_tail(wide), "tail", PATH)
        == f"[Showing lines 11-60 of 60 (50.0KB limit). Full output: {PATH}]"
    )
    one = "x" * 60000
    assert (
        overflow_notice(truncate_tail("a\n" + one), "tail", PATH)
        == f"[Showing last 50.0KB of line 2. Full output: {PATH}]"
    )
    assert (
        overflow_notice(truncate_head(one), "head", PATH)
        == "[Output too large: 58.6KB in a single line, exceeds 50.0KB limit. "
        f"Full output: {PATH}]"
    )


def test_a_notice_stands_below_the_content_or_alone() -> None:
    assert with_notice("text", "[n]") == "text\n\n[n]"
    assert with_notice("", "[n]") == "[n]"

"""Terminal output becomes text (cases X-14, X-15, X-16)."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.text.screen import BLOCK, ROWS
from flemma.text.terminal import TerminalText


def shown(*chunks: bytes) -> str:
    terminal = TerminalText()
    return "".join([*map(terminal.feed, chunks), terminal.finish()])


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"plain\nlines\n", "plain\nlines\n"),
        (b"\tindent\r\nwindows\r\n", "\tindent\nwindows\n"),
        (b"10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        (b"Downloading 9%\rDone\x1b[K\n", "Done\n"),
        (b"abc\rX", "Xbc"),
        (b"one\x1b[2K\rtwo", "two"),
        (b"a\nb\nc\x1b[2A\rA\x1b[2B\rC", "A\nb\nC"),
        (b"a: 1\nb: 1\n\x1b[2Fa: 2\nb: 2\n", "a: 2\nb: 2\n"),
        (b"x\x1b[5Gy", "x   y"),
        (b"abcdef\x1b[3D\x1b[2P", "abcf"),
        (b"abcdef\x1b[3D\x1b[2X", "abc  f"),
        (b"ab\x1b[1D\x1b[2@", "a  b"),
        (b"\x1b7here\x1b8T", "Tere"),
        (b"old\nold\x1b[1;1H\x1b[Jnew", "new"),
        (b"lost?\n\x1b[H\x1b[2J\x1b[3Jfresh", "lost?\nfresh"),
        (b"abc\x1b[1K", "   "),
        (b"one\ntwo\x1b[1Jx", "\n   x"),
    ],
)
def test_redrawn_output_collapses_to_its_last_state(output: bytes, text: str) -> None:
    assert shown(output) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"\x1b[31mred\x1b[0m \x1b[38;5;208morange\x1b[m", "red orange"),
        (b"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]133;A\x07$ \x1b]133;B\x07ls", "$ ls"),
        (b"\x1bP1$r0m\x1b\\after", "after"),
        (b"\x1b]2;t\xc2\x9cafter", "after"),
        (b"lone\x1b\\ST", "loneST"),
        (b"\x1b(Bascii\x1b(0\x1b#8", "ascii"),
        (b"\x1b[?25lhidden\x1b[?25h\x1b[?2004h", "hidden"),
        (b"\x1b]0;never ended\nnext", "\nnext"),
        (b"\x1b]0;never ended\x1b[31mred", "red"),
        (b"bell\x07", "bell"),
        (b"ends in \x1b", "ends in "),
        (b"ends in \x1b[3", "ends in "),
        (b"cut \x1b[3\nnext", "cut \nnext"),
        (b"man b\bbo\bol\bld", "man bold"),
        (b"_\bu_\bn", "un"),
    ],
)
def test_sequences_that_only_colour_or_name_things_vanish(output: bytes, text: str) -> None:
    assert shown(output) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"nul\x00", "nul\\x00"),
        (b"c1 \xc2\x85 \xc2\x9b31m", "c1 \\x85 \\x9b31m"),
        (b"latin \xe9t\xe9", "latin \\xe9t\\xe9"),
        (b"cut \xe2\x82", "cut \\xe2\\x82"),
        (b"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"),
        (b"del \x7f", "del \\x7f"),
        ("é €😀".encode(), "é €😀"),
        ("one line\u2028still one".encode(), "one line\u2028still one"),
    ],
)
def test_control_characters_and_bad_bytes_are_shown(output: bytes, text: str) -> None:
    assert shown(output) == text


PIECES = st.sampled_from(
    [
        *(b"a", b"word ", b"\n", b"\r", b"\b", b"\x1b", b"[", b"\x1b[A", b"\x1b[2;3H", b"\x1b[K"),
        *(b"\x1b[J", b"\x1b[2J", b"\x1b]0;", b"\x07", b"\x1b\\", b"\xe2\x82\xac", b"\xe2", b"\x9c"),
        *(b"\xc2\x9c", b"\x00", b"\x1b7", b"\x1b8", b"0", b";", b"m", b"y" * BLOCK, b"l\n" * ROWS),
    ]
)


@given(st.lists(PIECES, max_size=30), st.lists(st.integers(1, 9000), max_size=30))
def test_any_chunking_gives_the_same_text(pieces: list[bytes], sizes: list[int]) -> None:
    output = b"".join(pieces)
    chunks: list[bytes] = []
    rest = output
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    assert shown(*chunks, rest) == shown(output)
    if len(output) < 3000:
        assert shown(*[bytes([byte]) for byte in output]) == shown(output)


@given(st.binary(max_size=300))
def test_any_bytes_give_text_that_can_be_encoded(output: bytes) -> None:
    text = shown(output)
    text.encode("utf-8")
    assert not [c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t")))
def test_plain_text_passes_unchanged(text: str) -> None:
    assert shown(text.encode()) == text


@given(st.lists(PIECES, max_size=30))
def test_lines_that_end_as_a_terminal_ends_them_are_the_same_lines(pieces: list[bytes]) -> None:
    output = b"".join(pieces).replace(b"\r", b"")
    assert shown(output.replace(b"\n", b"\r\n")) == shown(output)


def test_lines_of_a_terminal_are_taken_as_a_whole_and_not_one_by_one() -> None:
    terminal = TerminalText()
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    chunk = b"y\r\n" * 21845
    sys.setprofile(count)
    try:
        text = terminal.feed(chunk)
    finally:
        sys.setprofile(None)
    assert text.count("\n") > 21_000
    assert calls < 1000


def test_one_line_of_ten_megabytes_passes_in_bounded_memory() -> None:
    terminal = TerminalText()
    sizes: list[int] = []
    for _ in range(160):
        sizes.append(len(terminal.feed(b"x" * 65536)))
    assert sum(sizes) + len(terminal.finish()) == 160 * 65536
    assert min(sizes) >= 65536 - BLOCK


def test_many_lines_leave_the_screen_as_they_scroll() -> None:
    terminal = TerminalText()
    first = terminal.feed(b"line\n" * 1000)
    assert first.count("\n") == 1001 - ROWS
    assert first + terminal.finish() == "line\n" * 1000

"""Line endings and encodings survive (cases E-01, E-02, E-04)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.text.encodings import TextEncoding, decode, editor_encoding
from flemma.text.lines import adopt_endings, dominant_ending, join_lines, split_lines

MIXED = st.text(st.sampled_from("ab\r\n\u2028\x0c"))


@given(MIXED)
def test_lines_join_to_the_same_text(text: str) -> None:
    assert join_lines(split_lines(text)) == text


def test_only_newlines_and_returns_end_a_line() -> None:
    assert split_lines("a\r\nb\rc\u2028d\x0ce\nf") == [
        ("a", "\r\n"),
        ("b", "\r"),
        ("c\u2028d\x0ce", "\n"),
        ("f", ""),
    ]
    assert split_lines("") == []


@pytest.mark.parametrize(
    ("text", "ending"),
    [("", "\n"), ("a", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\r\nb\n", "\n"), ("a\rb", "\r")],
)
def test_the_commonest_ending_is_found(text: str, ending: str) -> None:
    assert dominant_ending(text) == ending


@pytest.mark.parametrize(
    ("new", "old", "adopted"),
    [
        ("x\ny\n", "a\r\nb\n", "x\r\ny\n"),
        ("a\nx\ny\nb\n", "a\r\nb\n", "a\r\nx\r\ny\r\nb\n"),
        ("a\nb", "a\nc\r\nb", "a\nb"),
        ("x\ny", "one", "x\r\ny"),
        ("", "a\r\n", ""),
        ("a\rb\n", "", "a\rb\r\n"),
    ],
)
def test_new_lines_take_the_endings_of_those_they_replace(new: str, old: str, adopted: str) -> None:
    assert adopt_endings(new, old, "\r\n") == adopted


@given(MIXED)
def test_text_that_does_not_change_keeps_all_its_endings(text: str) -> None:
    unix = text.replace("\r\n", "\n")
    assert adopt_endings(unix, text, "\r\n") == text or "\r" in unix


@pytest.mark.parametrize(
    ("text", "codec", "bom"),
    [
        ("plain", "utf-8", b""),
        ("naïve 😀", "utf-8", b""),
        ("with mark", "utf-8", b"\xef\xbb\xbf"),
        ("utf sixteen", "utf-16-le", b"\xff\xfe"),
        ("utf sixteen", "utf-16-be", b"\xfe\xff"),
        ("utf thirty-two", "utf-32-le", b"\xff\xfe\x00\x00"),
        ("no mark, but clearly sixteen", "utf-16-le", b""),
        ("no mark, but clearly sixteen", "utf-16-be", b""),
        ("été à Montréal – “oui”", "cp1252", b""),
        ("これは日本語のテキストです。", "cp932", b""),
        ("これは日本語のテキストです。", "euc_jp", b""),
        ("이것은 한국어 문장입니다.", "euc_kr", b""),
        ("这是一个中文的文件，没有问题。", "gb18030", b""),
        ("這是一個中文的檔案，沒有問題。", "big5", b""),
    ],
)
def test_encodings_are_found_and_round_trip(text: str, codec: str, bom: bytes) -> None:
    data = bom + text.encode(codec)
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, TextEncoding(codec, bom))
    assert decoded.encoding.encode(decoded.text) == data


def test_bytes_outside_windows_1252_are_latin_1() -> None:
    decoded = decode(b"caf\xe9 \x81")
    assert decoded is not None
    assert decoded.encoding.codec == "latin-1"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00",
        b"\x7fELF\x02\x01\x01" + bytes(40),
        bytes(range(256)),
        b"\xff\xfe\x00",
    ],
)
def test_binary_data_is_no_text(data: bytes) -> None:
    assert decode(data) is None


@given(st.binary(max_size=200))
def test_whatever_decodes_encodes_to_the_same_bytes(data: bytes) -> None:
    decoded = decode(data)
    assert decoded is None or decoded.encoding.encode(decoded.text) == data


@pytest.mark.parametrize(
    ("name", "bom", "data"),
    [
        ("", False, "ü".encode()),
        ("utf-8", True, b"\xef\xbb\xbf\xc3\xbc"),
        ("latin1", False, b"\xfc"),
        ("8bit-cp1252", False, b"\xfc"),
        ("utf-16le", True, b"\xff\xfe\xfc\x00"),
        ("ucs-2", False, b"\x00\xfc"),
        ("ucs-4le", True, b"\xff\xfe\x00\x00\xfc\x00\x00\x00"),
        ("euc-cn", False, b"\xa8\xb9"),
        ("of-another-world", False, "ü".encode()),
    ],
)
def test_the_names_of_the_editor_are_understood(name: str, bom: bool, data: bytes):
    """E-04."""
    assert editor_encoding(name, bom=bom).encode("ü") == data

"""Sizes, name patterns, did-you-mean, surrogates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.text.globs import is_glob, matches
from flemma.text.safe import byte_length, first_bytes, last_bytes, without_surrogates
from flemma.text.sizes import counted, format_size
from flemma.text.suggest import closest


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0B"),
        (1023, "1023B"),
        (1024, "1.0KB"),
        (1536, "1.5KB"),
        (51200, "50.0KB"),
        (1024**2, "1.0MB"),
        (1024**3, "1.0GB"),
        (5 * 1024**4, "5120.0GB"),
    ],
)
def test_sizes_are_binary_with_one_decimal(size: int, text: str) -> None:
    """Acceptance 80."""
    assert format_size(size) == text


def test_counts_have_a_singular() -> None:
    assert [counted(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
    assert [counted(n, "second") for n in (1.0, 1.5, 120.0)] == [
        "1 second",
        "1.5 seconds",
        "120 seconds",
    ]


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("flemma.*", "flemma.jobs.status", True),
        ("flemma.*", "flemmax", False),
        ("*", "", True),
        ("a*b*c", "a--b--c", True),
        ("a*b", "a b c", False),
        ("a.b", "axb", False),
        ("[ab]?", "[ab]?", True),
        ("bash", "bash2", False),
        ("**x", "x", True),
    ],
)
def test_only_a_star_is_special_in_a_pattern(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


def test_many_stars_do_not_take_for_ever() -> None:
    assert not matches("*" * 60 + "b", "a" * 2000)
    assert is_glob("a*")
    assert not is_glob("a?")


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("bsh", ["bash", "read"], "bash"),
        ("READ", ["bash", "read"], "read"),
        ("tool", ["toolx", "atool"], "atool"),
        ("something", ["bash", "read"], None),
        ("ls", ["cd"], None),
        ("temprature", ["temperature", "timeout"], "temperature"),
        ("x", [], None),
    ],
)
def test_the_closest_name_is_suggested(
    name: str, candidates: list[str], expected: str | None
) -> None:
    assert closest(name, candidates) == expected


def test_split_surrogates_are_joined_and_lone_ones_replaced() -> None:
    """Case B-14."""
    assert without_surrogates("\ud83d\ude00 \ud83d end \udc80") == "😀 \ufffd end \ufffd"


@given(st.text(st.characters(codec=None, exclude_categories=[])))
def test_cleaned_text_always_encodes(text: str) -> None:
    assert without_surrogates(text).encode("utf-8").decode("utf-8") is not None


@given(st.text(), st.integers(0, 50))
def test_byte_cuts_keep_whole_characters(text: str, limit: int) -> None:
    """Case B-15: emoji sequences, CJK and all else."""
    first, last = first_bytes(text, limit), last_bytes(text, limit)
    assert text.startswith(first)
    assert text.endswith(last)
    for cut in (first, last):
        assert byte_length(cut) <= limit
        assert cut == text or byte_length(cut) > limit - 4

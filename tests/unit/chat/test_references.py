"""File references (spec: behaviour 1.11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.inline import parse_inline
from flemma.chat.nodes import FileReference, Text
from flemma.chat.references import read_reference, write_reference


@pytest.mark.parametrize(
    ("text", "path", "mime", "rest"),
    [
        ("@./a.md.", "./a.md", None, "."),  # case 23
        ("@./a.txt)", "./a.txt", None, ")"),
        ("@../up/x", "../up/x", None, ""),
        ("@~/notes.md, then", "~/notes.md", None, ", then"),
        ("@//tmp/a.txt", "/tmp/a.txt", None, ""),
        ("@./my%20notes+v2.txt", "./my notes v2.txt", None, ""),  # case 25
        ("@./data.bin;type=text/csv,", "./data.bin", "text/csv", ","),  # case 26
        ("@./a.;type=text/plain", "./a.", "text/plain", ""),
        (
            "@./a;type='text/plain;charset=utf-8'.",
            "./a",
            "text/plain;charset=utf-8",
            ".",
        ),
        ("@./a;x=1;type=a/b;", "./a", "a/b", ";"),
        ("@./a;b.txt", "./a;b.txt", None, ""),
        ("@./%zz%E4", "./%zz\udce4", None, ""),
    ],
)
def test_a_reference_ends_before_the_punctuation_of_the_prose(
    text: str, path: str, mime: str | None, rest: str
):
    reference = read_reference(text, 0)
    assert reference is not None
    assert (reference.path, reference.mime) == (path, mime)
    assert text == reference.raw + rest


@pytest.mark.parametrize("text", ["@a.md", "@./", "@../...", "@ ./a", "@/abs", "@~x"])
def test_other_text_is_no_reference(text: str):
    assert read_reference(text, 0) is None


def test_a_reference_may_follow_other_characters():
    segments = parse_inline("(see@./a.md) x", 4, 4)
    assert segments == (
        Text("(see", 4, 4),
        FileReference("./a.md", None, "@./a.md", 4, 4, 4),
        Text(") x", 4, 4),
    )


paths = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
)


@given(paths, st.sampled_from(["./", "../", "~/", "/"]), st.sampled_from([None, "a/b", "a/b;c=d"]))
def test_any_path_reads_back_as_it_was_written(name: str, root: str, mime: str | None):
    """Case E-26: blanks, quotes, percent signs, brackets."""
    written = f"look at {write_reference(root + name, mime)}, please"
    [_, reference, rest] = parse_inline(written, 0, 0)
    assert isinstance(reference, FileReference)
    assert (reference.path, reference.mime) == (root + name, mime)
    assert rest == Text(", please", 0, 0)

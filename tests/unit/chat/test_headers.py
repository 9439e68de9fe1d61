"""Role markers and headers (spec: behaviour 1.1, 1.3 to 1.8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.headers import (
    aborted_marker,
    make_meta,
    read_aborted,
    read_job_result,
    read_role_marker,
    read_suffix,
    read_thinking,
    read_tool_result,
    read_tool_use,
    tool_result_header,
    tool_use_header,
    write_suffix,
)
from flemma.chat.nodes import Status


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("@You:", "user"),
        ("@System: \t", "system"),
        ("@Assistant:\r", "assistant"),
        ("@Note:", "note"),
        ("@YOU:", "you"),
        ("@You: hello", None),
        (" @You:", None),
        ("@You", None),
        ("@Zoë:", None),
        ("@:", None),
        ("@User:", "@user"),
        ("@assistant:", "@assistant"),
    ],
)
def test_a_line_is_a_marker_only_with_nothing_beside_it(line: str, role: str | None):
    assert read_role_marker(line) == role


def test_a_tool_use_header_may_have_text_behind_it():
    assert read_tool_use("**Tool Use:** `a.b` (`t 1`) and more") == ("a.b", "t 1")
    assert read_tool_use("**Tool Use:**`x`(`y`)") == ("x", "y")
    assert read_tool_use("**Tool Use:** x (`y`)") is None


@pytest.mark.parametrize(
    ("suffix", "status", "raw"),
    [
        ("pending", Status.PENDING, ()),
        ("status=approved note=later", Status.APPROVED, ("note=later",)),  # case 8
        ("reject", Status.REJECTED, ()),  # case 10
        ("deny", Status.DENIED, ()),  # case 10
        ("whatever", None, ("whatever",)),  # case 10
        ("status=foo pending", Status.PENDING, ("status=foo",)),
        ("pending status=approved", Status.APPROVED, ("pending",)),
        ("job=job_k7x2m", None, ("job=job_k7x2m",)),
        ("", None, ()),
    ],
)
def test_a_suffix_is_a_status_and_the_rest(
    suffix: str, status: Status | None, raw: tuple[str, ...]
):
    header = read_tool_result(f"**Tool Result:** `c1` ({suffix})")
    assert header is not None
    assert header.status is status
    assert (header.meta.raw if header.meta else ()) == raw


def test_meta_keeps_values_by_key():
    header = read_tool_result('**Tool Result:** `c1` (approved note="a (b)" n=2)')
    assert header is not None
    assert header.meta is not None
    assert header.meta.get("note") == "a (b)"
    assert header.meta.get("n") == 2
    assert header.meta.get("absent") is None


def test_text_that_is_no_suffix_is_ignored():
    header = read_tool_result("**Tool Result:** `c1` (pending) soon")
    assert header is not None
    assert header.status is None
    assert header.meta is None


def test_a_job_result_header_takes_the_same_suffix():
    header = read_job_result("**Job Result:** `job_k7x2m` (error)")
    assert header is not None
    assert (header.id, header.status) == ("job_k7x2m", Status.ERROR)


def test_a_header_keeps_what_it_does_not_know():
    meta = read_suffix("pending sandbox=false later")[1]
    line = tool_result_header("t", Status.APPROVED, meta)
    assert line == "**Tool Result:** `t` (approved sandbox=false later)"
    assert tool_result_header("t", None, meta) == "**Tool Result:** `t` (sandbox=false later)"


tokens = st.sampled_from(["pending", "status=denied", "status=foo", "x", "a='b c'", "job=j", "nil"])


@given(st.none() | st.sampled_from(Status), st.lists(tokens))
def test_a_written_suffix_reads_back_as_its_status(status: Status | None, raw: list[str]):
    suffix = write_suffix(status, make_meta(tuple(raw)))
    header = read_tool_result(f"**Tool Result:** `t`{suffix}")
    assert header is not None
    assert header.status is status


def test_a_header_replaces_what_it_cannot_hold():
    line = tool_use_header("a`b\nc", "")
    assert read_tool_use(line) == ("a_b_c", "_")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<thinking>", (None, None, False, False)),
        ('<thinking openai:signature="a b">', ("openai", "a b", False, False)),
        ('<thinking vertex:signature="" />', ("vertex", "", False, True)),
        ("<thinking redacted>", (None, None, True, False)),
    ],
)
def test_thinking_tags(line: str, expected: tuple[str | None, str | None, bool, bool]):
    tag = read_thinking(line)
    assert tag is not None
    assert (tag.provider, tag.signature, tag.redacted, tag.closed) == expected


@pytest.mark.parametrize("line", [" <thinking>", "<thinking> x", "<thinking foo>", "<thinking/>"])
def test_other_lines_are_no_thinking_tags(line: str):
    assert read_thinking(line) is None


def test_the_aborted_marker_allows_any_blanks_around_its_message():
    assert read_aborted("<!--  flemma:aborted:gone  -->") == "gone"
    assert read_aborted("<!-- flemma:aborted: gone") is None
    assert read_aborted(aborted_marker("a --> b\nc")) == "a → b c"

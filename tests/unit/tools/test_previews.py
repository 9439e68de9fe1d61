"""Previews of tool calls."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.tools.builtin import find, grep, jobs_status, ls
from flemma.tools.definition import ToolDefinition, ToolPreview
from flemma.tools.display_width import clusters, columns, shorten
from flemma.tools.previews import PreviewText, fit, preview
from tests.unit.tools.test_registry import tool


@pytest.mark.parametrize(
    ("definition", "tool_input", "line"),
    [
        (
            grep.definition(),
            {"pattern": "TODO", "glob": "*.lua", "label": "finding TODOs"},
            "grep: /TODO/  *.lua — finding TODOs",
        ),
        (grep.definition(), {"pattern": "x", "path": "src", "glob": None}, "grep: /x/  src"),
        (
            find.definition(),
            {"pattern": "*.test.lua", "path": "src/", "label": "finding tests"},
            "find: *.test.lua  in src/ — finding tests",
        ),
        (find.definition(), {"pattern": "*.c", "path": None}, "find: *.c"),
        (
            ls.definition(),
            {"path": "src/", "max_depth": 3, "label": "exploring structure"},
            "ls: src/  depth=3 — exploring structure",
        ),
        (ls.definition(), {"path": "src/", "max_depth": 1}, "ls: src/"),
        (jobs_status.definition(), {"job_id": "job_k7x2m"}, "flemma.jobs.status: job_k7x2m"),
    ],
)
def test_built_in_tools_have_their_own_format(
    definition: ToolDefinition, tool_input: dict[str, Any], line: str
) -> None:
    assert preview(definition, definition.name, tool_input).inline == line


def test_a_tool_without_a_format_shows_its_input_as_yaml() -> None:
    text = preview(None, "my_tool", {"query": "search term", "limit": 10})
    assert text.inline == 'my_tool: {query: "search term", limit: 10}'
    assert text.block == ('query: "search term"', "limit: 10")
    assert text.highlight == "yaml"


def test_compound_values_are_json_and_odd_keys_are_quoted() -> None:
    text = preview(None, "t", {"list": [1, {"a": "é"}], "a b": None, "on": True, "q": 'x"y'})
    assert text.detail == '{list: [1, {"a": "é"}], "a b": null, "on": true, q: "x\\"y"}'


def test_a_text_label_is_promoted_and_harness_keys_never_show() -> None:
    tool_input: dict[str, Any] = {
        "label": "why",
        "x": 1,
        "flemma.background": True,
        "flemma.save_to": "f",
    }
    text = preview(tool("t"), "t", tool_input)
    assert text.inline == "t: {x: 1} — why"
    assert preview(None, "t", {"label": "why"}).inline == "t: why"
    assert preview(None, "t", {"label": 3}).inline == "t: {label: 3}"
    assert preview(None, "t", {"flemma.save_to": "f"}).inline == "t"
    assert preview(None, "t", {}) == PreviewText("t")


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("a\nb\n", ("k: |", "  a", "  b")),
        ("a\n\nb", ("k: |-", "  a", "", "  b")),
        (" a\nb", ('k: " a\\nb"',)),
        ("a\x1b\nb", ('k: "a\\u001b\\nb"',)),
        ("a\n", ('k: "a\\n"',)),
    ],
)
def test_text_of_several_lines_becomes_a_literal_block(value: str, lines: tuple[str, ...]) -> None:
    assert preview(None, "t", {"k": value}).block == lines


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("plain", PreviewText("t", "plain")),
        ("", PreviewText("t")),
        (ToolPreview(detail="d"), PreviewText("t", "d")),
        (ToolPreview(label="l"), PreviewText("t", None, "l")),
        (ToolPreview(detail=["a", "b"], label="l"), PreviewText("t", "a  b", "l")),
        (ToolPreview(detail="d", highlight="sh"), PreviewText("t", "d", highlight="sh")),
    ],
)
def test_what_a_format_returns_is_taken_and_no_label_is_promoted(
    returned: ToolPreview | str, expected: PreviewText
) -> None:
    definition = tool("t", format_preview=lambda tool_input: returned)
    assert preview(definition, "t", {"label": "not this"}) == expected


def test_a_format_that_fails_falls_back_and_keeps_the_reason() -> None:
    def broken(tool_input: Any) -> str:
        raise KeyError("query")

    text = preview(tool("t", format_preview=broken), "t", {"x": 1})
    assert text.inline == "t: {x: 1}"
    assert text.problem == "format_preview of tool 't' failed: KeyError('query')"


@pytest.mark.parametrize(
    ("detail", "label", "width", "line"),
    [
        ("$ make test", "running", 40, "bash: $ make test — running"),
        ("$ make test", "running", 24, "bash: $ make … — running"),
        ("$ make test", "running", 17, "bash: running"),
        ("$ make test", "running tests", 16, "bash: running t…"),
        ("$ make test", None, 10, "bash: $ m…"),
        (None, None, 3, "ba…"),
        ("a\nb\r\nc", None, 40, "bash: a↵b↵c"),
        ("日本語日本語", "x", 16, "bash: 日本… — x"),
    ],
)
def test_the_detail_is_shortened_first(
    detail: str | None, label: str | None, width: int, line: str
) -> None:
    assert fit("bash", detail, label, width) == line


@given(
    st.text(alphabet="a👨‍👩‍👧漢é🇩🇪\n", max_size=40),
    st.none() | st.text(alphabet="l漢", max_size=20),
    st.integers(0, 60),
)
def test_a_fitted_preview_never_exceeds_the_width_or_splits_a_cluster(
    detail: str, label: str | None, width: int
) -> None:
    """B-15."""
    line = fit("tool", detail, label, width)
    assert columns(line) <= width
    if line.endswith("…"):
        assert clusters(line)[:-1] == clusters(line[:-1])


def test_joined_emoji_flags_and_marks_are_one_cluster() -> None:
    assert clusters("a👨‍👩‍👧e\u0301🇩🇪🇫🇷👍🏽") == ["a", "👨‍👩‍👧", "e\u0301", "🇩🇪", "🇫🇷", "👍🏽"]
    assert columns("a👨‍👩‍👧e\u0301🇩🇪") == 6
    assert shorten("👨‍👩‍👧👨‍👩‍👧", 3) == "👨‍👩‍👧…"
    assert shorten("abc", 0) == ""

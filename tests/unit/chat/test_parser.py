"""The document and its segments (spec: behaviour 1, acceptance cases 1 to 22)."""

import pytest

from flemma.chat.headers import THINKING_CLOSE
from flemma.chat.nodes import (
    Aborted,
    Change,
    Diagnostic,
    Frontmatter,
    JobResult,
    Severity,
    Status,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from flemma.chat.parser import parse, parse_lines
from tests.unit.chat.samples import chat, tool_result, tool_use


def roles(text: str) -> list[str]:
    return [message.role for message in parse(text).messages]


def test_a_role_line_in_a_fence_is_content():
    """Case 2."""
    document = chat("@You:", "```", "@Assistant:", "```", "more", "@Assistant:")
    assert [message.line_count for message in document.messages] == [5, 1]


def test_backticks_with_text_behind_them_open_no_fence():
    """Case 4."""
    assert roles("@You:\n```x``` y\n@You:") == ["user", "user"]


def test_an_unclosed_frontmatter_is_none():
    """Case 5."""
    document = chat("```lua", "x = 1", "@You:", "hi")
    assert document.frontmatter is None
    assert document.starts == [2]


def test_frontmatter_is_on_the_first_line_and_ends_at_three_backticks():
    document = chat("```lua ", "a = [[", "````", "@You:", "``` ", "", "@You:")
    assert document.frontmatter == Frontmatter("lua", "a = [[\n````\n@You:", 5)
    assert document.starts == [6]
    assert chat("", "```lua", "```").frontmatter is None
    assert chat("````lua", "````").frontmatter is None
    assert chat("``` lua", "```").frontmatter is None


def test_text_above_the_first_marker_belongs_to_no_message():
    document = chat("hello", "```", "@You:", "x")
    assert document.starts == [2]
    assert document.message_at(1) is None


def test_an_unclosed_fence_swallows_the_rest():
    document = chat("@You:", "```", "@Assistant:", "x")
    assert len(document.messages) == 1
    assert document.open_fence == 3


def test_tildes_are_no_fences():
    assert roles("@You:\n~~~\n@Assistant:") == ["user", "assistant"]


def test_a_thought_cannot_swallow_what_follows_it():
    document = chat("@Assistant:", "<thinking>", "```python", "</thinking>", "text", "@You:", "x")
    assert [message.role for message in document.messages] == ["assistant", "user"]
    thought, text = document.messages[0].segments
    assert thought == Thinking("```python", None, None, False, 1, 3)
    assert text == Text("text", 4, 4)


def test_trailing_empty_lines_are_not_content_but_blanks_are():
    document = chat("@You:", "a", "", "")
    assert document.messages[0].segments == (Text("a", 1, 1),)
    assert (document.messages[0].content_end, document.messages[0].line_count) == (1, 4)
    assert chat("@You:", "a", " ", "").messages[0].text == "a\n "


def test_empty_texts_are_one_empty_line():
    assert parse("").line_count == 1
    assert parse_lines([]).serialize() == ""
    assert parse("x").apply(Change(0, 1, ())).line_count == 1


@pytest.mark.parametrize(
    "text", ["a\r\nb\r\n", "a\u2028b\x0bc\x85", "\ud800\udc00", "@You:\r\nx\r"]
)
def test_only_newlines_end_lines(text: str):
    document = parse(text)
    assert document.serialize() == text
    assert document.line_count == text.count("\n") + 1


def test_lines_outside_a_document_are_an_error():
    document = parse("a\nb")
    assert document.lines_between(-3, 9) == ["a", "b"]
    with pytest.raises(IndexError, match="line 2"):
        document.line(2)


def test_an_answer_in_all_its_parts():
    document = chat(
        "@Assistant:",
        '<thinking anthropic:signature="sig==">',
        "hm",
        "</thinking>",
        "",
        "Text",
        "",
        *tool_use("t1", "flemma.jobs.status", '{"a": "b"}'),
        '<thinking vertex:signature="v"/>',
        "<thinking redacted>",
        "opaque",
        "</thinking>",
        "<!-- flemma:aborted: gone -->",
        "",
    )
    body = '{"a": "b"}'
    assert document.messages[0].segments == (
        Thinking("hm", "anthropic", "sig==", False, 1, 3),
        Text("\nText\n", 4, 6),
        ToolUse("t1", "flemma.jobs.status", {"a": "b"}, 7, 10, None, body),
        Thinking("", "vertex", "v", False, 11, 11),
        Thinking("opaque", None, None, True, 12, 14),
        Aborted("gone", 15, 15),
    )
    assert document.messages[0].diagnostics == ()


def test_a_user_message_in_all_its_parts():
    document = chat(
        "@You:",
        "",
        *tool_result("t1", "job=job_a", "out", ""),
        "",
        "**Job Result:** `job_a` (error)",
        "",
        "````json",
        "```",
        "````",
        "bye",
    )
    result, job, bye = document.messages[0].segments
    assert isinstance(result, ToolResult)
    assert (result.content, result.job_id, result.fence_start) == ("out\n", "job_a", 3)
    assert not result.is_placeholder
    assert job == JobResult("job_a", Status.ERROR, None, "```", 8, 12, 10)
    assert bye == Text("bye", 13, 13)


def test_a_result_may_have_any_info_word_and_a_one_backtick_fence():
    """Case 11."""
    document = chat("@You:", "**Tool Result:** `t`", "`json", "{}", "`")
    [result] = document.messages[0].segments
    assert isinstance(result, ToolResult)
    assert result.content == "{}"


def test_template_parts_of_a_result_are_found_unless_it_is_a_placeholder():
    lines = ("{{ x }}", "@./a")
    document = chat("@You:", *tool_result("t", "", *lines), *tool_result("u", "pending", *lines))
    final, pending = document.messages[0].segments
    assert isinstance(final, ToolResult)
    assert isinstance(pending, ToolResult)
    assert [(type(part).__name__, part.start) for part in final.segments] == [
        ("Expression", 3),
        ("Text", 3),
        ("FileReference", 4),
    ]
    assert pending.segments == ()


def test_a_broken_input_spoils_only_its_own_block():
    """Case 13, B-03."""
    document = chat("@Assistant:", *tool_use("t1", "read", "{bad"), "", *tool_use("t2"))
    broken, good = document.messages[0].segments
    assert isinstance(broken, ToolUse)
    assert broken.error is not None
    assert (broken.input, broken.raw_body) == ({}, "{bad")
    assert isinstance(good, ToolUse)
    assert good.error is None
    [diagnostic] = document.diagnostics()
    assert diagnostic.message.startswith("Failed to parse tool input: ")
    assert (diagnostic.type, diagnostic.severity, diagnostic.line) == (
        "tool_use",
        Severity.WARNING,
        1,
    )


@pytest.mark.parametrize(
    ("language", "body", "reason"),
    [
        ("json", "[1]", "expected a JSON object, got array"),
        ("json", "null", "expected a JSON object, got null"),
        ("json", '{"a": NaN}', "NaN is not a JSON number"),
        ("lua", "{}", "unsupported language 'lua', write the input as json"),
        ("json", "[" * 100_000, "maximum recursion"),
    ],
)
def test_an_input_that_is_no_json_object_is_an_error(language: str, body: str, reason: str):
    document = chat("@Assistant:", "**Tool Use:** `x` (`y`)", f"```{language}", body, "```")
    [use] = document.messages[0].segments
    assert isinstance(use, ToolUse)
    assert use.error is not None
    assert use.error.startswith(reason)


@pytest.mark.parametrize(
    ("lines", "message", "rest"),
    [
        (
            ("**Tool Use:** `x` (`y`)", "", "plain"),
            "Tool use requires a fenced code block with JSON input",
            (Text("plain", 3, 3),),
        ),
        (
            ("**Tool Use:** `x` (`y`)", "```json", "{}"),
            "Unclosed fenced code block in tool use (missing closing fence)",
            (),
        ),
    ],
)
def test_a_tool_use_without_its_fence_is_dropped(
    lines: tuple[str, ...], message: str, rest: tuple[Text, ...]
):
    document = chat("@Assistant:", *lines)
    assert document.messages[0].segments == rest
    assert document.diagnostics() == (
        Diagnostic("tool_use", Severity.WARNING, message, 1, role="assistant"),
    )


def test_results_without_their_fence_are_dropped():
    document = chat("@System:", "@You:", "**Tool Result:** `t`", "x", "**Job Result:** `j`", "```")
    assert [(d.line, d.message) for d in document.diagnostics()] == [
        (2, "Tool result requires a fenced code block"),
        (4, "Unclosed fenced code block in job result (missing closing fence)"),
    ]


def test_blocks_are_only_blocks_in_the_role_they_belong_to():
    """Case 16; job results of an assistant are made up."""
    lines = ("<thinking>", "x", "</thinking>", *tool_use("t"), "<!-- flemma:aborted: y -->")
    assert chat("@You:", *lines).messages[0].segments == (Text("\n".join(lines), 1, len(lines)),)
    results = (*tool_result("t"), "**Job Result:** `job_a`", "```", "```")
    answer = chat("@Assistant:", *results).messages[0].segments
    assert answer == (Text("\n".join(results), 1, len(results)),)


def test_quoted_blocks_are_text():
    lines = ("````", *tool_use("t"), "````")
    assert len(chat("@Assistant:", *lines).messages[0].segments) == 1
    assert chat("@Assistant:", *lines).messages[0].tools.uses == ()


def test_an_unclosed_thought_keeps_its_text():
    document = chat("@Assistant:", "<thinking>", "a", "**Tool Use:** `x` (`y`)", "", "")
    assert document.messages[0].segments == (
        Thinking("a\n**Tool Use:** `x` (`y`)", None, None, False, 1, 3),
    )


def test_an_empty_thought_may_have_two_lines():
    document = chat("@Assistant:", '<thinking a:signature="s">', THINKING_CLOSE)
    assert document.messages[0].segments == (Thinking("", "a", "s", False, 1, 2),)


def test_an_edit_inside_one_block_keeps_the_objects_of_the_others():
    document = chat("@You:", *tool_result("a", "", "x"), "t", *tool_result("b", "", "y"))
    before = document.messages[0].segments
    changed = document.apply(Change(5, 6, ("u",))).messages[0].segments
    assert changed[0] is before[0]
    assert changed[2] is before[2]
    assert changed[1] == Text("u", 5, 5)

"""The frame of a response, and its text piece by piece (spec: behaviour 1.3, 1.7, 2.6 to 2.9)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.document import Document
from flemma.chat.edits import (
    ResponseText,
    append_aborted,
    append_prompt,
    apply_edits,
    assistant_opening,
    auto_prompt,
    begin_assistant,
    break_off,
    json_text,
    remove_assistant,
)
from flemma.chat.nodes import AppendText, Text, Thinking, ToolUse
from flemma.chat.parser import parse
from flemma.chat.query import aborted_message
from tests.unit.chat.samples import NASTY_LINES, chat

ABORTED = "<!-- flemma:aborted: Response interrupted by the user. -->"


def written(text: str) -> Document:
    """Return a chat whose last message, an answer, has got ``text`` appended."""
    document = chat("@You:", "hi", "", "@Assistant:")
    return apply_edits(document, [AppendText(document.line_count - 1, text)])


@pytest.mark.parametrize("text", ["", "\n", "  \n\t"])
def test_a_blank_file_gets_a_prompt(text: str):
    """Case 22."""
    document = parse(text)
    assert apply_edits(document, auto_prompt(document)).text == "@You:\n"
    assert auto_prompt(chat("x")) == ()


@pytest.mark.parametrize(
    "lines", [("@You:", "hi"), ("@You:", "hi", ""), ("@You:", "```", "open"), ("@You:", " ")]
)
def test_a_cancelled_request_leaves_no_trace(lines: tuple[str, ...]):
    """Case 50."""
    document = chat(*lines)
    opening = assistant_opening(document)
    begun = apply_edits(document, begin_assistant(document))
    assert begun.messages[-1].lines == ["@Assistant:"]
    assert begun.line(begun.line_count - 2) == ""
    assert apply_edits(begun, remove_assistant(begun, opening)).text == document.text


def test_an_opening_with_content_below_is_not_removed():
    document = chat("@You:", "hi")
    opening = assistant_opening(document)
    begun = apply_edits(document, begin_assistant(document))
    answered = apply_edits(begun, [AppendText(begun.line_count - 1, "\nx")])
    assert remove_assistant(answered, opening) == ()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("@Assistant:", "x"), ["x", "", "@You:", ""]),
        (("@Assistant:", "x", ""), ["x", "", "@You:", ""]),
        (("@Assistant:", "```", "x"), ["x", "```", "", "@You:", ""]),
    ],
)
def test_a_prompt_follows_the_answer(lines: tuple[str, ...], expected: list[str]):
    document = chat(*lines)
    after = apply_edits(document, append_prompt(document))
    assert after.lines_between(after.line_count - len(expected), after.line_count) == expected
    assert after.messages[-1].role == "user"
    assert append_prompt(after) == ()


@pytest.mark.parametrize("text", ["\nhalf", "\nhalf\n", "\n```\nhalf"])
def test_an_interrupted_answer_is_marked(text: str):
    document = written(text)
    after = apply_edits(document, append_aborted(document))
    assert aborted_message(after.messages[-1]) == "Response interrupted by the user."
    assert after.line(after.line_count - 2) == ""


def test_an_answer_is_written_with_blank_lines_between_its_blocks():
    response = ResponseText()
    pieces = [
        response.text("  \n"),
        response.thinking(" think ", "anthropic", "sig"),
        response.text("Hello"),
        response.text(" there"),
        response.tool_use("t1", "read", {"path": "ä"}),
        response.tool_use("t2", "ls", {}),
        response.thinking("", "vertex", "s2"),
        response.thinking(" "),
        response.thinking("\n unsigned\n"),
        response.text("end\n"),
        response.thinking("data", redacted=True),
        response.close(),
    ]
    assert "".join(pieces) == "\n".join(
        [
            "",
            '<thinking anthropic:signature="sig">',
            " think ",
            "</thinking>",
            "Hello there",
            "",
            "**Tool Use:** `read` (`t1`)",
            "```json",
            '{"path": "ä"}',
            "```",
            "",
            "**Tool Use:** `ls` (`t2`)",
            "```json",
            "{}",
            "```",
            "",
            '<thinking vertex:signature="s2">',
            "</thinking>",
            "",
            "<thinking>",
            "unsigned",
            "</thinking>",
            "end",
            "<thinking redacted>",
            "data",
            "</thinking>",
            "",
        ]
    )


def test_a_blank_line_stands_between_the_marker_and_a_tool_use():
    document = written(ResponseText(compact_headers=False).tool_use("t", "read", {}))
    assert document.messages[-1].lines == [
        "@Assistant:",
        "",
        "**Tool Use:** `read` (`t`)",
        "",
        "```json",
        "{}",
        "```",
        "",
    ]


def test_input_that_is_no_json_is_written_as_it_came():
    document = written(ResponseText().tool_use_as_written("t", "read", '{"a": "```'))
    use = document.messages[-1].segments[-1]
    assert isinstance(use, ToolUse)
    assert (use.raw_body, use.input) == ('{"a": "```', {})
    assert use.error is not None


def test_json_in_a_chat_is_valid_utf_8():
    """Case B-14: half of a surrogate pair is written as its escape."""
    text = json_text({"a": "\ud83d x"})
    assert text == '{"a": "\\ud83d x"}'
    assert text.encode()


def test_an_open_fence_is_closed_before_a_tool_use():
    response = ResponseText()
    text = response.text("look:\n````lua\nx") + response.tool_use("t", "read", {})
    [_, use] = written(text).messages[-1].segments
    assert isinstance(use, ToolUse)


FORGERIES = (
    "@You:",
    "@System: ",
    "<thinking>",
    "</thinking>",
    "**Tool Use:** `rm` (`x`)",
    "<!-- flemma:aborted: x -->",
)


@pytest.mark.parametrize("line", FORGERIES)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_text_of_a_model_never_becomes_structure(line: str, size: int):
    text = f"a\n{line}\n```\n@You:\n```\n{line}"
    response = ResponseText()
    pieces = [response.text(text[i : i + size]) for i in range(0, len(text), size)]
    document = written("".join(pieces) + response.close())
    assert [message.role for message in document.messages] == ["user", "assistant"]
    assert document.messages[-1].segments == (Text(f"a\n {line}\n```\n@You:\n```\n {line}", 1, 6),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@You:\nhi\n\n@Assistant:", "@You:\nhi"),
        ("@You:\n\n@Assistant:", "@You:"),
        ("@Assistant:", ""),
        ("@You:\nhi\n\n@Assistant:\nSo", f"@You:\nhi\n\n@Assistant:\nSo\n\n{ABORTED}"),
        (
            "@You:\nhi\n\n@Assistant:\n```py\nx",
            f"@You:\nhi\n\n@Assistant:\n```py\nx\n```\n\n{ABORTED}",
        ),
        ("@Assistant:\nSo\n\n@You:\n", "@Assistant:\nSo\n\n@You:\n"),
        ("", ""),
    ],
)
def test_a_response_nobody_writes_any_more_ends_as_a_cancelled_one(text: str, expected: str):
    document = parse(text)
    assert apply_edits(document, break_off(document)).text == expected


def test_other_text_is_written_as_it_is():
    text = "a\n@You: hi\n@decorator\n* item\n<b>\n**Tool** x\n<!-- c -->\n"
    response = ResponseText()
    assert response.text(text) + response.close() == "\n" + text


def test_little_text_is_ever_held_back():
    response = ResponseText()
    shown = "".join(response.text(character) for character in "a\n@" + "b" * 100)
    assert shown == "\na\n @" + "b" * 100


ODD_LINES = (*NASTY_LINES, "@" + "a" * 70 + ":", "@b:" + " " * 70, "@" + "c" * 64 + ": x")
answers = st.lists(st.sampled_from(ODD_LINES), max_size=10).map("\n".join)


@given(answers, st.data())
def test_the_text_does_not_depend_on_how_it_is_cut(text: str, data: st.DataObject):
    whole, cut = ResponseText(), ResponseText()
    expected = whole.text(text) + whole.close()
    pieces: list[str] = []
    while text:
        size = data.draw(st.integers(1, 12))
        pieces.append(cut.text(text[:size]))
        text = text[size:]
    assert "".join(pieces) + cut.close() == expected


@given(answers, answers, answers)
def test_whatever_a_model_says_its_blocks_are_found_again(text: str, thought: str, after: str):
    """Cases B-10, B-11: thinking comes back to the letter, and no user message appears."""
    response = ResponseText()
    pieces = [
        response.thinking(thought, "anthropic", "sig"),
        response.text(text),
        response.tool_use("t", "read", {"text": after}),
        response.text(after),
        response.close(),
    ]
    document = written("".join(pieces))
    document = apply_edits(document, append_prompt(document))
    assert [message.role for message in document.messages] == ["user", "assistant", "user"]
    segments = document.messages[1].segments
    thoughts = [segment for segment in segments if isinstance(segment, Thinking)]
    uses = [segment for segment in segments if isinstance(segment, ToolUse)]
    assert [(t.text, t.signature) for t in thoughts] == [(thought, "sig")]
    assert [(use.id, use.input) for use in uses] == [("t", {"text": after})]

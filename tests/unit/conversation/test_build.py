"""From a document to what a model reads."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.nodes import Severity
from flemma.conversation.build import Emptiness
from flemma.conversation.messages import (
    ImagePart,
    Message,
    Role,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from tests.unit.conversation.build_support import built

TWO_CALLS = """\
@You:
Do it

@Assistant:
Sure.

**Tool Use:** `bash` (`c1`)
```json
{"command": "ls"}
```

**Tool Use:** `read` (`c2`)
```json
{"path": "a"}
```
"""


def result(identifier: str, content: str, suffix: str = "") -> str:
    return f"**Tool Result:** `{identifier}`{suffix}\n```\n{content}\n```\n"


def parts_of(text: str, index: int = -1) -> tuple[object, ...]:
    return built(text).conversation.messages[index].parts


def test_the_three_roles_become_system_prompt_and_messages():
    conversation = built("@System:\nBe brief.\n\n@You:\nHi\n\n@Assistant:\nHello\n").conversation
    assert conversation.system == "Be brief."
    assert conversation.messages == (
        Message(Role.USER, (TextPart("Hi"),)),
        Message(Role.ASSISTANT, (TextPart("Hello"),)),
    )


def test_the_last_system_message_wins_and_other_roles_are_not_sent():
    conversation = built(
        "@System:\nold\n\n@Note:\nnot sent\n\n@System:\nnew\n\n@You:\nx"
    ).conversation
    assert conversation.system == "new"
    assert conversation.messages == (Message(Role.USER, (TextPart("x"),)),)


def test_results_stand_in_call_order_whatever_their_order_in_the_file():
    """B-02."""
    parts = parts_of(TWO_CALLS + "\n@You:\n" + result("c2", "two") + "\n" + result("c1", "one"))
    assert parts == (
        ToolResultPart("c1", (TextPart("one"),)),
        ToolResultPart("c2", (TextPart("two"),)),
    )


def test_text_between_call_and_result_comes_after_the_results():
    """B-06."""
    text = f"{TWO_CALLS}\n@You:\nwait\n\n{result('c1', 'one')}\nmore\n\n{result('c2', 'two')}"
    parts = parts_of(text)
    assert parts[2:] == (TextPart("wait"), TextPart("more"))
    assert [type(part) for part in parts[:2]] == [ToolResultPart, ToolResultPart]


def test_a_result_further_down_is_brought_next_to_its_call():
    """B-06: later turns do not stand between call and result."""
    text = (
        TWO_CALLS
        + "\n@You:\nhm\n\n@Assistant:\nok\n\n@You:\n"
        + result("c1", "one")
        + "\n"
        + result("c2", "two")
    )
    messages = built(text).conversation.messages
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]
    assert [type(part) for part in messages[2].parts] == [
        ToolResultPart,
        ToolResultPart,
        TextPart,
    ]


def test_a_call_without_result_gets_a_made_up_error_and_a_warning():
    """B-01, acceptance 53."""
    outcome = built(TWO_CALLS + "\n@You:\n" + result("c1", "one"))
    assert outcome.conversation.messages[-1].parts[1] == ToolResultPart(
        "c2", (TextPart("No result provided"),), is_error=True
    )
    (warning,) = outcome.diagnostics
    assert warning.message == (
        "Tool call 'read' (c2) has no matching tool result. "
        "A synthetic 'No result provided' error response will be sent to the API."
    )
    assert (warning.type, warning.severity, warning.line) == ("tool_use", Severity.WARNING, 11)
    assert not outcome.is_blocked


@pytest.mark.parametrize("status", ["pending", "approved", "rejected", "denied", "aborted"])
def test_placeholders_are_not_sent_as_results(status: str):
    """B-01: whatever state a call was left in, the request is complete."""
    text = f"{TWO_CALLS}\n@You:\n{result('c1', 'typed', f' ({status})')}\n{result('c2', 'two')}"
    assert parts_of(text)[0] == ToolResultPart(
        "c1", (TextPart("No result provided"),), is_error=True
    )


def test_an_error_result_is_marked_and_an_empty_one_has_no_content():
    text = f"{TWO_CALLS}\n@You:\n{result('c1', 'boom', ' (error)')}\n{result('c2', '')}"
    assert parts_of(text) == (
        ToolResultPart("c1", (TextPart("boom"),), is_error=True),
        ToolResultPart("c2", ()),
    )


def test_of_duplicate_results_the_last_final_one_is_sent():
    text = TWO_CALLS + "\n@You:\n" + result("c1", "old") + result("c2", "x") + result("c1", "new")
    assert parts_of(text)[0] == ToolResultPart("c1", (TextPart("new"),))


def test_repeated_ids_are_told_apart_and_results_go_to_the_right_call():
    """B-07."""
    turn = '@Assistant:\n**Tool Use:** `bash` (`c1`)\n```json\n{{"command": "{}"}}\n```\n\n'
    text = (
        "@You:\nx\n\n"
        + turn.format("first")
        + "@You:\n"
        + result("c1", "one")
        + "\n"
        + turn.format("second")
        + "@You:\n"
        + result("c1", "two")
    )
    messages = built(text).conversation.messages
    assert messages[1].parts == (ToolUsePart("c1", "bash", {"command": "first"}),)
    assert messages[2].parts == (ToolResultPart("c1", (TextPart("one"),)),)
    assert messages[3].parts == (ToolUsePart("c1_2", "bash", {"command": "second"}),)
    assert messages[4].parts == (ToolResultPart("c1_2", (TextPart("two"),)),)


def test_a_call_that_cannot_be_read_is_not_sent_and_its_result_becomes_text():
    """B-03: the good call keeps its result, the model is told about the bad one."""
    text = TWO_CALLS.replace('{"path": "a"}', '{"path": ')
    outcome = built(
        f"{text}\n@You:\n{result('c1', 'one')}\n{result('c2', 'Failed to parse', ' (error)')}"
    )
    assistant, user = outcome.conversation.messages[1:]
    assert [type(part) for part in assistant.parts] == [TextPart, ToolUsePart]
    assert user.parts == (
        ToolResultPart("c1", (TextPart("one"),)),
        TextPart("[Result of a call of read (c2) whose input could not be read]\nFailed to parse"),
    )


def test_a_result_without_any_call_becomes_text_with_a_warning():
    outcome = built("@You:\nhi\n\n" + result("gone", "output"))
    assert outcome.conversation.messages[0].parts == (
        TextPart("hi"),
        TextPart("[Tool result without a tool call (gone)]\noutput"),
    )
    assert [problem.line for problem in outcome.diagnostics] == [3]


def test_a_job_result_names_the_tool_it_belongs_to():
    job = "**Job Result:** `job_abc12`\n```\ndone\n```\n"
    text = TWO_CALLS + "\n@You:\n" + result("c1", "running", " (job=job_abc12)")
    text += "\n" + result("c2", "two") + "\n@Assistant:\nok\n\n@You:\n" + job
    messages = built(text).conversation.messages
    assert messages[-1].parts == (TextPart("[Job result for bash (c1)]\ndone"),)
    assert messages[2].parts[0] == ToolResultPart("c1", (TextPart("running"),))


def test_a_job_result_without_placeholder_says_so():
    text = "@You:\n**Job Result:** `job_zzzzz` (error)\n```\nlost\n```\n"
    assert parts_of(text) == (TextPart("[Job result for unknown tool (job: job_zzzzz)]\nlost"),)


MARKER = "<!-- flemma:aborted: Response interrupted by the user. -->"


def test_an_aborted_marker_is_sent_with_text_only_messages():
    """Acceptance 19."""
    text = f"@You:\nx\n\n@Assistant:\nHalf\n\n{MARKER}\n\n@You:\ny\n\n@Assistant:\nz\n\n@You:\nw"
    assert parts_of(text, 1) == (
        TextPart("Half"),
        TextPart("<!-- Response interrupted by the user. -->"),
    )


def test_an_aborted_marker_is_dropped_beside_tool_calls():
    """Acceptance 20."""
    text = TWO_CALLS + f"\n{MARKER}\n\n@You:\n" + result("c1", "a") + result("c2", "b")
    assert [type(part) for part in parts_of(text, 1)] == [TextPart, ToolUsePart, ToolUsePart]


def test_an_aborted_marker_of_the_user_is_plain_text():
    """Acceptance 16."""
    assert parts_of(f"@You:\n{MARKER}") == (TextPart(MARKER),)


def test_thinking_is_carried_verbatim_and_never_as_tags():
    """B-11, acceptance 17."""
    text = (
        "@You:\nx\n\n@Assistant:\n<thinking>\n plain \n</thinking>\n"
        '<thinking anthropic:signature="s1">\nsigned\n</thinking>\n'
        '<thinking openai:signature="s2"/>\n<thinking redacted>\nxyz\n</thinking>\nAnswer\n'
    )
    assert parts_of(text) == (
        ThinkingPart(" plain "),
        ThinkingPart("signed", "anthropic", "s1"),
        ThinkingPart("", "openai", "s2"),
        ThinkingPart("xyz", redacted=True),
        TextPart("Answer"),
    )


def test_templates_of_the_assistant_are_never_evaluated():
    """Acceptance 29."""
    text = "@You:\nx\n\n@Assistant:\n{{ 1 + 1 }} @./photo.png"
    assert parts_of(text) == (TextPart("{{ 1 + 1 }} @./photo.png"),)


def test_results_are_evaluated_only_for_tools_that_emit_templates():
    """Behaviour 1.4: `read` does, `bash` does not."""
    text = f"{TWO_CALLS}\n@You:\n{result('c1', '{{ 1 + 1 }}')}\n"
    text += result("c2", "@./p.png;type=image/png")
    outcome = built(text, {"/chats/p.png": b"PNG"})
    assert outcome.conversation.messages[-1].parts == (
        ToolResultPart("c1", (TextPart("{{ 1 + 1 }}"),)),
        ToolResultPart("c2", (ImagePart("image/png", b"PNG", "p.png"),)),
    )
    assert list(outcome.used_files) == ["/chats/p.png"]


def test_a_result_full_of_foreign_braces_is_sent_as_it_is_without_a_word():
    """V-10: what a model once read does not raise problems for ever."""
    content = "{% extends 'base.html' %}{{ user.name }}{% url 'x' %}"
    outcome = built(TWO_CALLS + "\n@You:\n" + result("c1", "a") + result("c2", content))
    assert outcome.conversation.messages[-1].parts[1] == ToolResultPart("c2", (TextPart(content),))
    assert outcome.diagnostics == ()


def test_a_missing_file_in_a_result_is_a_warning_at_its_line():
    text = TWO_CALLS + "\n@You:\n" + result("c1", "a") + result("c2", "@./gone.png")
    outcome = built(text)
    assert outcome.conversation.messages[-1].parts[1] == ToolResultPart(
        "c2", (TextPart("@./gone.png"),)
    )
    assert [(problem.type, problem.line) for problem in outcome.diagnostics] == [("file", 23)]


def test_a_loop_can_stand_around_a_tool_result():
    """Behaviour 10.1: all segments of a message are one template."""
    text = TWO_CALLS + "\n@You:\n{% for i in range(2) %}n{{ i }}\n" + result("c1", "a")
    text += "{% endfor %}\n" + result("c2", "b")
    outcome = built(text)
    assert outcome.diagnostics == ()
    assert outcome.conversation.messages[-1].parts == (
        ToolResultPart("c1", (TextPart("a"),)),
        ToolResultPart("c2", (TextPart("b"),)),
        TextPart("n0"),
        TextPart("n1"),
    )


def test_a_result_that_a_template_leaves_out_counts_as_missing():
    text = TWO_CALLS + "\n@You:\n{% if false %}\n" + result("c1", "a")
    text += "{% endif %}\n" + result("c2", "b")
    outcome = built(text)
    assert [problem.type for problem in outcome.diagnostics] == ["tool_use"]
    assert outcome.conversation.messages[-1].parts[0] == ToolResultPart(
        "c1", (TextPart("No result provided"),), is_error=True
    )


def test_a_failing_statement_blocks_with_its_absolute_line_and_nothing_else():
    text = f"{TWO_CALLS}\n@You:\n{result('c1', 'a')}{result('c2', 'b')}\n{{% if %}}"
    outcome = built(text)
    assert outcome.is_blocked
    (problem,) = outcome.diagnostics
    assert (problem.type, problem.line, problem.role) == ("template", 26, "user")


def test_names_set_in_one_message_are_known_in_the_next_ones():
    text = "@System:\n{% set who = 'Ada' %}\n\n@You:\nI am {{ who }}\n"
    assert parts_of(text) == (TextPart("I am Ada"),)


def test_names_set_in_an_included_file_stay_there():
    """Acceptance 35, in both directions."""
    text = "@You:\n{% set x = 1 %}{{ include('a.md') }}|{{ y }}"
    outcome = built(text, {"/chats/a.md": b"{% set y = 2 %}{{ x is defined }}"})
    assert outcome.conversation.messages[0].parts == (TextPart("false|{{ y }}"),)


def test_system_text_and_text_files_are_joined_by_newlines():
    outcome = built("@System:\nRules @./r.md\n\n@You:\nx", {"/chats/r.md": b"one\ntwo\n"})
    assert outcome.conversation.system == "Rules \none\ntwo"


def test_an_image_in_the_system_prompt_is_left_out_with_a_warning():
    outcome = built("@System:\nLook @./p.png\n\n@You:\nx", {"/chats/p.png": b"PNG"})
    assert outcome.conversation.system == "Look"
    assert [problem.reference for problem in outcome.diagnostics] == ["p.png"]


def test_blank_lines_at_the_edges_go_and_inner_ones_stay():
    assert parts_of("@You:\n\n\n    code\n\n\n    more   \n\n") == (
        TextPart("    code\n\n\n    more"),
    )


def test_a_document_without_messages_says_why_there_is_nothing_to_send():
    """Behaviour 2.5."""
    assert built("").emptiness is Emptiness.BUFFER
    assert built("```json\n{}\n```\n").emptiness is Emptiness.MESSAGES
    assert built("@System:\nonly this\n").emptiness is Emptiness.MESSAGES
    assert built("@You:\n \n").emptiness is Emptiness.MESSAGES
    assert built("@You:\nhi").emptiness is None


def test_half_surrogate_pairs_are_replaced_everywhere():
    """B-14."""
    text = TWO_CALLS.replace('"ls"', '"ls \\ud83d"').replace("Sure.", "Su\udcffre.")
    outcome = built(text + "\n@You:\nx\ud800y\n\n" + result("c1", "cut \ud83d"))
    repr_of_all = "".join(map(repr, outcome.conversation.messages))
    repr_of_all.encode()
    assert "\\ud" not in repr_of_all
    assert TextPart("x\ufffdy") in outcome.conversation.messages[-1].parts


BLOCKS = st.sampled_from(
    [
        "@You:\n",
        "@Assistant:\n",
        "@System:\n",
        "text\n\n",
        MARKER + "\n\n",
        "{{ 1 + }} {% if %}\n",
        "@./nothing.png\n",
        '**Tool Use:** `bash` (`c1`)\n```json\n{"a": 1}\n```\n\n',
        '**Tool Use:** `read` (`c2`)\n```json\n{"a": \n```\n\n',
        "**Tool Use:** `read` (`c3`)\n```json\n{}\n```\n\n",
        result("c1", "one"),
        result("c1", "", " (pending)"),
        result("c2", "two"),
        result("c3", "{{ x }}"),
        "**Job Result:** `job_abcde`\n```\nout\n```\n",
        "<thinking>\nhm\n</thinking>\n",
    ]
)


@given(st.lists(BLOCKS, max_size=14))
def test_every_call_is_followed_at_once_by_exactly_one_result(blocks: list[str]):
    """B-01, B-02, B-06, B-07: whatever the file looks like."""
    messages = built("".join(blocks)).conversation.messages
    seen: list[str] = []
    for index, message in enumerate(messages):
        calls = [part.id for part in message.parts if isinstance(part, ToolUsePart)]
        seen.extend(calls)
        following = messages[index + 1].parts if calls else ()
        leading = [p.tool_use_id for p in following[: len(calls)] if isinstance(p, ToolResultPart)]
        assert leading == calls
    results = [p for message in messages for p in message.parts if isinstance(p, ToolResultPart)]
    assert len(set(seen)) == len(seen) == len(results)
    assert all(message.parts for message in messages)
    for one, two in itertools.pairwise(messages):
        assert (one.role, two.role) != (Role.USER, Role.USER)


@given(st.lists(BLOCKS, max_size=10))
def test_building_twice_gives_the_same_and_a_longer_chat_keeps_its_beginning(blocks: list[str]):
    text = "".join(blocks)
    first = built(text).conversation
    assert built(text).conversation == first
    longer = built(text + "\n@Assistant:\nmore\n\n@You:\nand more\n").conversation
    kept = first.messages[:-1] if first.messages else ()
    assert longer.messages[: len(kept)] == kept

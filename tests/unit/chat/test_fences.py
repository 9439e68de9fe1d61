"""Code fences (spec: behaviour 1.1, 1.3, 1.9)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.fences import bare_length, block_opener, fence_for, fenced, open_fence
from flemma.chat.nodes import ToolResult
from tests.unit.chat.samples import chat


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        (["```"], 3),
        (["```lua", "x", "```"], 0),
        (["````", "```"], 4),
        (["```x``` y"], 0),  # case 4
        ([" ```"], 0),
        (["``"], 0),
        (["~~~"], 0),
        (["```", "``` "], 0),
        (["```", "```x"], 3),
    ],
)
def test_open_fence(lines: list[str], length: int):
    assert open_fence(lines) == length


def test_block_fences_need_one_backtick_only():
    assert block_opener("`json") == (1, "json")
    assert block_opener("``` ") == (3, "")
    assert block_opener("```json x") is None
    assert bare_length("`` ") == 2


@pytest.mark.parametrize(("content", "length"), [("", 3), ("a `` b", 3), ("```", 4), ("`````", 6)])
def test_a_new_fence_is_longer_than_any_run_inside(content: str, length: int):
    assert fence_for(content) == "`" * length


@given(st.text(alphabet="`a\n @:"))
def test_any_content_survives_its_fence(content: str):
    lines = fenced(content)
    document = chat("@You:", "**Tool Result:** `t`", *lines, "", "@Assistant:")
    [result, *_] = document.messages[0].segments
    assert isinstance(result, ToolResult)
    assert result.content == content
    assert len(document.messages) == 2

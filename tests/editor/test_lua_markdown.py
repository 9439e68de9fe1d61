"""Colours of markdown cost neither a moved cursor nor a long chat (cases V-08, V-09)."""

from collections.abc import Callable

import pytest

from tests.editor.lua_shim import Shim
from tests.support.nvim import Editor

IS_COLOURED = "return vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil"
PARSED_BY_A_MOVE = """
local tree = require("vim.treesitter.languagetree")
local parse, count = tree.parse, 0
tree.parse = function(...)
  count = count + 1
  return parse(...)
end
local last = vim.api.nvim_buf_line_count(0)
vim.api.nvim_buf_set_lines(0, last, last, true, { "one more" })
vim.api.nvim_win_set_cursor(0, { last + 1, 0 })
tree.parse = parse
return count
"""


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    return Shim(start_editor)


def test_markdown_is_coloured_and_code_is_not_taken_for_it(shim: Shim) -> None:
    shim.open("@You:\n# A heading\n\n```\n# no heading\n```\n")
    shim.editor.wait_until(lambda: captures(shim.editor, 1) != [])
    assert "markup.heading.1" in captures(shim.editor, 1)
    assert "markup.heading.1" not in captures(shim.editor, 4)


def captures(editor: Editor, row: int) -> list[str]:
    found = editor.exec_lua("return vim.treesitter.get_captures_at_pos(0, ..., 2)", row)
    return [each["capture"] for each in found]


def test_moving_the_cursor_in_a_changed_chat_parses_nothing(shim: Shim) -> None:
    shim.open("@You:\n" + "some text\n\n```\ncode\n```\n" * 200)
    assert shim.editor.exec_lua(IS_COLOURED)
    assert shim.editor.option("filetype") == "chat"
    assert shim.editor.exec_lua("return vim.wo.conceallevel") == 2
    assert shim.editor.exec_lua(PARSED_BY_A_MOVE) == 0


def test_a_long_chat_is_plain_from_the_start(shim: Shim) -> None:
    shim.open("@You:\n" + "a line\n" * 4000)
    assert not shim.editor.exec_lua(IS_COLOURED)


def test_a_chat_that_grows_long_becomes_plain(shim: Shim) -> None:
    shim.open("@You:\nGo.\n")
    assert shim.editor.exec_lua(IS_COLOURED)
    shim.apply(["append", 1, "\n" + "words of an answer\n" * 1000])
    assert shim.editor.exec_lua(IS_COLOURED)
    shim.apply(["append", 1, "word " * 100_000])
    assert not shim.editor.exec_lua(IS_COLOURED)

"""Frontmatter languages of users, and hostile blocks, in a real Neovim."""

import pytest

from tests.editor.chats import StartChat
from tests.editor.settings_support import (
    DONE,
    ask,
    problems,
    sent_tools,
    wait_problems,
    with_block,
)
from tests.support.anthropic_server import message, pause, text

WORDS = """
require("flemma.frontmatter").register("words", {
  parse = function(code, context)
    local found = { flemma = { tools = {} }, folder = context.__dirname }
    for name, value in code:gmatch("(%w+) (%w+)") do
      if name == "tool" then
        table.insert(found.flemma.tools, value)
      elseif name == "fail" then
        error("no " .. value, 0)
      else
        found[name] = value
      end
    end
    return found
  end,
})
"""


def test_a_language_written_in_lua_gives_variables_and_settings(start_chat: StartChat):
    block = with_block("who you\ntool read\ntool ls", "words", prompt="{{ who }} in {{ folder }}")
    chat = start_chat([DONE], text=block, lua=WORDS)
    ask(chat)
    assert sent_tools(chat) == ["ls", "read"]
    assert f"you in {chat.path.parent}" in chat.history()


def test_what_a_language_raises_is_a_diagnostic_and_refuses_the_send(start_chat: StartChat):
    chat = start_chat([], text=with_block("fail luck", "words"), lua=WORDS)
    wait_problems(chat, (1, "no luck"))
    chat.send()
    chat.wait_until(lambda: any("frontmatter: no luck" in text for text in chat.told))
    assert chat.server.requests == []


def test_a_language_may_be_registered_after_the_file_was_opened(start_chat: StartChat):
    chat = start_chat([], text=with_block("tool bsah", "words"))
    wait_problems(chat, (1, "Unsupported frontmatter language: words"))
    chat.editor.exec_lua(WORDS)
    wait_problems(chat, (1, "Unknown tool 'bsah' -- did you mean 'bash'?"))
    chat.editor.exec_lua('require("flemma.frontmatter").unregister("words")')
    wait_problems(chat, (1, "Unsupported frontmatter language: words"))


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ("while true do end", "took too long"),
        ("local s = 'x' while true do s = s .. s end", "not enough memory"),
        ("getmetatable('').__index = nil\nos.exit(1)", ""),
        ("-- " + "x" * (1 << 20), "too large"),
        ("setmetatable(_G, { __index = function() while true do end end })\nx = y", ""),
    ],
)
def test_a_hostile_block_ends_in_a_diagnostic(start_chat: StartChat, block: str, part: str):
    chat = start_chat([], text=with_block(block))
    chat.wait_until(lambda: bool(problems(chat)), message="a diagnostic")
    assert part in problems(chat)[0].text
    chat.send()
    chat.wait_until(lambda: any("Request blocked" in text for text in chat.told))


def test_a_hostile_block_in_one_chat_does_not_end_the_answer_in_another(start_chat: StartChat):
    pieces = [piece for word in range(20) for piece in (text(f"word{word} "), pause(0.02))]
    chat = start_chat([message(*pieces)])
    chat.editor.wait_for_host()
    chat.send()
    chat.wait_for("word1 ")
    other = chat.editor.directory / "other.chat"
    other.write_text(with_block("while true do end"))
    chat.editor.command(f"split {other}")
    chat.wait_until(lambda: bool(chat.editor.exec_lua("return vim.diagnostic.get(0)")))
    chat.wait_answered()
    assert "word19" in chat.text

"""The frontmatter of a chat in a real Neovim (spec: behaviour 1.2, 2.5; tools, "Per-buffer …")."""

import pytest

from tests.editor.chats import StartChat
from tests.editor.settings_support import (
    DONE,
    ask,
    body,
    problems,
    put_block,
    sent_tools,
    wait_problems,
    with_block,
)

BLOCKED = "Request blocked — fix errors to send."
UNKNOWN = "unknown key 'thinkin' -- did you mean 'thinking'?"


def test_a_mistake_is_a_diagnostic_on_its_line_as_soon_as_the_file_is_open(start_chat: StartChat):
    chat = start_chat([], text=with_block("flemma.opt.thinking = false\nflemma.opt.thinkin = 1"))
    wait_problems(chat, (3, UNKNOWN))


def test_a_mistake_shows_on_leaving_insert_mode_and_goes_when_it_is_mended(start_chat: StartChat):
    chat = start_chat([], text=with_block("flemma.opt.thinking = 'low'"))
    chat.editor.wait_for_host()
    chat.editor.set_cursor(2)
    chat.keys("ccflemma.opt.thinkin = 'low'")
    chat.wait_until(lambda: "thinkin =" in chat.text)
    assert problems(chat) == []
    chat.keys("<Esc>")
    wait_problems(chat, (2, UNKNOWN))
    chat.keys("ccflemma.opt.thinking = 'low'<Esc>")
    wait_problems(chat)


def test_a_mistake_shows_after_a_change_in_normal_mode(start_chat: StartChat):
    chat = start_chat([], text=with_block("flemma.opt.thinking = 'low'"))
    chat.editor.wait_for_host()
    chat.editor.set_cursor(2)
    chat.keys(":s/thinking/thinkin/<CR>")
    wait_problems(chat, (2, UNKNOWN))
    chat.keys("u")
    wait_problems(chat)
    put_block(chat, "flemma.opt.thinking =")
    chat.wait_until(lambda: bool(problems(chat)))
    put_block(chat, "")
    wait_problems(chat)


def test_the_last_good_settings_hold_while_the_block_is_broken(start_chat: StartChat):
    chat = start_chat([], text=with_block("flemma.opt.tools.autopilot.max_turns = 7"))
    chat.editor.wait_for_host()
    put_block(chat, "flemma.opt.tools.autopilot.max_turns = 9\nnonsense(")
    chat.wait_until(lambda: [problem.line for problem in problems(chat)] == [3])
    chat.editor.command("Flemma autopilot:status")
    chat.wait_until(lambda: "  turns: 0 of 7" in chat.editor.text())


def test_a_send_with_a_broken_block_is_refused_with_the_reason(start_chat: StartChat):
    written = with_block("flemma.opt.temperature = 'hot'")
    chat = start_chat([DONE], text=written)
    chat.send()
    reason = (
        "frontmatter: write error at 'parameters.temperature': expected number or nil, got string"
    )
    chat.wait_notified(f"\n⊘ {reason}\n  work.chat:2\n\n{BLOCKED}")
    chat.editor.command("Flemma send")
    chat.wait_until(lambda: len([text for text in chat.told if BLOCKED in text]) == 2)
    assert chat.server.requests == []
    assert chat.text == written.rstrip("\n")  # Case L-04.
    assert chat.editor.option("modifiable", chat.buffer)
    put_block(chat, "flemma.opt.temperature = 0.5")
    ask(chat)
    assert body(chat)["temperature"] == 0.5


def test_a_direct_send_evaluates_the_block_as_it_stands(start_chat: StartChat):
    chat = start_chat([DONE], text=with_block("flemma.opt.max_tokens = 5000"))
    chat.editor.wait_for_host()
    chat.editor.exec_lua(
        """vim.api.nvim_buf_set_lines(0, 1, 2, true, { "flemma.opt.max_tokens = 6000" })
           vim.cmd("Flemma send")"""
    )
    chat.wait_answered()
    assert body(chat)["max_tokens"] == 6000


def test_warnings_do_not_block_a_send(start_chat: StartChat):
    # Acceptance 7.
    chat = start_chat([DONE], text=with_block("[1, 2]", "json"))
    chat.wait_until(lambda: problems(chat) == [(1, 2, "Frontmatter must be an object, got array")])
    ask(chat)
    chat.wait_notified("\n⚠ frontmatter: Frontmatter must be an object, got array\n  work.chat:1")


def test_an_unknown_language_is_an_error(start_chat: StartChat):
    chat = start_chat([], text=with_block("a: 1", "toml"))
    wait_problems(chat, (1, "Unsupported frontmatter language: toml"))


@pytest.mark.parametrize(
    ("language", "block"),
    [
        ("lua", 'flemma.opt.tools = { "read", "ls" }\nflemma.opt.max_tokens = 4321\nwho = "you"'),
        ("yaml", "who: you\nflemma:\n  tools: [read, ls]\n  max_tokens: 4321"),
        ("json", '{"who": "you", "flemma": {"tools": ["read", "ls"], "max_tokens": 4321}}'),
    ],
)
def test_all_languages_choose_tools_parameters_and_variables(
    start_chat: StartChat, language: str, block: str
):
    chat = start_chat([DONE], text=with_block(block, language, prompt="I am {{ who }}."))
    request = ask(chat)
    assert sent_tools(chat) == ["ls", "read"]
    assert request["max_tokens"] == 4321
    assert "I am you." in chat.history()

"""Keys mean what was on the screen when they were pressed (case A-14)."""

import pytest

from tests.editor.chats import DONE, Chat, StartChat, bash, start_pending, waiting_result
from tests.support.anthropic_server import message

TWO = message(bash("toolu_1", "touch ran1"), bash("toolu_2", "touch ran2"))

PRESS_THEN_CHANGE = """
local keys, find, replacement, count = ...
vim.api.nvim_feedkeys(vim.keycode(keys), "x", false)
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
for number, line in ipairs(lines) do
  if line == find then
    vim.api.nvim_buf_set_lines(0, number - 1, number - 1 + count, true, replacement)
    return
  end
end
error("no such line")
"""
"""The host hears of the key and of the change in one go, and looks at the changed text."""


def press_then_change(chat: Chat, keys: str, find: str, replacement: list[str], count: int) -> None:
    chat.editor.exec_lua(PRESS_THEN_CHANGE, keys, find, replacement, count)


def settled(chat: Chat) -> None:
    """Wait until what the key asked for is done: the host answers in order."""
    chat.keys(":Flemma nonesuch<CR>")
    chat.wait_until(lambda: any("Unknown command 'nonesuch'" in told for told in chat.told))


@pytest.mark.parametrize("key", ["<M-a>", "<M-CR>", ":Flemma tool:approve<CR>"])
def test_a_call_that_moved_under_the_cursor_after_the_key_is_not_meant(
    start_chat: StartChat, key: str
):
    chat = start_pending(start_chat, reply=TWO)
    chat.wait_for("`toolu_2` (pending)")
    chat.put_cursor(waiting_result("toolu_1", "pending"))
    press_then_change(chat, key, waiting_result("toolu_1", "pending"), [], 4)
    settled(chat)
    assert waiting_result("toolu_2", "pending") in chat.text
    assert not (chat.editor.directory / "ran2").exists()


def test_approving_all_means_those_that_waited_then(start_chat: StartChat):
    chat = start_pending(start_chat, DONE, reply=TWO)
    chat.wait_for("`toolu_2` (pending)")
    chat.put_cursor(waiting_result("toolu_2", "pending"))
    chat.keys(":Flemma tool:reject<CR>")
    chat.wait_for(waiting_result("toolu_2", "rejected"))
    later = [waiting_result("toolu_2", "pending")]
    press_then_change(chat, "<M-A>", waiting_result("toolu_2", "rejected"), later, 1)
    chat.wait_for(waiting_result("toolu_1", "approved"))
    assert waiting_result("toolu_2", "pending") in chat.text


def test_a_key_before_the_host_is_ready_means_the_chat_as_it_is_then(start_chat: StartChat):
    use = '**Tool Use:** `bash` (`toolu_1`)\n```json\n{"command": "touch ran1"}\n```\n'
    header = waiting_result("toolu_1", "pending")
    chat = start_chat([], text=f"@You:\nGo.\n\n@Assistant:\n{use}\n@You:\n\n{header}\n```\n```\n")
    chat.put_cursor(header)
    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_1", "approved"))

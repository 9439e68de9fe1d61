"""Work goes on whatever the user does with windows and buffers (cases V-04, V-15 to V-17, A-13)."""

import pytest

from tests.editor.chats import DONE, Chat, StartChat, bash, start_pending, waiting_result
from tests.support.anthropic_server import Reply, message, text
from tests.support.wait import wait_until

ANSWER = "".join(f"line {number}\n" for number in range(30))
ANSWERED = "line 29\n\n@You:\n"


def slow(delay: float = 0.015) -> Reply:
    """An answer in small pieces, over about a second."""
    return message(text(ANSWER.rstrip(), size=4), delay=delay)


def errors(chat: Chat) -> str:
    """What Neovim reported as an error."""
    return "\n".join(line for line in chat.editor.messages().split("\n") if "E" in line[:2])


LEAVING = {
    "another buffer": ":enew<CR>",
    "another tab": ":tabnew<CR>",
    "two windows, one closed": ":vsplit<CR><C-w>c",
    "only another window": ":new<CR><C-w>o",
    "hidden": ":new<CR><C-w>p:hide<CR>",
    "closed": ":new<CR><C-w>p:close<CR>",
    "escape and q": "<Esc>q",
}


@pytest.mark.parametrize("keys", LEAVING.values(), ids=LEAVING.keys())
def test_an_answer_arrives_whole_in_a_chat_that_was_left(start_chat: StartChat, keys: str):
    # V-04, V-15.
    chat = start_chat([slow()])
    chat.editor.command("set hidden")
    chat.send()
    chat.wait_for("line 3\n")
    chat.keys(keys)
    if keys.endswith("q"):
        chat.keys("a")
    chat.wait_answered(ANSWERED)
    assert chat.text == f"@You:\nGo.\n\n@Assistant:\n{ANSWER}\n@You:\n"
    assert chat.told == []
    assert errors(chat) == ""


def test_an_answer_grows_while_the_user_works_in_another_window(start_chat: StartChat):
    # V-17, V-05: what is looked at stays, what grows is seen growing.
    chat = start_chat([slow()])
    chat.editor.command("new other.txt")
    chat.editor.command("wincmd p")
    chat.send()
    chat.editor.command("wincmd p")
    chat.wait_for("line 3\n")
    chat.keys("iI write meanwhile.")
    chat.wait_until(lambda: any("line 9" in row for row in chat.editor.screen_lines()))
    assert chat.editor.mode()["mode"] == "i"
    chat.wait_answered(ANSWERED)
    assert chat.editor.mode()["mode"] == "i"
    assert chat.editor.lines() == ["I write meanwhile."]
    assert chat.editor.cursor() == (1, len("I write meanwhile."))


def test_a_wiped_chat_ends_its_request_and_touches_no_other_buffer(start_chat: StartChat):
    # V-16.
    chat = start_chat([slow()])
    chat.editor.open(chat.editor.directory / "other.txt")
    chat.keys("ikept<Esc>")
    chat.editor.command(f"buffer {chat.buffer}")
    chat.send()
    chat.wait_for("line 3\n")
    chat.keys(":bwipeout!<CR>")
    chat.wait_until(lambda: chat.server.disconnects == 1)
    assert chat.editor.lines() == ["kept"]
    # Whether the word comes depends on what ends first, the buffer or the request.
    assert set(chat.told) <= {"Request cancelled"}
    assert errors(chat) == ""
    assert "Internal error" not in chat.editor.messages()


def test_a_chat_that_is_unloaded_and_opened_again_goes_on(start_chat: StartChat):
    # V-15, L-02.
    chat = start_chat([slow(), DONE])
    chat.editor.command("set hidden")
    chat.send()
    chat.wait_for("line 3\n")
    chat.keys(":bdelete!<CR>")
    chat.editor.open(chat.path)
    chat.buffer = chat.editor.call("bufnr")
    chat.wait_until(lambda: chat.text.startswith("@You:\nGo."))
    chat.wait_unlocked()
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    assert errors(chat) == ""


def test_a_call_that_needs_approval_takes_no_focus_and_stops_no_typing(start_chat: StartChat):
    #
    chat = start_chat(
        [
            message(
                text("I run it."),
                bash("toolu_1", "true"),
            ),
            DONE,
        ]
    )
    chat.editor.command("new other.txt")
    other = chat.editor.call("win_getid")
    chat.editor.command("wincmd p")
    chat.send()
    chat.editor.command("wincmd p")
    chat.keys("iI type")
    chat.wait_for(waiting_result("toolu_1", "pending"))
    chat.keys(" on")
    chat.wait_until(lambda: chat.shown("⏸ Pending"))
    assert chat.editor.call("win_getid") == other
    assert chat.editor.mode()["mode"] == "i"
    assert chat.editor.lines() == ["I type on"]
    assert len(chat.editor.request("nvim_list_wins")) == 2 + floats(chat)


def floats(chat: Chat) -> int:
    """Windows that only show something, such as the usage bar."""
    wins = chat.editor.request("nvim_list_wins")
    return sum(bool(chat.editor.request("nvim_win_get_config", win)["relative"]) for win in wins)


def test_a_waiting_call_and_a_draft_survive_leaving_and_coming_back(start_chat: StartChat):
    # L-03, A-12: the buffer is the state.
    chat = start_pending(start_chat)
    chat.editor.command("set hidden")
    chat.keys("Gomy draft<Esc>")
    before = chat.text
    chat.keys(":enew<CR>:tabnew<CR>:tabclose<CR>")
    chat.editor.command(f"buffer {chat.buffer}")
    assert chat.text == before
    chat.put_cursor("**Tool Result:**")
    chat.keys("<M-CR>")
    chat.wait_for("Done.")
    assert "my draft" in chat.history()


HOLD_THE_TEXT_LOCK = """
vim.keymap.set("i", "<F2>", function()
  _G.held = true
  vim.wait(8000, function() return _G.refused end, 20)
  _G.held = false
  return ""
end, { expr = true })
local rpc = require("flemma.rpc")
local handle = rpc.handle
rpc.handle = function(method, payload)
  local answer = handle(method, payload)
  if method == "apply" and _G.held and answer.busy then
    _G.refused = true
  end
  return answer
end
"""


def hold_the_text_lock(chat: Chat) -> None:
    """Let an expression mapping run until something was refused."""
    chat.keys("i")
    chat.editor.keys_without_answer("<F2>")
    wait_until(lambda: not chat.editor.mode()["blocking"])
    wait_until(lambda: chat.editor.exec_lua("return _G.held ~= nil"))


def test_an_answer_waits_while_the_editor_cannot_change_text(start_chat: StartChat):
    # V-06: an expression mapping runs in the middle of the answer, and folds cannot be made.
    chat = start_chat([slow(0.05)])
    chat.editor.exec_lua(HOLD_THE_TEXT_LOCK)
    chat.send()
    chat.wait_for("line 3\n")
    chat.keys(":new<CR>")
    hold_the_text_lock(chat)
    chat.wait_answered(ANSWERED)
    assert chat.editor.exec_lua("return _G.refused") is True
    assert chat.text == f"@You:\nGo.\n\n@Assistant:\n{ANSWER}\n@You:\n"
    assert chat.told == []
    assert errors(chat) == ""


def test_marks_and_folds_wait_while_the_editor_cannot_change_windows(start_chat: StartChat):
    # V-06: new options draw everything anew; that is refused, and made up for in silence.
    chat = start_chat([], text="@You:\nGo.\n\n@Assistant:\nYes.\n\n@You:\n")
    chat.editor.wait_for_host()
    chat.wait_until(lambda: chat.editor.call("foldlevel", 2) == 1)
    chat.editor.exec_lua(HOLD_THE_TEXT_LOCK.replace('"apply"', '"view"'))
    hold_the_text_lock(chat)
    chat.editor.exec_lua(
        'require("flemma").setup({ provider = "demo", ruler = { enabled = false } })'
    )
    chat.wait_until(lambda: chat.editor.exec_lua("return not _G.held"))
    chat.editor.keys("<Esc>")
    chat.wait_until(lambda: not any("───" in row for row in chat.editor.screen_lines()))
    chat.wait_until(lambda: chat.editor.call("foldlevel", 2) == 1)
    assert chat.told == []
    assert errors(chat) == ""

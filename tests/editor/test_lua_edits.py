"""Edits, the lock and the cursor, with the test in the host's place."""

from collections.abc import Callable

import pytest

from tests.editor.lua_shim import Shim
from tests.support.nvim import Editor

ALL_OPTIONS = """
local all = {}
for name, info in pairs(vim.api.nvim_get_all_options_info()) do
  local scopes = { win = { win = ... }, buf = { buf = vim.api.nvim_win_get_buf(...) } }
  local ok, value = pcall(vim.api.nvim_get_option_value, name, scopes[info.scope] or {})
  if ok then all[name] = value end
end
return all
"""


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    return Shim(start_editor)


def test_edits_are_applied_bottom_up(shim: Shim) -> None:
    shim.open("a\nb\nc\n")
    answer = shim.apply(
        ["replace", 0, 1, ["A", "AA"]], ["replace", 2, 3, []], ["append", 1, "!\nmore"]
    )
    assert answer == {"ok": True, "tick": shim.tick()}
    assert shim.editor.lines() == ["A", "AA", "b!", "more"]


def test_two_insertions_at_one_place_keep_their_order(shim: Shim) -> None:
    shim.open("a\n")
    shim.apply(["replace", 1, 1, ["1"]], ["replace", 1, 1, ["2"]])
    assert shim.editor.lines() == ["a", "1", "2"]


def test_edits_for_another_tick_are_refused(shim: Shim) -> None:
    shim.open("a\n")
    answer = shim.apply(["append", 0, "b"], tick=shim.tick() - 1)
    assert answer == {"ok": False, "tick": shim.tick()}
    assert shim.editor.lines() == ["a"]


def test_a_wiped_buffer_is_gone(shim: Shim) -> None:
    # Case V-16.
    number = shim.open("a\n")
    shim.editor.command("bwipeout!")
    answer = shim.tell("apply", {"bufnr": number, "tick": 1, "edits": [], "undo_group": None})
    assert answer["ok"] is False
    assert answer["gone"] is True


def test_writes_during_a_text_lock_are_answered_as_busy(shim: Shim) -> None:
    # Case V-06: an expression mapping holds the text lock.
    shim.open("a\n")
    shim.editor.exec_lua(
        """
        vim.keymap.set("i", "<F2>", function()
          _G.answer = require("flemma.rpc").handle("apply", {
            bufnr = 1, tick = vim.api.nvim_buf_get_changedtick(1), edits = { { "append", 0, "x" } },
          })
          return ""
        end, { expr = true })
        """
    )
    shim.editor.keys("i<F2><Esc>")
    answer = shim.editor.exec_lua("return _G.answer")
    assert (answer["ok"], answer["busy"]) == (False, True)
    assert shim.editor.option("modifiable") is True
    assert shim.apply(["append", 0, "b"])["ok"] is True


def test_writes_reach_the_chat_from_the_command_line_window(shim: Shim) -> None:
    # Case V-06.
    number = shim.open("a\n")
    shim.editor.keys("q:")
    answer = shim.apply(["append", 0, "b"])
    shim.editor.keys(":q<CR>")
    assert answer["ok"] is True
    assert shim.editor.lines(number) == ["ab"]


def test_a_locked_buffer_takes_our_edits_and_refuses_the_users(shim: Shim) -> None:
    shim.open("a\n")
    shim.tell("lock", {"bufnr": shim.buffer, "locked": True})
    assert shim.apply(["append", 0, "b"])["ok"] is True
    assert shim.editor.option("modifiable") is False
    shim.editor.keys("x")
    assert shim.editor.lines() == ["ab"]
    shim.tell("lock", {"bufnr": shim.buffer, "locked": False})
    shim.editor.keys("x")
    assert shim.editor.lines() == ["b"]


def test_a_response_is_one_undo_step_and_a_result_another(shim: Shim) -> None:
    # Case V-02.
    shim.open("mine\n")
    shim.editor.keys("Aown<Esc>")
    for part in ("one ", "two ", "three"):
        shim.apply(["append", 0, part], group="response")
    shim.apply(["replace", 1, 1, ["result"]], group="result")
    shim.editor.keys("u")
    assert shim.editor.lines() == ["mineownone two three"]
    shim.editor.keys("u")
    assert shim.editor.lines() == ["mineown"]
    shim.editor.keys("<C-r><C-r>")
    assert shim.editor.lines() == ["mineownone two three", "result"]


def test_undo_during_a_stream_is_safe(shim: Shim) -> None:
    # Case V-02.
    shim.open("a\n")
    shim.apply(["append", 0, "1"], group="g")
    shim.editor.keys("u")
    assert shim.apply(["append", 0, "2"], group="g")["ok"] is True
    assert shim.editor.lines() == ["a2"]
    shim.editor.keys("u")
    assert shim.editor.lines() == ["a"]
    assert "E790" not in shim.editor.messages()


def test_a_hidden_buffer_is_written_too(shim: Shim) -> None:
    # Cases V-04, V-15.
    number = shim.open("a\n")
    shim.editor.command("set hidden | enew")
    for part in ("b", "c"):
        assert shim.apply(["append", 0, part], group="g")["ok"] is True
    assert shim.editor.lines(number) == ["abc"]
    shim.editor.command(f"buffer {number}")
    shim.editor.keys("u")
    assert shim.editor.lines() == ["a"]


def test_no_option_of_another_window_changes(shim: Shim) -> None:
    # Case V-01.
    editor = shim.editor
    editor.command("set hidden undolevels=77")
    editor.open(editor.directory / "other.txt")
    other = editor.request("nvim_get_current_win")
    editor.command("vsplit")
    before = editor.exec_lua(ALL_OPTIONS, other)
    shim.open("@You:\na\n")
    shim.tell("lock", {"bufnr": shim.buffer, "locked": True})
    shim.apply(["append", 1, "b"], group="g")
    shim.tell("lock", {"bufnr": shim.buffer, "locked": False})
    shim.editor.keys("<C-w>p")
    assert editor.exec_lua(ALL_OPTIONS, other) == before


def test_the_window_shows_another_buffer_as_before(shim: Shim) -> None:
    # Case V-01: options of the chat do not stay with the window.
    editor = shim.editor
    editor.command("set hidden")
    editor.open(editor.directory / "other.txt")
    window = editor.request("nvim_get_current_win")
    before = editor.exec_lua(ALL_OPTIONS, window)
    shim.open("@You:\na\n")
    editor.open(editor.directory / "other.txt")
    after = editor.exec_lua(ALL_OPTIONS, window)
    assert {name: after[name] for name in after if after[name] != before[name]} == {}


def test_only_windows_at_the_end_follow_growing_text(shim: Shim) -> None:
    # Case V-05.
    editor = shim.editor
    shim.open("".join(f"line {n}\n" for n in range(60)))
    reading = editor.request("nvim_get_current_win")
    editor.set_cursor(5)
    editor.command("split")
    following = editor.request("nvim_get_current_win")
    editor.set_cursor(60)
    top = editor.call("line", "w0", reading)
    for n in range(30):
        shim.apply(["append", 59 + n, f"\nmore {n}"], group="g")
    assert editor.request("nvim_win_get_cursor", following)[0] == 90
    assert editor.request("nvim_win_get_cursor", reading)[0] == 5
    assert editor.call("line", "w0", reading) == top


def test_a_forced_move_is_at_once(shim: Shim) -> None:
    shim.open("a\nb\nc\n")
    shim.tell("cursor", {"bufnr": shim.buffer, "line": 2, "force": True})
    assert shim.editor.cursor()[0] == 3
    shim.tell("cursor", {"bufnr": shim.buffer, "line": 99, "force": True})
    assert shim.editor.cursor()[0] == 3


def test_another_move_waits_until_the_user_is_still_and_follows_its_target(shim: Shim) -> None:
    editor = shim.editor
    shim.open("a\nb\nc\n")
    editor.set_cursor(3)
    shim.tell("cursor", {"bufnr": shim.buffer, "line": 1, "force": False})
    assert editor.cursor()[0] == 3
    shim.apply(["replace", 0, 0, ["new", "new"]])
    editor.wait_until(lambda: editor.cursor()[0] == 4)


def test_a_user_who_moved_away_is_not_moved(shim: Shim) -> None:
    # Case V-05.
    editor = shim.editor
    shim.open("a\nb\nc\nd\n")
    editor.set_cursor(2)
    shim.tell("cursor", {"bufnr": shim.buffer, "line": 3, "force": False})
    shim.tell("cursor", {"bufnr": shim.buffer, "line": 0, "force": False})
    assert (
        editor.exec_lua(
            "vim.wait(400, function() return vim.api.nvim_win_get_cursor(0)[1] ~= 2 end) "
            "return vim.api.nvim_win_get_cursor(0)[1]"
        )
        == 2
    )


def test_no_move_while_the_user_types(shim: Shim) -> None:
    editor = shim.editor
    shim.open("a\nb\n")
    editor.set_cursor(2)
    editor.keys("A")
    shim.tell("cursor", {"bufnr": shim.buffer, "line": 0, "force": False})
    editor.keys("x")
    assert (
        editor.exec_lua(
            "vim.wait(300, function() return vim.api.nvim_win_get_cursor(0)[1] ~= 2 end) "
            "return vim.api.nvim_win_get_cursor(0)[1]"
        )
        == 2
    )
    editor.keys("<Esc>")
    editor.wait_until(lambda: editor.cursor()[0] == 1)


def test_a_loaded_file_is_read_replaced_and_saved(shim: Shim) -> None:
    editor = shim.editor
    path = editor.directory / "code.py"
    path.write_text("a\nb\n")
    editor.open(path)
    found = shim.tell("buffer:read", {"path": str(path)})
    assert (found["lines"], found["modified"], found["final_newline"]) == (["a", "b"], False, True)
    payload = {
        "path": str(path),
        "revision": found["tick"],
        "first": 1,
        "last": 2,
        "lines": ["B"],
        "final_newline": True,
    }
    assert shim.tell("buffer:replace", payload)["ok"] is True
    answer = shim.tell("buffer:replace", payload)
    assert (answer["ok"], answer["changed"]) == (False, True)
    assert shim.tell("buffer:save", {"path": str(path)}) == {"ok": True}
    assert path.read_text() == "a\nB\n"
    assert shim.tell("buffer:read", {"path": str(path.with_name("none"))}) is None


def test_a_file_changed_by_another_program_is_not_overwritten(shim: Shim) -> None:
    path = shim.editor.directory / "talk.chat"
    shim.open("a\n")
    path.write_text("somebody else's words\n")
    shim.apply(["append", 0, "b"])
    answer = shim.tell("save", {"bufnr": shim.buffer})
    assert answer["ok"] is False
    assert "changed on disk" in answer["error"]
    assert path.read_text() == "somebody else's words\n"


def test_an_unmodified_buffer_is_read_again(shim: Shim) -> None:
    path = shim.editor.directory / "code.py"
    path.write_text("a\n")
    shim.open("@You:\n")
    shim.editor.open(path)
    path.write_text("a\nlonger\n")
    assert shim.tell("buffer:reload", {"path": str(path)}) == {"ok": True}
    assert shim.editor.lines() == ["a", "longer"]

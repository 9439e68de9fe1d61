"""What is drawn waits while the user types or selects, or the editor is held (V-05, V-06)."""

from collections.abc import Callable

import pytest

from tests.editor.lua_shim import Shim, fold, message
from tests.support.nvim import Editor

TALK = "@You:\nhi\n\n@Assistant:\nyes\n"


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    shim = Shim(start_editor)
    shim.open(TALK)
    draw(shim)
    return shim


def draw(shim: Shim, **more: object) -> None:
    """Draw both messages, the second closed."""
    answer = shim.view(
        message(1, 0, 3, folds=[fold("first", 0, 2)]),
        message(2, 3, 2, "assistant", folds=[fold("second", 0, 1, close=True)]),
        **more,
    )
    assert answer == {"ok": True}


def folded(shim: Shim) -> list[int]:
    """Return the level of the fold at each line."""
    return [shim.editor.call("foldlevel", line) for line in range(1, 6)]


@pytest.mark.parametrize(("keys", "mode"), [("i", "i"), ("V", "V"), ("v", "v")])
def test_a_whole_new_view_disturbs_neither_typing_nor_a_selection(
    shim: Shim, keys: str, mode: str
) -> None:
    assert folded(shim) == [1, 1, 1, 1, 1]
    shim.editor.keys(f"gg{keys}")
    draw(shim, reset=True)
    assert shim.editor.mode()["mode"] == mode
    shim.editor.keys("<Esc>")
    shim.editor.wait_until(lambda: folded(shim) == [1, 1, 1, 1, 1])
    shim.editor.wait_until(lambda: shim.editor.call("foldclosed", 5) == 4)


HELD = """
vim.keymap.set("i", "<F2>", function()
  _G.held = true
  vim.wait(8000, function() return _G.go_on end, 5)
  return ""
end, { expr = true })
"""


def test_a_bar_waits_while_the_editor_cannot_change_windows(shim: Shim) -> None:
    # Case V-06: timers draw it, so that nobody is there to try again.
    bar = {
        "name": "usage",
        "position": "bottom left",
        "segments": [{"items": [{"text": "words of the bar", "priority": 1}]}],
    }
    shim.editor.exec_lua(HELD)
    progress = {"bufnr": shim.buffer, "phase": "streaming", "characters": 5}
    shim.tell("progress", progress)
    shim.editor.keys("i")
    shim.editor.keys_without_answer("<F2>")
    shim.editor.wait_until(lambda: shim.editor.exec_lua("return _G.held == true"))
    for characters in range(6, 30):
        shim.tell("progress", {**progress, "characters": characters})
        shim.editor.exec_lua("vim.wait(10)")
    shim.tell("progress", {"bufnr": shim.buffer})
    shim.tell("bar", {"bufnr": shim.buffer, **bar})
    shim.editor.exec_lua("_G.go_on = true")
    shim.editor.keys("<Esc>")
    shim.editor.wait_until(lambda: any("words of" in row for row in shim.editor.screen_lines()))
    assert not any("characters" in row for row in shim.editor.screen_lines())
    assert shim.editor.messages() == ""
    assert shim.editor.notifications() == []

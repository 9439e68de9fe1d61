"""Folds wait while the user types or selects, and come when he is done (cases V-05, V-12)."""

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

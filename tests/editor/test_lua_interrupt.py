"""Ctrl-C reaches the host also when it comes while Neovim is at work (cases S-07, V-06)."""

from collections.abc import Callable

import pytest

from tests.editor.lua_shim import Shim
from tests.support.nvim import Editor

# What is typed while Lua runs finds Neovim at work, as with a piece of an answer being applied.
AT_WORK = 'vim.api.nvim_input("<C-c>")'


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    return Shim(start_editor)


def commands(shim: Shim) -> list[str]:
    return [payload["name"] for payload in shim.sent("command")]


def test_ctrl_c_cancels_while_the_editor_is_at_work(shim: Shim) -> None:
    shim.open("@You:\nGo.\n")
    shim.editor.exec_lua(AT_WORK)
    shim.editor.wait_until(lambda: commands(shim) == ["cancel"])


def test_ctrl_c_cancels_once_while_the_editor_waits_for_keys(shim: Shim) -> None:
    shim.open("@You:\nGo.\n")
    shim.editor.keys("<C-c>")
    shim.editor.wait_until(lambda: commands(shim) == ["cancel"])
    shim.editor.keys("j")
    assert commands(shim) == ["cancel"]


def test_ctrl_c_means_nothing_to_us_where_it_is_not_mapped(
    start_editor: Callable[..., Editor],
) -> None:
    shim = Shim(start_editor, keymaps={"normal": {"cancel": "<M-c>"}})
    shim.open("@You:\nGo.\n")
    shim.editor.exec_lua(AT_WORK)
    shim.editor.keys("<M-c>")
    shim.editor.wait_until(lambda: commands(shim) != [])
    assert commands(shim) == ["cancel"]


def test_other_buffers_keep_their_ctrl_c(shim: Shim) -> None:
    chat = shim.open("@You:\nGo.\n")
    shim.editor.command("enew")
    shim.editor.exec_lua(AT_WORK)
    shim.editor.keys("<Ignore>")
    shim.editor.command(f"buffer {chat}")
    assert commands(shim) == []

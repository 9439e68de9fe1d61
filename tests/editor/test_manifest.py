"""The manifest way: pynvim's own host loads the plugin file and offers itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.nvim import ROOT, Editor


@pytest.fixture
def registered(tmp_path: Path) -> Iterator[Editor]:
    """A Neovim whose manifest lists the plugin."""
    manifest = tmp_path / "rplugin.vim"
    with Editor(environment={"NVIM_RPLUGIN_MANIFEST": str(manifest)}) as editor:
        editor.exec_lua(
            "vim.g.python3_host_prog, vim.g.loaded_remote_plugins = ...",
            str(ROOT / ".venv" / "bin" / "python"),
            str(manifest),
        )
        editor.command("runtime! plugin/rplugin.vim")
        editor.output("UpdateRemotePlugins")
        editor.command(f"source {manifest}")
        yield editor


def host_status(editor: Editor) -> str:
    return editor.exec_lua("return require('flemma.host').status()")


def test_a_host_of_the_manifest_serves_chats(registered: Editor) -> None:  # P-01, P-03
    assert registered.call("FlemmaAttach") == {"ok": True}
    registered.wait_until(lambda: host_status(registered) == "ready")
    chat = registered.directory / "a.chat"
    chat.write_text("```yaml\nflemma: {provider: demo}\n```\n@You:\nhello\n")
    registered.open(chat)
    registered.keys("G<C-]>")
    registered.wait_for_text("Welcome!", timeout=20)


def test_a_second_host_is_refused(registered: Editor) -> None:  # P-17
    registered.open(registered.directory / "a.chat")
    registered.wait_until(lambda: host_status(registered) == "ready")
    answer = registered.call("FlemmaAttach")
    assert answer["ok"] is False
    assert "another Flemma host is attached already" in answer["error"]

"""The help names every command there is."""

from scripts.neovim import ROOT
from tests.support.nvim import Editor


def is_documented(command: str, help_text: str) -> bool:
    """Whether it has a line, or stands behind another of its group as `:name`."""
    group, _, name = command.partition(":")
    lines = [line for line in help_text.splitlines() if f":Flemma {group}" in line]
    following = " ".join(lines + [line for line in help_text.splitlines() if "`:" in line])
    return any(f":Flemma {command}" in line for line in lines) or f"`:{name}`" in following


def test_the_help_names_each_command(editor: Editor):
    editor.open(editor.directory / "a.chat")
    editor.wait_for_host()
    commands: list[str] = editor.call("getcompletion", "Flemma ", "cmdline")
    help_text = (ROOT / "doc" / "flemma.txt").read_text()
    assert "send" in commands
    assert [name for name in commands if not is_documented(name, help_text)] == []

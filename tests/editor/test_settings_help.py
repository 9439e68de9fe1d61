"""A newcomer finds what an option does by its name (issue B)."""

import shutil
from collections.abc import Iterator

import pytest

from tests.support.nvim import ROOT, Editor


@pytest.fixture
def reader() -> Iterator[Editor]:
    """An editor that has the help, as a plugin manager leaves it."""
    with Editor() as editor:
        plugin = editor.home / "plugin"
        shutil.copytree(ROOT / "doc", plugin / "doc")
        editor.command(f"set runtimepath^={plugin}")
        editor.command(f"helptags {plugin / 'doc'}")
        yield editor


@pytest.mark.parametrize(
    ("topic", "name", "facts"),
    [
        ("flemma.tools.max_concurrent", "tools.max_concurrent", ["integer", "`2`"]),
        ("flemma.max_tokens", "max_tokens", ["integer or string", '`"50%"`']),
        ("flemma.thinking", "thinking", ["false", '`"high"`']),
        ("flemma.keymaps.normal.send", "keymaps.normal.send", ["string", '`"<C-]>"`']),
    ],
)
def test_help_on_an_option_tells_type_default_and_effect(
    reader: Editor, topic: str, name: str, facts: list[str]
):
    reader.command(f"help {topic}")
    line, _ = reader.cursor()
    entry = reader.lines()[line - 1 : line + 5]
    assert name in entry[0]
    assert all(fact in "\n".join(entry) for fact in facts)


def test_a_part_of_the_name_is_enough(reader: Editor):
    assert "flemma.tools.max_concurrent" in reader.call("getcompletion", "max_con", "help")
    assert "flemma.sandbox.policy.rw_paths" in reader.call("getcompletion", "rw_paths", "help")

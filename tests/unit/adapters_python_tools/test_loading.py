"""Finding and importing modules of users."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flemma import extensions
from flemma.adapters.python_loading import load_entry_points, load_module
from flemma.errors import ConfigError
from flemma.extensions import Kind
from tests.unit.adapters_python_tools.support import started

TOOL = """
import flemma.tools
flemma.tools.register({name!r}, description="d", input_schema={{"type": "object"}},
    execute=lambda input, ctx: {{"success": True, "output": "ran"}})
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that Python imports from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    extensions.forget()
    yield tmp_path
    extensions.forget()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def package(site: Path, name: str, source: str, entry: str = "") -> None:
    """Install a package that offers an entry point."""
    (site / f"{name}.py").write_text(source)
    if entry:
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[flemma.tools]\nthe = {entry}\n")


def names(kind: Kind = Kind.TOOL) -> list[str]:
    return [name for each, name in extensions.registered() if each is kind]


def test_two_files_of_the_same_name_are_two_modules(tmp_path: Path, site: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tools.py").write_text(TOOL.format(name=folder))
        load_module(f"{folder}/tools.py", str(tmp_path))
    assert names() == ["one", "two"]
    origins = [entry.origin for entry in extensions.registered().values()]
    assert origins == ["one/tools.py", "two/tools.py"]


def test_a_file_can_hold_dataclasses_and_stand_below_the_home_directory(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(site))
    source = "from dataclasses import dataclass\n@dataclass\nclass D:\n    x: 'int' = 1\n"
    (site / "mine.py").write_text(source + TOOL.format(name="mine"))
    load_module("~/mine.py", "/")
    assert names() == ["mine"]


def test_a_file_that_fails_leaves_nothing_imported(site: Path) -> None:
    (site / "bad.py").write_text("1 / 0")
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        load_module(str(site / "bad.py"), "/")
    assert set(sys.modules) == before


@pytest.mark.parametrize("name", ["no_such_module", "no.such.module", "json.no_such_module"])
def test_a_module_that_is_not_installed_is_told_apart(site: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="neither a Lua module nor installed"):
        load_module(name, "/")


def test_a_module_that_lacks_another_one_names_the_other(site: Path) -> None:
    package(site, "needy", "import not_here_at_all")
    with pytest.raises(ModuleNotFoundError, match="not_here_at_all"):
        load_module("needy", "/")


def test_without_an_offer_nothing_is_searched(site: Path) -> None:
    assert load_entry_points() == {}
    assert names() == []


def test_an_entry_point_may_be_a_module_or_what_register_takes(site: Path) -> None:
    package(site, "plugin_a", TOOL.format(name="from_a"), "plugin_a")
    package(
        site,
        "plugin_b",
        "tools = [{'name': 'from_b', 'description': 'd', 'input_schema': {'type': 'object'},"
        " 'execute': print}]",
        "plugin_b:tools",
    )
    package(site, "plugin_c", "def find(register, done): done()", "plugin_c:find")
    assert load_entry_points() == {}
    assert sorted(names()) == ["from_a", "from_b"]
    assert len(names(Kind.SOURCE)) == 1


async def test_a_broken_package_is_named_and_the_others_load(site: Path) -> None:
    package(site, "plugin_bad", "raise RuntimeError('out of order')", "plugin_bad")
    package(site, "plugin_ok", TOOL.format(name="fine"), "plugin_ok")
    async with started(site) as running:
        assert running.told == [
            "Module 'plugin_bad' could not be loaded: RuntimeError: out of order"
        ]
        assert running.services.tools.get("fine") is not None

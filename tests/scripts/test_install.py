"""`make install` on machines that lack something, and after it was interrupted (case P-08)."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.install import ROOT, InstallError, creation_command, ensure

FIND_PYTHON = ROOT / "scripts" / "find-python"

# A package that installs without any download.
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "probe"
version = "1"

[project.optional-dependencies]
more = []
"""

BACKEND = """
import pathlib, zipfile

def build_editable(directory, settings=None, metadata=None):
    pathlib.Path("settings").write_text(repr(settings))
    name = "probe-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w") as wheel:
        wheel.writestr("probe.pth", "")
        info = "probe-1.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: probe\\nVersion: 1\\n"
                       "Provides-Extra: more\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n"
                       "Tag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


def test_an_incomplete_environment_is_built_anew_and_a_complete_one_is_left_alone(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    backend = tmp_path / "backend.py"
    backend.write_text(BACKEND)
    left_over = tmp_path / ".venv" / "left-over"
    left_over.parent.mkdir()
    left_over.write_text("of an installation that was interrupted")
    assert ensure(root=tmp_path)
    assert not left_over.exists()
    # Without it, setuptools hooks into every import, which each start of the host pays for.
    assert (tmp_path / "settings").read_text() == "{'editable_mode': 'compat'}"
    assert not ensure(root=tmp_path), "the second time there is nothing to do"

    assert ensure(["more"], root=tmp_path)
    assert not ensure(root=tmp_path), "what was installed with more serves for less"

    (tmp_path / "pyproject.toml").write_text(PROJECT.replace('version = "1"', 'version = "2"'))
    backend.write_text("raise RuntimeError('the power went off')")
    with pytest.raises(InstallError, match="could not install"):
        ensure(root=tmp_path)
    assert not (tmp_path / ".venv" / "flemma-installed.json").exists()


@pytest.mark.parametrize(
    ("modules", "virtualenv", "expected"),
    [
        ({"venv", "ensurepip"}, None, [sys.executable, "-m", "venv", "--clear"]),
        ({"venv", "virtualenv"}, None, [sys.executable, "-m", "virtualenv", "--quiet", "--clear"]),
        ({"venv"}, "/bin/virtualenv", ["/bin/virtualenv", "--quiet", "--clear", "--python"]),
    ],
)
def test_environments_are_made_with_what_is_there(
    modules: set[str], virtualenv: str | None, expected: list[str]
):
    command = creation_command(modules.__contains__, virtualenv)
    assert command[: len(expected)] == expected


def test_without_venv_and_virtualenv_the_missing_package_is_named():
    with pytest.raises(InstallError, match=r"apt install python3\.\d+-venv"):
        creation_command({"venv"}.__contains__, None)


def find_python(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(FIND_PYTHON)],
        env={"PATH": str(path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def command(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_stubs_that_do_not_run_and_old_pythons_are_passed_over(tmp_path: Path):
    command(tmp_path, "python3.13", "exit 127")
    command(tmp_path, "python3.12", "exit 1")
    command(tmp_path, "python3", f'exec "{sys.executable}" "$@"')
    found = find_python(tmp_path)
    assert found.returncode == 0
    assert Path(found.stdout.strip()).samefile(sys.executable)


def test_no_python_is_said_with_the_way_out(tmp_path: Path):
    found = find_python(tmp_path)
    assert found.returncode == 1
    assert "Python 3.11 or newer" in found.stderr
    assert "make install PYTHON=" in found.stderr


def test_a_python_that_was_named_is_the_only_one_tried(tmp_path: Path):
    command(tmp_path, "python3", f'exec "{sys.executable}" "$@"')
    found = find_python(tmp_path, PYTHON="/nowhere/python")
    assert found.returncode == 1
    assert "PYTHON=/nowhere/python" in found.stderr

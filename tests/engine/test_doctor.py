"""`flemma doctor`: what it finds on machines of all kinds, its exit code, and the ways out."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from flemma.headless.python_checks import is_within


class Machine:
    """An environment with its own home and PATH; programs are added one by one."""

    def __init__(self, root: Path) -> None:
        self.programs = root / "bin"
        self.programs.mkdir()
        self.home = root / "home"
        self.home.mkdir()
        self.environment = {
            "PATH": str(self.programs),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(root),
        }
        self.has("sh", "bash", "git", "rg")
        self.script("nvim", 'echo "NVIM v0.11.4"; test "$1" = --version || echo "The host answers"')

    def has(self, *names: str) -> None:
        """Let the machine have programs of this one."""
        for name in names:
            found = shutil.which(name)
            assert found
            (self.programs / name).symlink_to(found)

    def script(self, name: str, body: str) -> None:
        """Put a shell script on the PATH."""
        path = self.programs / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def diagnose(self, **environment: str) -> tuple[int, str]:
        """Run the doctor; return its exit code and what it prints."""
        ran = subprocess.run(
            [sys.executable, "-m", "flemma.headless", "doctor"],
            env={**self.environment, **environment},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        assert ran.stderr == ""
        return ran.returncode, ran.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without a package manager, a sandbox, and fd."""
    return Machine(tmp_path)


def test_a_machine_with_what_is_needed_passes_and_what_is_missing_is_noted(machine: Machine):
    code, said = machine.diagnose()
    assert code == 0, said
    assert "ok    pynvim" in said
    assert f"ok    Neovim v0.11.4 ({machine.programs}/nvim)" in said
    assert "note  fd was not found" in said
    assert "-> Install fd." in said
    assert "note  No sandbox backend available (bwrap: bubblewrap (bwrap) not found" in said
    assert "-> Install bubblewrap." in said
    assert "-> export ANTHROPIC_API_KEY=" in said
    assert said.endswith("No problems found.\n")


def test_keys_are_found_and_never_printed(machine: Machine):
    code, said = machine.diagnose(ANTHROPIC_API_KEY="sk-very-secret")
    assert code == 0
    assert "anthropic (the provider in use): found" in said
    assert "sk-very-secret" not in said


def test_the_package_manager_of_the_machine_is_named(machine: Machine):
    machine.script("apt-get", "exit 1")
    (machine.programs / "bash").unlink()
    (machine.programs / "rg").unlink()
    code, said = machine.diagnose()
    assert code == 1
    assert "FAIL  bash was not found: the tool bash cannot run" in said
    assert "-> sudo apt-get install bash" in said
    assert "-> sudo apt-get install ripgrep" in said
    assert "-> sudo apt-get install fd-find" in said
    assert "-> sudo apt-get install bubblewrap" in said
    assert said.endswith("1 to mend, see FAIL above.\n")


def test_an_old_neovim_has_to_be_mended_and_none_at_all_does_not(machine: Machine):
    machine.script("nvim", 'echo "NVIM v0.9.5"')
    code, said = machine.diagnose()
    assert code == 1
    assert "FAIL  Neovim v0.9.5" in said
    (machine.programs / "nvim").unlink()
    code, said = machine.diagnose()
    # The tests' own environment may bring a Neovim along; then that one is asked.
    assert code == 0, said
    assert "Neovim was not found" in said or "The host 0" in said


def test_a_host_that_does_not_answer_shows_what_it_said(machine: Machine):
    machine.script(
        "nvim",
        'if test "$1" = --version; then echo "NVIM v0.11.4"; exit 0; fi\n'
        'echo "No module named flemma"; exit 1',
    )
    code, said = machine.diagnose()
    assert code == 1
    assert "FAIL  The host does not answer Neovim:\n        No module named flemma" in said
    assert "-> make install" in said


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("config.yaml", "provider: [demo\n", "cannot be read"),
        ("config.json", "[1]", "must hold a mapping"),
        ("config.json", '{"nonsense": 1}', "unknown config keys: nonsense"),
    ],
)
def test_a_broken_options_file_has_to_be_mended(
    machine: Machine, name: str, content: str, reason: str
):
    path = machine.home / ".config" / "flemma" / name
    path.parent.mkdir(parents=True)
    path.write_text(content)
    code, said = machine.diagnose()
    assert code == 1
    assert reason in said
    assert f"-> Edit {path}." in said


def test_a_sandbox_that_is_required_and_missing_has_to_be_mended(machine: Machine):
    path = machine.home / ".config" / "flemma" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("sandbox: {backend: required}\n")
    code, said = machine.diagnose()
    assert code == 1
    assert "FAIL  No sandbox backend available" in said


def test_a_sandbox_that_is_there_but_cannot_confine_is_found_out(machine: Machine):  # K-01
    machine.script("bwrap", 'echo "bwrap: No permissions to create new namespace" >&2; exit 1')
    _, said = machine.diagnose()
    assert "bubblewrap is installed but cannot confine commands here" in said
    assert "kernel.unprivileged_userns_clone" in said


def test_a_directory_that_cannot_be_written_has_to_be_mended(machine: Machine):
    state = machine.home / "state"
    state.write_text("a file in its place")
    code, said = machine.diagnose(XDG_STATE_HOME=str(state))
    assert code == 1
    assert f"FAIL  {state}/flemma cannot be written" in said
    assert f"-> rm {state}" in said


def test_a_half_installed_package_is_named_and_nothing_else_is_tried(machine: Machine):  # P-08
    broken = machine.home / "broken" / "pynvim"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('half installed')")
    code, said = machine.diagnose(PYTHONPATH=str(broken.parent))
    assert code == 1
    assert "FAIL  flemma.host.__main__ cannot be imported: ImportError: half installed" in said
    assert "-> make install" in said
    assert "Neovim\n" not in said


def test_a_real_neovim_reaches_the_real_host(machine: Machine):
    from scripts.neovim import find_neovim

    neovim = find_neovim()
    assert neovim
    code, said = machine.diagnose(FLEMMA_NVIM=neovim)
    assert code == 0, said
    assert "answers Neovim" in said


BOUNDS: Mapping[tuple[str, str], bool] = {
    ("0.6.0", ">=0.6,<0.7"): True,
    ("0.7", ">=0.6,<0.7"): False,
    ("0.6.0rc1", "<1,>=0.6"): True,
    ("10.2", ">=9.9"): True,
    ("1.0.0", "<1"): False,
    ("3", ""): True,
}


@pytest.mark.parametrize(("case", "fits"), BOUNDS.items())
def test_versions_are_compared_by_their_numbers(case: tuple[str, str], fits: bool):
    assert is_within(*case) is fits

"""What `flemma doctor` finds, and how it is printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """How grave a finding is; the value is what is printed."""

    GOOD = "ok"
    NOTE = "note"
    """Something is missing that a chat can do without."""
    PROBLEM = "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. ``remedy`` is the command, or the sentence, that mends it."""

    standing: Standing
    text: str
    remedy: str | None = None


def good(text: str) -> Check:
    """Return a finding that needs nothing."""
    return Check(Standing.GOOD, text)


def note(text: str, remedy: str | None = None) -> Check:
    """Return a finding that is worth knowing."""
    return Check(Standing.NOTE, text, remedy)


def problem(text: str, remedy: str) -> Check:
    """Return a finding that has to be mended."""
    return Check(Standing.PROBLEM, text, remedy)


def print_section(title: str, checks: Sequence[Check], write: Callable[[str], None]) -> None:
    """Print the findings of one part."""
    lines = [title]
    for check in checks:
        first, *rest = check.text.split("\n")
        lines.append(f"  {check.standing:<4}  {first}")
        lines += [f"        {line}" for line in rest]
        if check.remedy:
            lines += [f"        -> {line}" for line in check.remedy.split("\n")]
    write("\n".join(lines) + "\n\n")


_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "rg": {"": "ripgrep"},
    "fd": {"apt-get": "fd-find", "dnf": "fd-find", "": "fd"},
    "bwrap": {"": "bubblewrap"},
    "nvim": {"": "neovim"},
}
"""Package of a program, where it has another name; the empty key is for all other managers."""

_MANAGERS: Mapping[str, str] = {
    "apt-get": "sudo apt-get install {}",
    "dnf": "sudo dnf install {}",
    "pacman": "sudo pacman -S {}",
    "apk": "sudo apk add {}",
    "zypper": "sudo zypper install {}",
    "brew": "brew install {}",
    "nix-env": "nix-env -iA nixpkgs.{}",
}


def install_command(program: str, which: Callable[[str], str | None]) -> str:
    """Return the command of this machine's package manager that installs ``program``."""
    manager = next((name for name in _MANAGERS if which(name)), None)
    names = _PACKAGES.get(program, {})
    package = names.get(manager or "") or names.get("") or program
    return _MANAGERS[manager].format(package) if manager else f"Install {package}."

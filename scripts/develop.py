"""Install what tests and linters need: ``python -m scripts.develop``.

Python packages and a Neovim go into `.venv`, stylua into `node_modules`. System packages are
installed only where their command is missing and only when that needs no password; otherwise they
are named, and the tests that need them are skipped with the same word.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.install import ROOT, InstallError, ensure, say
from scripts.neovim import find_neovim

SYSTEM_PACKAGES = {
    "bubblewrap": ("bwrap",),
    "ripgrep": ("rg",),
    "fd-find": ("fd", "fdfind"),
    "lua-check": ("luacheck",),
    "tmux": ("tmux",),
}
"""Debian package to the commands of which one must be there."""


def main() -> int:
    """Install everything; 1 when something that `make test` cannot do without is missing."""
    try:
        # Tests reach every optional feature, so the linters and the type checker see it too.
        ensure(["dev", "keyring", "google", "mcp"])
        if find_neovim() is None:
            ensure(["neovim"])
    except InstallError as error:
        say(f"\n{error}")
        return 1
    _install_system_packages()
    _install_stylua()
    return 0


def _install_system_packages() -> None:
    missing = [
        package
        for package, commands in SYSTEM_PACKAGES.items()
        if not any(map(shutil.which, commands))
    ]
    if not missing:
        return
    if shutil.which("apt-get") and (root := _root_prefix()) is not None:
        say(f"Installing {', '.join(missing)} ...")
        apt = [*root, "apt-get", "--quiet=2"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*apt, "update"], check=False, env=environment, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [*apt, "install", "--yes", "--no-install-recommends", *missing],
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        if done.returncode == 0:
            return
    say(
        f"Missing on this machine: {' '.join(missing)} (Debian package names).\n"
        f"Install them yourself, for example: sudo apt install {' '.join(missing)}\n"
        "Until then `make lint` may stop and some tests are skipped."
    )


def _root_prefix() -> list[str] | None:
    """Return what turns a command into one of root's, or None when that needs a password."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if allowed.returncode == 0 else None


def _install_stylua() -> None:
    installed = ROOT / "node_modules" / ".package-lock.json"
    if installed.exists() and _is_newer(installed, ROOT / "package.json"):
        return
    npm = shutil.which("npm")
    if npm is None:
        say("npm is missing, so stylua (the Lua formatter) is not installed: apt install npm")
        return
    say("Installing stylua ...")
    # No lock file: it would write the address of one machine's registry into the repository.
    flags = ["--no-package-lock", "--no-audit", "--no-fund", "--silent"]
    done = subprocess.run([npm, "install", *flags], cwd=ROOT, check=False)
    if done.returncode != 0:
        say(f"npm could not install stylua (exit code {done.returncode}); `make lint` will stop.")


def _is_newer(path: Path, reference: Path) -> bool:
    return path.stat().st_mtime >= reference.stat().st_mtime


if __name__ == "__main__":
    sys.exit(main())

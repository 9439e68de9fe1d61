"""The guided tour behind `make demo`: ``python -m scripts.demo``.

It works on a copy of `demo/tour.chat` in a scratch directory that is gone afterwards. The scripted
model (``flemma/providers/demo/scripts/tour.yaml``) reads a file, writes and edits another one and
asks to run a command. With a terminal the tour is a Neovim with its own, private directories;
without one the same file goes through ``flemma run`` and the transcript is printed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from scripts.install import ROOT, InstallError, ensure, say
from scripts.neovim import find_neovim

REPLY = "hello"
"""The word that the tour asks for half-way; without a terminal nobody is there to write one."""


@contextmanager
def scratch_copy() -> Generator[Path]:
    """Make a directory with a copy of the tour; it goes away with the context."""
    with tempfile.TemporaryDirectory(prefix="flemma-demo-") as name:
        scratch = Path(name)
        shutil.copy(ROOT / "demo" / "tour.chat", scratch)
        yield scratch


def in_neovim(scratch: Path) -> int:
    """Open the tour in Neovim and return its exit code. Raises :class:`InstallError`."""
    neovim = find_neovim()
    if neovim is None:
        say("No Neovim 0.11 or newer here, so one goes into .venv.")
        ensure(["neovim"])
        neovim = find_neovim()
    if neovim is None:
        raise InstallError("Neovim does not start; name another one with FLEMMA_NVIM=/path/to/nvim")
    private = scratch / ".xdg"
    directories = {
        f"XDG_{name}_HOME": str(private / name.lower())
        for name in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    command = [neovim, "--clean", "-u", str(ROOT / "demo" / "init.lua"), "+/^@You:/+1", "tour.chat"]
    return subprocess.run(
        command, cwd=scratch, env={**os.environ, **directories}, check=False
    ).returncode


def without_terminal(scratch: Path) -> int:
    """Run the tour headless, print the transcript and return the exit code."""
    chat = scratch / "tour.chat"
    code = _run(chat)
    if code == 0:
        chat.write_text(f"{chat.read_text().rstrip()}\n{REPLY}\n")
        code = _run(chat)
    print(chat.read_text(), flush=True)
    return code


def _run(chat: Path) -> int:
    command = [sys.executable, "-m", "flemma.headless", "run", chat.name]
    return subprocess.run(
        [*command, "--provider", "demo", "--approve", "bash"],
        cwd=chat.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode


def main() -> int:
    """Take the tour in the way that fits; the exit code is that of Neovim or of the run."""
    with scratch_copy() as scratch:
        try:
            if sys.stdin.isatty() and sys.stdout.isatty():
                return in_neovim(scratch)
            return without_terminal(scratch)
        except InstallError as error:
            say(f"\n{error}")
            return 1


if __name__ == "__main__":
    sys.exit(main())

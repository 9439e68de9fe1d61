"""The guided tour behind `make demo`: ``python -m scripts.demo``.

It works on copies in a scratch directory that is gone afterwards. The scripted model
(``flemma/providers/demo/scripts/tour.yaml``) reads README.md there, mends hello.sh and asks to run
it. With a terminal the tour is a Neovim with its own, private directories; without one the same
file goes through ``flemma run`` and the transcript is printed.
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

COPIED = ("demo/tour.chat", "demo/hello.sh", "README.md")


@contextmanager
def scratch_copy() -> Generator[Path]:
    """Make a directory with everything the tour works on; it goes away with the context."""
    with tempfile.TemporaryDirectory(prefix="flemma-demo-") as name:
        scratch = Path(name)
        for source in COPIED:
            shutil.copy(ROOT / source, scratch)
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
    command = [sys.executable, "-m", "flemma.headless", "run", "tour.chat"]
    run = subprocess.run(
        [*command, "--provider", "demo", "--approve", "bash"],
        cwd=scratch,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    print((scratch / "tour.chat").read_text(), flush=True)
    return run.returncode


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

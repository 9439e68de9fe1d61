"""Find and end every process that a test started, by a marker in its environment."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

MARKER = "FLEMMA_TEST_MARKER"


def marked(value: str) -> list[int]:
    """Return the ids of living processes whose environment has the marker with ``value``."""
    wanted = f"{MARKER}={value}".encode()
    return [pid for pid in _processes() if wanted in _environment(pid) and not _is_zombie(pid)]


def end_marked(value: str) -> None:
    """Kill them all, and those they start meanwhile."""
    while found := marked(value):
        for pid in found:
            kill(pid)


def kill(pid: int) -> None:
    """Kill a process that may be gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def is_alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    return Path(f"/proc/{pid}").exists() and not _is_zombie(pid)


def _processes() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _is_zombie(pid: int) -> bool:
    try:
        # "pid (name) state ...": the name may hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True

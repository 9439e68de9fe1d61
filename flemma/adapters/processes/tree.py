"""Finding and ending whole process trees (cases X-01, X-08).

A process leaves its group with ``setpgid``, its session with ``setsid``, its parent when that one
dies. What it keeps is its environment, so each command gets a mark there; the session and the
parents find those that dropped even that. Where there is no ``/proc`` only the group is left.
"""

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MARK_VARIABLE = "FLEMMA_PROCESS_MARK"

_PROC = Path("/proc")
HAS_PROC = (_PROC / "self" / "environ").exists()

_ENVIRONMENT_LIMIT = 1 << 20


class Tree:
    """What belongs to a command, or to all commands of a host.

    ``mark`` is part of the mark variable in every process of the tree; ``sessions`` are those it
    began with, named by the process that leads each. A process that was found once stays known:
    it may lose its parent while it is being ended.
    """

    def __init__(self, mark: bytes, sessions: frozenset[int] = frozenset()) -> None:
        self._mark = mark
        self._sessions = sessions
        self._known: dict[int, int] = {}

    def members(self, among: Iterable[int] | None = None) -> set[int]:
        """Return the living processes of the tree; ``among`` limits where to look."""
        if not HAS_PROC:
            return {leader for leader in self._sessions if _group_exists(leader)}
        living: dict[int, _Status] = {}
        found: set[int] = set()
        for pid in process_ids() if among is None else among:
            status = _status(pid)
            if status is None or pid == os.getpid():
                continue
            living[pid] = status
            if self._owns(pid, status):
                found.add(pid)
        found = _with_descendants(found, living)
        self._known = {pid: living[pid].started for pid in found}
        return found

    def send(self, number: signal.Signals) -> set[int]:
        """Send a signal to every process of the tree and return those that were found.

        Parents come first: a shell whose child ends before it prints that it was terminated.
        """
        members = self.members()
        for pid in sorted(members, key=lambda pid: (self._known.get(pid, 0), pid)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if HAS_PROC:
                    os.kill(pid, number)
                else:
                    os.killpg(pid, number)
        return members

    def _owns(self, pid: int, status: "_Status") -> bool:
        return (
            status.session in self._sessions
            or self._known.get(pid) == status.started
            or self._mark in _environment(pid)
        )


@dataclass(frozen=True, slots=True)
class _Status:
    parent: int
    session: int
    started: int
    """Clock ticks since the system started: tells a process from a later one with its id."""


def process_ids() -> set[int]:
    """Return the ids of all processes; nothing where there is no ``/proc``."""
    if not HAS_PROC:
        return set()
    return {int(name) for name in os.listdir(_PROC) if name.isdigit()}  # noqa: PTH208 - names only


def _with_descendants(found: set[int], living: dict[int, _Status]) -> set[int]:
    children = found
    while children:
        children = {pid for pid, status in living.items() if status.parent in children} - found
        found = found | children
    return found


def _status(pid: int) -> _Status | None:
    """Return what the system says of a process, None if it is gone or a zombie."""
    # "pid (name) state parent group session ...": the name may hold spaces and parentheses.
    fields = _content(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 20 or fields[0] in {b"Z", b"X"}:
        return None
    return _Status(int(fields[1]), int(fields[3]), int(fields[19]))


def _environment(pid: int) -> bytes:
    return _content(f"/proc/{pid}/environ")


def _content(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _ENVIRONMENT_LIMIT)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _group_exists(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

"""A process that outlives the host for a moment, to end what the host left behind.

Run as a script, without the package: ``python -I -S guard.py MARK``. Standard input is a pipe
that only the host holds open; on it come ``+GROUP`` and ``-GROUP`` lines as commands start and
end. When the host is gone, by whatever signal, the pipe ends: every process that carries the mark
in its environment, and every group still on the list, is ended.
"""

import contextlib
import os
import signal
import sys
import time


def main() -> None:
    """Wait for the end of the host, then end its commands."""
    mark = sys.argv[1].encode()
    groups = _groups_until_the_end()
    _end(mark, groups, signal.SIGTERM)
    for _ in range(6):
        if not _marked(mark) and not any(map(_exists, groups)):
            return
        time.sleep(0.05)  # noqa: TID251 - a script of its own, with nothing else to do
    for _ in range(50):
        if not _end(mark, groups, signal.SIGKILL):
            return
        time.sleep(0.02)  # noqa: TID251 - as above


def _groups_until_the_end() -> set[int]:
    groups: set[int] = set()
    with os.fdopen(0, "rb", buffering=0) as pipe:
        pending = b""
        while data := pipe.read(4096):
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                group = int(line[1:])
                if line[:1] == b"+":
                    groups.add(group)
                else:
                    groups.discard(group)
    return groups


def _end(mark: bytes, groups: set[int], number: signal.Signals) -> bool:
    """Signal everything that is left; tell whether there was anything."""
    marked = _marked(mark)
    for pid in marked:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    living = [group for group in groups if _exists(group)]
    for group in living:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    groups.intersection_update(living)
    return bool(marked)


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _marked(mark: bytes) -> list[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - names only
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and mark in _environment(name)]


def _environment(name: str) -> bytes:
    try:
        with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 - without pathlib's import
            return file.read()
    except OSError:
        return b""


if __name__ == "__main__":
    main()

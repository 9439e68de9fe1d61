"""Starting the guard process and telling it what runs."""

import contextlib
import os
import sys
from pathlib import Path

_GUARD = Path(__file__).with_name("guard.py")


class Guardian:
    """Holds the pipe whose end tells the guard that the host is gone.

    The guard starts with the first command (about 15 ms beside it, not before it) and serves all
    of them, so that a command costs one short write.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._pid: int | None = None
        self._pipe = -1

    def start(self) -> None:
        """Start the guard if it does not run."""
        if self._pid is not None and not self._has_ended(self._pid):
            return
        self.close()
        reading, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)
        try:
            self._pid = _spawn(reading, self._mark)
        finally:
            os.close(reading)

    def watch(self, group: int) -> None:
        """Have the group ended with the host."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """The group ended."""
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """Let the guard do its work and end."""
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe = -1
        self._pid = None

    def __del__(self) -> None:
        self.close()

    def _tell(self, line: str) -> None:
        # A guard that died is started again with the next command; the mark finds this one then.
        with contextlib.suppress(BrokenPipeError, BlockingIOError):
            if self._pipe >= 0:
                os.write(self._pipe, line.encode())

    @staticmethod
    def _has_ended(pid: int) -> bool:
        try:
            ended, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return True
        return ended == pid


def _spawn(reading: int, mark: str) -> int:
    argv = [sys.executable, "-I", "-S", str(_GUARD), mark]
    # It must hold none of the host's own pipes: the editor waits for their end.
    actions = [
        (os.POSIX_SPAWN_DUP2, reading, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    try:
        return os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setsid=True)
    except NotImplementedError:
        return os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setpgroup=0)

"""Descriptors on which the output of a command arrives."""

import asyncio
import contextlib
import fcntl
import os
import pty
import struct
import termios
import tty
from collections.abc import Callable
from typing import TypeAlias

from flemma.text.screen import COLUMNS, ROWS

Sink: TypeAlias = Callable[[bytes], None]

_CHUNK = 65536


def open_terminal() -> tuple[int, int]:
    """Return both ends of a pseudo-terminal: ours, and the raw one for the program.

    It adds no carriage returns and echoes nothing, and becomes nobody's controlling terminal.
    """
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return ours, theirs


class Output:
    """Reads descriptors as output arrives, up to a limit over all of them.

    ``stop`` is called once: with ``output_limit``, or with the error that a sink raised.
    """

    def __init__(self, limit: int, stop: Callable[[str | Exception], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = limit
        self._stop = stop
        self._open: set[int] = set()
        self._discarding = False
        self._activity: asyncio.Event = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether every descriptor came to its end."""
        return not self._open

    def read(self, descriptor: int, sink: Sink) -> None:
        """Read ``descriptor`` to its end and close it then."""
        os.set_blocking(descriptor, False)
        self._open.add(descriptor)
        self._loop.add_reader(descriptor, self._arrived, descriptor, sink)

    async def drain(self, *, quiet: float, longest: float) -> None:
        """Wait for the end, or ``quiet`` seconds without output, at most ``longest`` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest):
                while not self.ended:
                    self._activity.clear()
                    async with asyncio.timeout(quiet):
                        await self._activity.wait()

    def discard(self) -> None:
        """Go on reading, but throw it away.

        Processes that were left running would otherwise fail on their next line of output.
        """
        self._discarding = True

    def close(self) -> None:
        """Stop reading."""
        for descriptor in tuple(self._open):
            self._close(descriptor)

    def _arrived(self, descriptor: int, sink: Sink) -> None:
        # A terminal gives at most 4 KB at a time; taking several at once saves the sink work, and
        # the bound leaves the loop its turn.
        parts: list[bytes] = []
        size = 0
        while size < _CHUNK:
            data = _read(descriptor)
            if data is None:
                break
            if not data:
                self._close(descriptor)
                break
            parts.append(data)
            size += len(data)
        self._activity.set()
        if parts and not self._discarding:
            self._deliver(b"".join(parts), sink)

    def _deliver(self, data: bytes, sink: Sink) -> None:
        try:
            sink(data[: self._left])
        except Exception as error:  # noqa: BLE001 - handed to whoever awaits the command
            self.discard()
            self._stop(error)
            return
        self._left -= len(data)
        if self._left < 0:
            self.discard()
            self._stop("output_limit")

    def _close(self, descriptor: int) -> None:
        self._open.discard(descriptor)
        self._loop.remove_reader(descriptor)
        os.close(descriptor)


def _read(descriptor: int) -> bytes | None:
    """Return what is there, nothing at the end, None when there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        # Linux reports the end of a terminal as an error (EIO).
        return b""

"""The output of a command on its way to the model: safe, cut to its tail, in bounded memory."""

import asyncio
from dataclasses import dataclass

from flemma.errors import FlemmaError
from flemma.text.notices import overflow_notice, with_notice
from flemma.text.tail import TailBuffer
from flemma.text.terminal import TerminalText
from flemma.text.truncate import MAX_BYTES
from flemma.tools.context import OutputStore, Spool

_HELD = 1 << 16
"""Trailing white space that is held back from the store file, since the output ends before it."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What the model gets, and the file with everything if that was too much."""

    text: str
    full_output_path: str | None
    truncated: bool


class CommandOutput:
    """Takes terminal bytes; what is over the limits goes to the store while it arrives (X-12).

    Run :meth:`store_overflow` beside the command, call :meth:`finish` when it ended, then
    :meth:`capture` or :meth:`discard`.
    """

    def __init__(self) -> None:
        self._terminal = TerminalText()
        self._tail = TailBuffer()
        self._wake = asyncio.Event()
        self._waiting: bytearray | None = bytearray()
        """Text that no spool has taken yet; None once it is known that there is none."""
        self._held = b""
        self._spool: Spool | None = None

    def take(self, data: bytes) -> None:
        """Take the next bytes of the command."""
        self._add(self._terminal.feed(data).encode())

    def finish(self) -> None:
        """The command has ended."""
        self._add(self._terminal.finish().encode())
        self._wake.set()

    async def store_overflow(self, store: OutputStore) -> None:
        """Wait until the output is too large, or over; open a store file in the first case."""
        await self._wake.wait()
        if not self._is_large():
            return
        self._spool = await store.open_spool()
        waiting, self._waiting = self._waiting, None
        if self._spool is not None and waiting:
            self._write(bytes(waiting))

    async def capture(self) -> Captured:
        """Return the tail, with a notice if it is not all."""
        truncation = self._tail.truncation()
        if not truncation.truncated:
            self.discard()
            return Captured(truncation.content, None, truncated=False)
        path = await self._commit()
        notice = overflow_notice(truncation, "tail", path)
        return Captured(with_notice(truncation.content, notice), path, truncated=True)

    def discard(self) -> None:
        """Remove what was stored."""
        if self._spool is not None:
            self._spool.discard()
        self._spool = None

    def _is_large(self) -> bool:
        return self._tail.overflowed or self._waiting is None or len(self._waiting) > 2 * MAX_BYTES

    def _add(self, text: bytes) -> None:
        self._tail.feed(text)
        if self._spool is not None:
            self._write(text)
        elif self._waiting is not None:
            self._waiting += text
            if self._is_large():
                self._wake.set()

    def _write(self, text: bytes) -> None:
        text = self._held + text
        end = len(text.rstrip()) if len(text) <= _HELD or not text.isspace() else len(text)
        self._held = text[end:]
        try:
            if self._spool is not None and end:
                self._spool.write(text[:end])
        except FlemmaError:
            # A full disk must not end the command; the notice then names no file.
            self.discard()

    async def _commit(self) -> str | None:
        spool, self._spool = self._spool, None
        if spool is None:
            return None
        try:
            return await spool.commit()
        except FlemmaError:
            spool.discard()
            return None

"""A chat buffer of Neovim: the mirror of its text and the atomic edits on it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from flemma.adapters.nvim.connection import Connection
from flemma.adapters.nvim.lua import Lua
from flemma.chat.document import Document
from flemma.chat.nodes import AppendText, Change, Edit, ReplaceLines
from flemma.chat.parser import parse_lines
from flemma.errors import BufferGone, EditorError

MIRROR_WAIT = 0.05
"""Seconds to wait for the change that made an edit stale, before asking for the text anew."""

BUSY_WAIT = 0.02
"""Seconds between two tries while the editor cannot change text (command-line window, textlock)."""

SEND_TEXT = True
STRICT = False
"""Arguments of `nvim_buf_attach` and `nvim_buf_get_lines`."""


class NvimBuffer:
    """Implements :class:`flemma.ports.editor.ChatBuffer` over `nvim_buf_attach`.

    Every change, ours included, comes back as a lines event; the mirror has no other source. An
    edit names the `changedtick` it was computed for; Lua refuses it when the buffer is ahead.
    """

    def __init__(self, number: int, path: str | None, lua: Lua, connection: Connection) -> None:
        self._number = number
        self.renamed(path)
        self._lua = lua
        self._connection = connection
        self._document = parse_lines([""])
        self._tick = -1
        self._gone = False
        self._moved = asyncio.Event()
        self._attached = asyncio.Event()
        self._writing = asyncio.Lock()
        self.on_change: Callable[[Document, Document], None] = _ignore_change

    @property
    def id(self) -> int:
        """Buffer number."""
        return self._number

    @property
    def path(self) -> str | None:
        """Absolute path, or None for an unnamed buffer."""
        return self._path

    @property
    def document(self) -> Document:
        """The newest document known."""
        return self._document

    @property
    def tick(self) -> int:
        """The `changedtick` of :attr:`document`."""
        return self._tick

    @property
    def is_attached(self) -> bool:
        """Whether :attr:`document` follows the buffer."""
        return self._attached.is_set()

    @property
    def gone(self) -> bool:
        """Whether the buffer was wiped."""
        return self._gone

    def renamed(self, path: str | None) -> None:
        """Take a new file name (`:saveas`, `:file`)."""
        self._path = path or None

    async def attach(self) -> None:
        """Start the mirror, unless it runs. Raises :class:`EditorError`."""
        if self._attached.is_set():
            # Neovim would answer yes and send nothing.
            return
        if not await self._connection.request("nvim_buf_attach", self._number, SEND_TEXT, {}):
            raise EditorError(f"Buffer {self._number} is not loaded.")
        await self._attached.wait()

    def detached(self) -> None:
        """Take `nvim_buf_detach_event`: Neovim tells no more changes until :meth:`attach`."""
        self._attached.clear()

    def lines_event(self, tick: int | None, first: int, last: int, lines: Sequence[str]) -> None:
        """Take `nvim_buf_lines_event`: lines ``first`` to ``last`` (exclusive) were replaced.

        ``last`` is -1 for the whole buffer.
        """
        before = self._document
        # The API shows a NUL byte inside a line as a newline.
        clean = tuple(line.replace("\n", "\0") if "\n" in line else line for line in lines)
        if last == -1:
            self._document = parse_lines(clean)
            self._attached.set()
        else:
            self._document = before.apply(Change(first, last, clean))
        if tick is not None:
            self._tick = tick
        self._announce(before)

    def tick_event(self, tick: int) -> None:
        """Take `nvim_buf_changedtick_event`: the tick moved without a change of text."""
        self._tick = tick
        self._announce(self._document)

    def wiped(self) -> None:
        """The buffer is gone: every further edit fails."""
        self._gone = True
        self._announce(self._document)

    async def edit(
        self, compute: Callable[[Document], Sequence[Edit]], *, undo_group: str | None = None
    ) -> Document:
        """Apply the edits that ``compute`` makes of the newest document, atomically."""
        async with self._writing:
            while True:
                self._require_alive()
                edits = compute(self._document)
                if not edits:
                    return self._document
                tick = self._tick
                answer = await self._apply(edits, tick, undo_group)
                if answer["ok"]:
                    await self._reach(int(answer["tick"]))
                    return self._document
                if answer.get("gone"):
                    self._gone = True
                elif answer.get("busy"):
                    await asyncio.sleep(BUSY_WAIT)
                else:
                    await self.catch_up(tick)

    async def set_locked(self, *, locked: bool) -> None:
        """Make the buffer (not) modifiable for the user."""
        self._lua.tell("lock", {"bufnr": self._number, "locked": locked})

    async def move_cursor(self, line: int, *, force: bool = False) -> None:
        """Move to a line; unless forced, Lua waits until the user has been still."""
        self._lua.tell("cursor", {"bufnr": self._number, "line": line, "force": force})

    async def save(self) -> None:
        """Write the buffer to its file. Raises :class:`EditorError` when Neovim cannot."""
        answer = await self._lua.handle("save", {"bufnr": self._number})
        if answer and not answer.get("ok", True):
            raise EditorError(f"Could not write {self._path}: {answer.get('error')}")

    async def _apply(self, edits: Sequence[Edit], tick: int, undo_group: str | None) -> Any:
        payload = {
            "bufnr": self._number,
            "tick": tick,
            "edits": [_wire(edit) for edit in edits],
            "undo_group": undo_group,
        }
        return await self._lua.handle("apply", payload)

    async def _reach(self, tick: int) -> None:
        """Wait until the mirror has seen our own edit; events precede the answer on the pipe."""
        while self._tick < tick and not self._gone:
            self._moved.clear()
            try:
                await asyncio.wait_for(self._moved.wait(), MIRROR_WAIT)
            except TimeoutError:
                await self._reread()

    async def catch_up(self, stale: int) -> None:
        """Wait until :attr:`tick` is another one than ``stale``, which the buffer has left behind.

        Neovim tells no listener that the tick moved when a buffer is written, or `modified` is
        set; when no event comes, the text is read again. Raises :class:`EditorError`.
        """
        if self._tick != stale:
            return
        self._moved.clear()
        try:
            await asyncio.wait_for(self._moved.wait(), MIRROR_WAIT)
        except TimeoutError:
            if self._tick == stale:
                await self._reread()

    async def _reread(self) -> None:
        """Fetch the whole text: the mirror missed something (a reload detached it)."""
        tick = await self._connection.request("nvim_buf_get_changedtick", self._number)
        lines = await self._connection.request("nvim_buf_get_lines", self._number, 0, -1, STRICT)
        self.lines_event(int(tick), 0, -1, lines)

    def _announce(self, before: Document) -> None:
        self._moved.set()
        self.on_change(before, self._document)

    def _require_alive(self) -> None:
        if self._gone:
            raise BufferGone(f"Buffer {self._number} was closed.")


def _ignore_change(before: Document, after: Document) -> None:
    """Nobody listens yet."""


def _wire(edit: Edit) -> list[Any]:
    match edit:
        case ReplaceLines(first, last, lines):
            return ["replace", first, last, list(lines)]
        case AppendText(line, text):
            return ["append", line, text]

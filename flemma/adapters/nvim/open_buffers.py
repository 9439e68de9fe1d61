"""Files loaded in Neovim: implements :class:`flemma.ports.files.OpenBuffers`."""

import asyncio
from typing import Any

from flemma.adapters.nvim.buffer import BUSY_WAIT
from flemma.adapters.nvim.lua import Lua
from flemma.errors import BufferChanged, EditorError
from flemma.ports.files import BufferChange, BufferText

_LINE_ENDINGS = {"unix": "\n", "dos": "\r\n", "mac": "\r"}


class NvimOpenBuffers:
    """Reads and edits loaded buffers through Lua."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua

    async def read(self, path: str) -> BufferText | None:
        """Return the loaded buffer of ``path``, or None."""
        answer = await self._lua.handle("buffer:read", {"path": path})
        if not answer:
            return None
        return BufferText(
            lines=tuple(answer["lines"]),
            modified=bool(answer["modified"]),
            final_newline=bool(answer["final_newline"]),
            line_ending=_LINE_ENDINGS.get(answer["fileformat"], "\n"),
            revision=int(answer["tick"]),
            encoding=str(answer["encoding"]),
            bom=bool(answer["bom"]),
        )

    async def replace(self, path: str, change: BufferChange) -> None:
        """Change lines as one undo step. Raises :class:`BufferChanged`, :class:`EditorError`."""
        payload = {
            "path": path,
            "revision": change.revision,
            "first": change.first,
            "last": change.last,
            "lines": list(change.lines),
            "final_newline": change.final_newline,
        }
        answer: Any = await self._lua.handle("buffer:replace", payload)
        while answer.get("busy"):
            await asyncio.sleep(BUSY_WAIT)
            answer = await self._lua.handle("buffer:replace", payload)
        if answer.get("changed"):
            raise BufferChanged(f"{path} changed in the editor meanwhile.")
        self._require(answer, path)

    async def save(self, path: str) -> None:
        """Write the buffer to its file without prompts. Raises :class:`EditorError`."""
        self._require(await self._lua.handle("buffer:save", {"path": path}), path)

    async def reload(self, path: str) -> None:
        """Tell Neovim that the file changed on disk."""
        await self._lua.handle("buffer:reload", {"path": path})

    def _require(self, answer: object, path: str) -> None:
        if isinstance(answer, dict) and not answer.get("ok", True):  # pyright: ignore[reportUnknownMemberType]
            raise EditorError(f"Neovim could not change {path}: {answer.get('error')}")  # pyright: ignore[reportUnknownMemberType]

"""Files loaded in Neovim: implements :class:`flemma.ports.files.OpenBuffers`."""

from collections.abc import Sequence

from flemma.adapters.nvim.lua import Lua
from flemma.errors import EditorError
from flemma.ports.files import BufferText

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
        )

    async def replace(self, path: str, first: int, last: int, lines: Sequence[str]) -> None:
        """Replace lines as one undo step. Raises :class:`EditorError`."""
        payload = {"path": path, "first": first, "last": last, "lines": list(lines)}
        self._require(await self._lua.handle("buffer:replace", payload), path)

    async def save(self, path: str) -> None:
        """Write the buffer to its file without prompts. Raises :class:`EditorError`."""
        self._require(await self._lua.handle("buffer:save", {"path": path}), path)

    async def reload(self, path: str) -> None:
        """Tell Neovim that the file changed on disk."""
        await self._lua.handle("buffer:reload", {"path": path})

    def _require(self, answer: object, path: str) -> None:
        if isinstance(answer, dict) and not answer.get("ok", True):  # pyright: ignore[reportUnknownMemberType]
            raise EditorError(f"Neovim could not change {path}: {answer.get('error')}")  # pyright: ignore[reportUnknownMemberType]

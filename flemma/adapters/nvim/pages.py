"""Pages and pickers in Neovim: implements :class:`flemma.ports.editor.Pages`."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

from flemma.adapters.nvim.lua import Lua
from flemma.ports.editor import Page


class NvimPages:
    """Shows pages in scratch buffers and asks through `vim.ui.select`."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua
        self._identifiers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[int | None]] = {}

    def show(self, page: Page) -> None:
        """Show a page."""
        self._lua.tell("show", self._payload(page))

    async def update(self, page: Page) -> bool:
        """Renew a page if it is on the screen; tell whether it is."""
        answer = await self._lua.handle("show", {**self._payload(page), "update": True})
        return bool(answer and answer.get("shown"))

    async def choose(self, prompt: str, items: Sequence[str]) -> int | None:
        """Let the user pick."""
        identifier = next(self._identifiers)
        future: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._asked[identifier] = future
        self._lua.tell("choose", {"id": identifier, "prompt": prompt, "items": list(items)})
        try:
            return await future
        finally:
            del self._asked[identifier]

    def chosen(self, identifier: int, index: int | None) -> None:
        """Take the user's answer."""
        future = self._asked.get(identifier)
        if future is not None and not future.done():
            future.set_result(index)

    def _payload(self, page: Page) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "name": page.name,
            "filetype": page.filetype,
            "lines": list(page.lines),
            "marks": [list(mark) for mark in page.marks],
        }
        if page.position is not None:
            payload["position"] = page.position
        return payload

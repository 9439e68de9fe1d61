"""What the user sees beside the text, in Neovim: implements :class:`flemma.ports.editor.Screen`."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from flemma.adapters.nvim.lua import Lua
from flemma.chat.nodes import ToolResult
from flemma.chat.pairing import CallKey, Located
from flemma.ports.editor import Level

log = logging.getLogger(__name__)


class NvimScreen:
    """Tells Lua what to show; never waits for it."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua
        self.on_refresh: Callable[[int], None] = _nobody_listens
        self.listeners: list[Callable[[str, Mapping[str, Any]], None]] = []
        """Called with each event, before Lua is told."""

    def notify(self, message: str, level: Level = Level.INFO, *, once: bool = False) -> None:
        """Show a message."""
        log.info("notify %s: %s", level, message)
        self._lua.tell("notify", {"message": message, "level": str(level), "once": once})

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Emit a lifecycle event."""
        for listener in self.listeners:
            listener(name, data)
        self._lua.tell("event", {"name": name, "data": dict(data)})

    def progress(self, buffer_id: int, state: Mapping[str, Any] | None) -> None:
        """Show request progress, or end it."""
        payload = {"bufnr": buffer_id, **state} if state else {"bufnr": buffer_id}
        self._lua.tell("progress", payload)

    def refresh(self, buffer_id: int) -> None:
        """Ask for the view of the buffer to be drawn again soon."""
        self.on_refresh(buffer_id)


class NvimRejectionPopup:
    """Implements :class:`flemma.ports.editor.RejectionPopup`."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua

    def open(self, buffer_id: int, key: CallKey, result: Located[ToolResult]) -> None:
        """Open the popup over the fence of a result."""
        fence = result.line + result.node.fence_start - result.node.start
        payload = {
            "bufnr": buffer_id,
            "tool_use_id": key.id,
            "line": fence,
            "end_line": result.end,
            "text": result.node.content.removeprefix("User feedback: "),
        }
        self._lua.tell("popup:reject", payload)


class NvimExCommands:
    """Implements :class:`flemma.ports.editor.ExCommands`."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua

    def run(self, buffer_id: int, command: str) -> None:
        """Run an Ex command in the buffer."""
        self._lua.tell("ex", {"bufnr": buffer_id, "command": command})


def _nobody_listens(buffer_id: int) -> None:
    """Views are not drawn yet."""

"""The host's log file as the user handles it: `:Flemma logging:...`."""

import logging
from collections.abc import Mapping
from typing import Any

from flemma.adapters.logs import LEVELS, log_path, set_up_logging
from flemma.adapters.nvim.lua import Lua


class HostLog:
    """Implements :class:`flemma.app.commands.logs.LogFile`. Errors are always written."""

    def __init__(self, default_path: str, options: Mapping[str, Any], lua: Lua) -> None:
        self._lua = lua
        self._path = log_path(default_path, options)
        set_up_logging(default_path, options)

    @property
    def path(self) -> str:
        """Absolute path."""
        return str(self._path)

    @property
    def enabled(self) -> bool:
        """Whether more than errors is written."""
        return logging.getLogger().level < logging.ERROR

    def enable(self, level: str) -> None:
        """Write everything from ``level`` up."""
        logging.getLogger().setLevel(LEVELS[level])

    def disable(self) -> None:
        """Write errors only."""
        logging.getLogger().setLevel(logging.ERROR)

    def open(self) -> None:
        """Show the file in the editor."""
        self._lua.tell("open", {"path": self.path})

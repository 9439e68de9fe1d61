"""Background work of the host."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol


class Tasks(Protocol):
    """Spawns named tasks, keeps references to them, reports each failure once."""

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        """Start ``work``; an exception in it is logged and shown once."""
        ...

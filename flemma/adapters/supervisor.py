"""Tasks of a front end: named, kept alive by a reference, their failures reported once."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from flemma.errors import FlemmaError

log = logging.getLogger(__name__)


class Supervisor:
    """Implements :class:`flemma.ports.tasks.Tasks`. The only place that creates tasks."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()
        self._reported: set[str] = set()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start ``work``; an exception in it is logged and shown once."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def stop(self, deadline: float) -> None:
        """Cancel everything and wait for it, at most ``deadline`` seconds."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=deadline)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._failed(task.get_name(), error)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("task %s failed", name, exc_info=error)
        if isinstance(error, FlemmaError):
            text = str(error)
        else:
            text = f"Internal error in {name}: {type(error).__name__}: {error}. See the log."
        if text not in self._reported:
            self._reported.add(text)
            self._report(text)

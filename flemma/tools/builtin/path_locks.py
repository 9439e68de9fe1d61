"""One change at a time to one file: calls of a turn may run side by side (cases E-11, E-33)."""

import asyncio
from weakref import WeakValueDictionary

from flemma.tools.context import ToolContext

_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def path_lock(context: ToolContext, path: str) -> asyncio.Lock:
    """Return the lock of the file that ``path`` names, links followed."""
    real = context.files.real_path(path)
    lock = _locks.get(real)
    if lock is None:
        lock = _locks[real] = asyncio.Lock()
    return lock

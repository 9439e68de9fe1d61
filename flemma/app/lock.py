"""The lock of a buffer: not modifiable while a request or foreground tools run."""

from flemma.ports.editor import ChatBuffer


class BufferLock:
    """Counts the purposes that hold the lock (spec: behaviour 2.13)."""

    def __init__(self, buffer: ChatBuffer) -> None:
        self._buffer = buffer
        self._holders: list[str] = []

    async def acquire(self, purpose: str) -> None:
        """Lock, or keep locked."""
        self._holders.append(purpose)
        if len(self._holders) == 1:
            await self._buffer.set_locked(locked=True)

    async def release(self, purpose: str) -> None:
        """Give up one hold; the last one unlocks. Twice is harmless."""
        if purpose not in self._holders:
            return
        self._holders.remove(purpose)
        if not self._holders:
            await self._buffer.set_locked(locked=False)

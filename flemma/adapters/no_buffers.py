"""No editor, no loaded buffers: implements :class:`flemma.ports.files.OpenBuffers`."""

from flemma.errors import EditorError
from flemma.ports.files import BufferChange, BufferText


class NoOpenBuffers:
    """Every file is only on disk."""

    async def read(self, path: str) -> BufferText | None:
        """Return None: nothing is loaded."""
        del path
        return None

    async def replace(self, path: str, change: BufferChange) -> None:
        """Raise :class:`EditorError`: there is no buffer to edit."""
        del change
        raise EditorError(f"{path} is not loaded in an editor.")

    async def save(self, path: str) -> None:
        """Raise :class:`EditorError`: there is no buffer to write."""
        raise EditorError(f"{path} is not loaded in an editor.")

    async def reload(self, path: str) -> None:
        """Nobody needs to know."""
        del path

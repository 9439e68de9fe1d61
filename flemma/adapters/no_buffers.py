"""No editor, no loaded buffers: implements :class:`flemma.ports.files.OpenBuffers`."""

from collections.abc import Sequence

from flemma.errors import EditorError
from flemma.ports.files import BufferText


class NoOpenBuffers:
    """Every file is only on disk."""

    async def read(self, path: str) -> BufferText | None:
        """Return None: nothing is loaded."""
        del path
        return None

    async def replace(self, path: str, first: int, last: int, lines: Sequence[str]) -> None:
        """Raise :class:`EditorError`: there is no buffer to edit."""
        del first, last, lines
        raise EditorError(f"{path} is not loaded in an editor.")

    async def save(self, path: str) -> None:
        """Raise :class:`EditorError`: there is no buffer to write."""
        raise EditorError(f"{path} is not loaded in an editor.")

    async def reload(self, path: str) -> None:
        """Nobody needs to know."""
        del path

"""Temporary files on disk: implements :class:`flemma.ports.spools.Spools`."""

import contextlib
import os
from pathlib import Path

_NAME_SHOWN = 60
"""Characters of the target's name in that of the temporary file; names have 255 bytes at most."""


class DiskSpool:
    """One temporary file, with the mode that a new file of the user has."""

    def __init__(self, target: Path) -> None:
        name = f".{target.name[:_NAME_SHOWN]}.{os.urandom(6).hex()}.part"
        self._path = target.with_name(name)
        self._file = self._path.open("xb")

    @property
    def path(self) -> str:
        """Absolute path."""
        return str(self._path)

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)

    def close(self) -> None:
        """Flush and close; the file stays."""
        self._file.close()

    def discard(self) -> None:
        """Close and remove."""
        # On a full disk even closing fails.
        with contextlib.suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


class DiskSpools:
    """Makes temporary files beside their target."""

    def create(self, target: str) -> DiskSpool:
        """Create one in the directory of ``target``. Raises ``OSError``."""
        return DiskSpool(Path(target))

"""Temporary files on disk: implements :class:`flemma.ports.spools.Spools`."""

import contextlib
import os
import tempfile
from pathlib import Path


class DiskSpool:
    """One temporary file."""

    def __init__(self, target: Path) -> None:
        descriptor, self._path = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".part", dir=target.parent
        )
        self._file = os.fdopen(descriptor, "wb")

    @property
    def path(self) -> str:
        """Absolute path."""
        return self._path

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)

    def close(self) -> None:
        """Flush and close; the file stays."""
        self._file.close()

    def discard(self) -> None:
        """Close and remove."""
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            Path(self._path).unlink()


class DiskSpools:
    """Makes temporary files beside their target."""

    def create(self, target: str) -> DiskSpool:
        """Create one in the directory of ``target``. Raises ``OSError``."""
        return DiskSpool(Path(target))

"""Files that are written while output arrives."""

from typing import Protocol


class SpoolFile(Protocol):
    """A temporary file open for writing."""

    @property
    def path(self) -> str:
        """Absolute path."""
        ...

    def write(self, data: bytes) -> None:
        """Append bytes."""
        ...

    def close(self) -> None:
        """Flush and close; the file stays."""
        ...

    def discard(self) -> None:
        """Close and remove."""
        ...


class Spools(Protocol):
    """Makes temporary files."""

    def create(self, target: str) -> SpoolFile:
        """Create one in the directory of ``target``, so that it can be renamed to it. Raises
        ``OSError``."""
        ...

"""Paths that a chat refers to: where they lead, and whether the file changed meanwhile."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from flemma.chat.nodes import Diagnostic, Severity


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chat lives. ``directory`` is absolute: that of the file, else the working one."""

    filename: str | None
    directory: str
    home: str

    @property
    def dirname(self) -> str | None:
        """Directory of the chat file, None for an unnamed buffer."""
        return posixpath.dirname(self.filename) if self.filename else None


def resolve_path(path: str, directory: str, home: str) -> str:
    """Return ``path`` as an absolute path: ``~/`` is the home, relative ones start at
    ``directory``."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return posixpath.normpath(posixpath.join(directory, path))


def drifted(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Return a warning for each included file whose hash changed between two requests.

    Both map absolute paths to hashes; a file that is new or gone is no drift (behaviour 10.4,
    acceptance 112).
    """
    return tuple(
        Diagnostic(
            type="custom:File drift detected (content changed since last request)",
            severity=Severity.WARNING,
            message=f"File changed since last request: {path}",
            reference=path,
        )
        for path, digest in sorted(now.items())
        if before.get(path, digest) != digest
    )

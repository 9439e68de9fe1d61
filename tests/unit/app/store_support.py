"""A result store on a real disk, and a screen that keeps what the user is told."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flemma.adapters.files import LocalFiles
from flemma.adapters.spools import DiskSpools
from flemma.app.store import Backup, ResultStore, version_backup
from flemma.app.store_paths import StoreKey, StoreOptions, StoreSite
from flemma.config.schema import Config
from flemma.ports.editor import Level
from flemma.ports.spools import SpoolFile, Spools
from flemma.templating.text import render_text

KEY = StoreKey("tool", "bash", "toolu_01")
DEFAULTS = Config().tools.store


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render as the composition root does."""
    return render_text(template, variables, now=datetime.now(UTC), pid=4711)


@dataclass
class ToldScreen:
    """Keeps what was said and which events were fired."""

    told: list[tuple[str, Level]] = field(default_factory=list[tuple[str, Level]])
    events: list[tuple[str, Mapping[str, Any]]] = field(
        default_factory=list[tuple[str, Mapping[str, Any]]]
    )

    def notify(self, message: str, level: Level = Level.INFO, *, once: bool = False) -> None:
        """Keep a message."""
        del once
        self.told.append((message, level))

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Keep an event."""
        self.events.append((name, data))

    def progress(self, buffer_id: int, state: Mapping[str, Any] | None) -> None:
        """Nothing is in progress here."""

    def refresh(self, buffer_id: int) -> None:
        """Nothing is drawn here."""


def site(
    filename: str | None = "/home/user/notes/example.chat",
    path_format: str = DEFAULTS.path_format,
    *,
    unnamed: str = DEFAULTS.unnamed_path_format,
    directory: str = "/home/user",
    **environment: str,
) -> StoreSite:
    """Return the place of a store; a chat is in the directory of its file."""
    return StoreSite(
        StoreOptions(path_format, unnamed),
        filename,
        7,
        os.path.dirname(filename) if filename else directory,  # noqa: PTH120 - as the host does
        {"HOME": "/home/user", **environment},
        render,
    )


@dataclass
class Shelf:
    """The store of ``<directory>/work.chat``."""

    directory: Path
    screen: ToldScreen = field(default_factory=ToldScreen)
    backup: Backup | None = field(default_factory=lambda: version_backup(LocalFiles()))
    path_format: str = DEFAULTS.path_format
    spools: Spools = field(default_factory=DiskSpools)

    @property
    def store(self) -> ResultStore:
        """Return the store."""
        place = site(
            str(self.directory / "work.chat"), self.path_format, HOME=str(self.directory / "home")
        )
        return ResultStore(place, LocalFiles(), self.spools, self.screen, self.backup)

    @property
    def root(self) -> Path:
        """Return where its files are."""
        return self.directory / ".flemma" / "work.chat"


class FullDisk:
    """Spools on a disk where nothing fits any more (:class:`flemma.ports.spools.Spools`)."""

    def create(self, target: str) -> SpoolFile:
        """Create one: that much fits."""
        return _FullFile(target)


@dataclass
class _FullFile:
    path: str

    def write(self, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None: ...

    def discard(self) -> None: ...

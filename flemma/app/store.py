"""The tool result store of one buffer: writing, backups, spooled output (spec: tools, "Tool result
store"; behaviour 6)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from flemma.app.store_paths import Render, StoreKey, StoreOptions, next_backup, store_path
from flemma.errors import FlemmaError
from flemma.ports.editor import Level, Screen
from flemma.ports.files import FileKind, Files
from flemma.ports.spools import SpoolFile, Spools

Backup: TypeAlias = Callable[[str], Awaitable[None]]
"""Moves an existing file out of the way. Raises with the reason when it cannot."""


class StoreError(FlemmaError):
    """A store file could not be written; the message is the reason the model or user reads."""


@dataclass(frozen=True, slots=True)
class StoreSite:
    """Which conversation a store belongs to, and how its paths are made."""

    options: StoreOptions
    filename: str | None
    bufnr: int
    environment: Mapping[str, str]
    render: Render

    def path(self, key: StoreKey) -> str:
        """Return the file for ``key``. Raises :class:`FlemmaError`."""
        return store_path(
            self.options, key, self.filename, self.bufnr, self.environment, self.render
        )

    def directory(self) -> str:
        """Return the store directory. Raises :class:`FlemmaError`."""
        return str(PurePosixPath(self.path(StoreKey("tool", "", "_"))).parent)


class ResultStore:
    """Writes store files."""

    def __init__(
        self,
        site: StoreSite,
        files: Files,
        spools: Spools,
        screen: Screen,
        backup: Backup | None,
    ) -> None:
        self._site = site
        self._files = files
        self._spools = spools
        self._screen = screen
        self._backup = backup

    @property
    def directory(self) -> str | None:
        """Directory of the conversation's store, None when it cannot be computed."""
        try:
            return self._site.directory()
        except FlemmaError:
            return None

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that paths may refer to."""
        return self._site.environment

    def path(self, key: StoreKey) -> str:
        """Return the file for ``key``. Raises :class:`FlemmaError`."""
        return self._site.path(key)

    async def copy(self, source: str, target: str) -> None:
        """Copy a store file elsewhere, backing up what is there. Raises :class:`StoreError`."""
        self._make_parent(target)
        await self._back_up(target)
        try:
            await self._files.copy(source, target)
        except OSError as error:
            raise StoreError(f"Failed to open '{target}' for writing: {error.strerror}") from error

    async def write(self, path: str, text: str) -> None:
        """Write ``text``, backing up what is there. Raises :class:`StoreError`."""
        self._make_parent(path)
        await self._back_up(path)
        try:
            await self._files.write(path, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise StoreError(f"Failed to open '{path}' for writing: {error.strerror}") from error

    async def place(self, temporary: str, path: str) -> None:
        """Move a finished spool to ``path``, backing up what is there. Raises
        :class:`StoreError`."""
        await self._back_up(path)
        try:
            await self._files.rename(temporary, path)
        except OSError as error:
            raise StoreError(
                f"Failed to rename '{temporary}' to '{path}': {error.strerror}"
            ) from error

    def for_call(self, key: StoreKey) -> "CallStore":
        """Return the store as one tool call sees it."""
        return CallStore(self, key, self._screen)

    def _make_parent(self, path: str) -> None:
        parent = str(PurePosixPath(path).parent)
        try:
            self._files.make_directories(parent)
        except OSError as error:
            raise StoreError(f"Failed to create directory '{parent}'") from error

    async def _back_up(self, path: str) -> None:
        if self._backup is None or self._files.kind(path) is FileKind.MISSING:
            return
        try:
            await self._backup(path)
        except (OSError, FlemmaError) as error:
            self._screen.notify(f"Store backup failed: {error}", Level.WARN)

    def open_spool(self, path: str) -> "StoreSpool":
        """Open a temporary file beside ``path``. Raises :class:`StoreError`."""
        self._make_parent(path)
        try:
            return StoreSpool(self, path, self._spools.create(path))
        except OSError as error:
            raise StoreError(f"Failed to open '{path}' for writing: {error.strerror}") from error


def version_backup(files: Files) -> Backup:
    """Return the default strategy: rename to the next free ``<stem>.<n>.<ext>``."""

    async def backup(path: str) -> None:
        target = next_backup(path, lambda name: files.kind(name) is not FileKind.MISSING)
        try:
            await files.rename(path, target)
        except OSError as error:
            raise StoreError(f"Failed to rename '{path}' to '{target}'") from error

    return backup


class Backups:
    """Backup strategies by the name in `tools.store.backup`."""

    def __init__(self, files: Files) -> None:
        self._strategies: dict[str, Backup] = {"version": version_backup(files)}

    def register(self, name: str, backup: Backup) -> None:
        """Add a strategy, in place of one of the same name."""
        self._strategies[name] = backup

    def find(self, name: str) -> Backup:
        """Return a strategy; an unknown one fails when it is used, naming those there are."""
        return self._strategies.get(name) or self._unknown(name)

    def _unknown(self, name: str) -> Backup:
        known = ", ".join(sorted(self._strategies))

        async def refuse(path: str) -> None:
            del path
            raise StoreError(f"Unknown backup strategy '{name}' (known: {known})")

        return refuse


class StoreSpool:
    """Output on its way into the store; a store file only when committed."""

    def __init__(self, store: ResultStore, path: str, file: SpoolFile) -> None:
        self._store = store
        self._path = path
        self._file = file

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)

    async def commit(self) -> str:
        """Put it at its path and return the path. Raises :class:`StoreError`."""
        self._file.close()
        await self._store.place(self._file.path, self._path)
        return self._path

    def discard(self) -> None:
        """Remove it."""
        self._file.discard()


class CallStore:
    """The store as one call sees it: implements :class:`flemma.tools.context.OutputStore`.

    A result that cannot be stored is still delivered; the user is warned.
    """

    def __init__(self, store: ResultStore, key: StoreKey, screen: Screen) -> None:
        self._store = store
        self._key = key
        self._screen = screen

    @property
    def directory(self) -> str | None:
        """Directory of the conversation's store."""
        return self._store.directory

    @property
    def path(self) -> str | None:
        """File for the full output of this call."""
        try:
            return self._store.path(self._key)
        except FlemmaError:
            return None

    async def write(self, text: str) -> str | None:
        """Write the full output; None, after a warning, when that failed."""
        try:
            path = self._store.path(self._key)
            await self._store.write(path, text)
        except FlemmaError as error:
            self._warn(error)
            return None
        return path

    async def open_spool(self) -> StoreSpool | None:
        """Open the store file for output that is written while it arrives."""
        try:
            return self._store.open_spool(self._store.path(self._key))
        except FlemmaError as error:
            self._warn(error)
            return None

    def _warn(self, error: FlemmaError) -> None:
        self._screen.notify(f"Could not save full tool output: {error}", Level.WARN)

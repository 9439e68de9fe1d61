"""The tool result store of one buffer: writing, backups, spooled output (spec: tools, "Tool result
store"; behaviour 6)."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePosixPath
from typing import TypeAlias

from flemma.app.store_paths import StoreKey, StoreSite, next_backup
from flemma.errors import FlemmaError
from flemma.ports.editor import Level, Screen
from flemma.ports.files import FileKind, Files
from flemma.ports.spools import SpoolFile, Spools
from flemma.text.safe import without_surrogates

Backup: TypeAlias = Callable[[str], Awaitable[None]]
"""Moves an existing file out of the way. Raises with the reason when it cannot."""


class StoreError(FlemmaError):
    """A store file could not be written; the message is the reason the model or user reads."""


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
            return self._site.store_directory()
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
        """Copy a store file elsewhere, backing up what is there. Raises :class:`StoreError`.

        What is there goes only when the copy is complete.
        """
        spool = self.open_spool(target)
        try:
            await spool.fill(source)
            await spool.commit()
        except StoreError:
            spool.discard()
            raise

    async def write(self, path: str, text: str) -> None:
        """Write ``text``, backing up what is there. Raises :class:`StoreError`."""
        self._make_parent(path)
        await self._back_up(path)
        try:
            await self._files.write(path, without_surrogates(text).encode())
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
        if self._backup is None or self._files.kind(path) is not FileKind.FILE:
            return
        try:
            await self._backup(path)
        except Exception as error:  # noqa: BLE001 - a registered strategy may raise anything
            self._screen.notify(f"Store backup failed: {error}", Level.WARN)

    def open_spool(self, path: str) -> "StoreSpool":
        """Open a temporary file beside ``path``. Raises :class:`StoreError`."""
        self._make_parent(path)
        try:
            return StoreSpool(self, path, self._spools.create(path), self._files)
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

    def __init__(self, store: ResultStore, path: str, file: SpoolFile, files: Files) -> None:
        self._store = store
        self._path = path
        self._file = file
        self._files = files

    def write(self, data: bytes) -> None:
        """Append bytes. Raises :class:`StoreError`."""
        try:
            self._file.write(data)
        except OSError as error:
            raise self._failed(error) from error

    async def fill(self, source: str) -> None:
        """Take the content of a file. Raises :class:`StoreError`."""
        try:
            await self._files.copy(source, self._file.path)
        except OSError as error:
            raise self._failed(error) from error

    async def commit(self) -> str:
        """Put it at its path and return the path. Raises :class:`StoreError`."""
        try:
            self._file.close()
        except OSError as error:
            raise self._failed(error) from error
        await self._store.place(self._file.path, self._path)
        return self._path

    def discard(self) -> None:
        """Remove it."""
        self._file.discard()

    def _failed(self, error: OSError) -> StoreError:
        return StoreError(f"Failed to write '{self._path}': {error.strerror or error}")


class CallSpool:
    """A spool of one call: the user is told when it fails (:class:`flemma.tools.context.Spool`)."""

    def __init__(self, spool: StoreSpool, warn: Callable[[FlemmaError], None]) -> None:
        self._spool = spool
        self._warn = warn

    def write(self, data: bytes) -> None:
        """Append bytes. Raises :class:`StoreError`, after a warning."""
        try:
            self._spool.write(data)
        except StoreError as error:
            self._warn(error)
            raise

    async def commit(self) -> str:
        """Put it at its path and return the path. Raises :class:`StoreError`, after a warning."""
        try:
            return await self._spool.commit()
        except StoreError as error:
            self._warn(error)
            raise

    def discard(self) -> None:
        """Remove it."""
        self._spool.discard()


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

    async def open_spool(self) -> CallSpool | None:
        """Open the store file for output that is written while it arrives."""
        try:
            return CallSpool(self._store.open_spool(self._store.path(self._key)), self._warn)
        except FlemmaError as error:
            self._warn(error)
            return None

    def _warn(self, error: FlemmaError) -> None:
        self._screen.notify(f"Could not save full tool output: {error}", Level.WARN)

"""The Files port on the local disk."""

import asyncio
import contextlib
import errno
import io
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from flemma.ports.files import DirectoryEntry, FileKind

_CHUNK = 1 << 20


class LocalFiles:
    """Reads and writes regular files; anything that could block for ever is refused.

    Work that may wait for a disk runs in a thread.
    """

    def kind(self, path: str) -> FileKind:
        """Tell what ``path`` names without opening it; what cannot be reached is missing."""
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - one system call, no object
        except (OSError, ValueError):
            return FileKind.MISSING
        if stat.S_ISREG(mode):
            return FileKind.FILE
        return FileKind.DIRECTORY if stat.S_ISDIR(mode) else FileKind.OTHER

    def size(self, path: str) -> int:
        """Return the size in bytes."""
        return Path(path).stat().st_size

    async def read(self, path: str, *, limit: int | None = None) -> bytes:
        """Read a regular file, at most ``limit`` bytes. Raises ``OSError``."""
        return await asyncio.to_thread(_read, path, limit)

    async def write(self, path: str, data: bytes) -> None:
        """Replace the content, see :class:`flemma.ports.files.Files`. Raises ``OSError``."""
        await asyncio.to_thread(_write, path, data)

    async def rename(self, source: str, target: str) -> None:
        """Move a file, over an existing one too."""
        await asyncio.to_thread(os.replace, source, target)

    async def copy(self, source: str, target: str) -> None:
        """Copy the content of a regular file, however large."""
        await asyncio.to_thread(_copy, source, target)

    async def count_newlines(self, path: str) -> int:
        """Count the newlines of a regular file, however large."""
        return await asyncio.to_thread(_count_newlines, path)

    async def list(self, path: str) -> Sequence[DirectoryEntry]:
        """List a directory in the file system's order."""
        return await asyncio.to_thread(_list, path)

    def real_path(self, path: str) -> str:
        """Resolve symbolic links as far as the path exists."""
        return os.path.realpath(path)

    def make_directories(self, path: str) -> None:
        """Make a directory and its parents."""
        Path(path).mkdir(parents=True, exist_ok=True)


def _read(path: str, limit: int | None) -> bytes:
    with _open(path) as file:
        return file.read() if limit is None else file.read(limit)


def _open(path: str) -> io.BufferedReader:
    # A FIFO that took the place of the file since it was looked at must not block either.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    try:
        _demand_regular(os.fstat(file.fileno()), path)
    except OSError:
        file.close()
        raise
    return file


def _copy(source: str, target: str) -> None:
    with _open(source) as reading, Path(target).open("wb") as writing:
        shutil.copyfileobj(reading, writing, _CHUNK)


def _count_newlines(path: str) -> int:
    with _open(path) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))


def _list(path: str) -> list[DirectoryEntry]:
    with os.scandir(path) as entries:
        return [
            DirectoryEntry(entry.name, _is_directory(entry), entry.is_symlink())
            for entry in entries
        ]


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a circle of links
        return False


def _write(path: str, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    _make_parent(target)
    try:
        status = target.stat()
    except FileNotFoundError:
        _replace(target, data, None)
        return
    _demand_regular(status, path)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    # A new file in place of the old one would part it from its other names.
    if status.st_nlink > 1 or not _replace(target, data, status):
        _overwrite(target, data)


def _make_parent(target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        reason = os.strerror(errno.ENOTDIR)
        raise NotADirectoryError(errno.ENOTDIR, reason, str(target.parent)) from error


def _replace(target: Path, data: bytes, status: os.stat_result | None) -> bool:
    """Write a file beside the target and rename it over; tell whether that can be done.

    It cannot where the directory takes no new files, or owner or attributes cannot be kept.
    """
    # Names have at most 255 bytes in most file systems.
    beside = target.with_name(f".{target.name[:60]}.{os.urandom(6).hex()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError:
        if status is None:
            raise
        return False
    try:
        with os.fdopen(descriptor, "wb") as file:
            if status is not None and not _keep_attributes(descriptor, target, status):
                return False
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    _sync_directory(target.parent)
    return True


def _keep_attributes(descriptor: int, target: Path, status: os.stat_result) -> bool:
    """Give the new file owner, mode and extended attributes of the old one (case E-14)."""
    made = os.fstat(descriptor)
    try:
        if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    except OSError:
        return False
    if not hasattr(os, "listxattr"):
        return True
    try:
        for name in os.listxattr(target):
            os.setxattr(descriptor, name, os.getxattr(target, name))
    except OSError as error:
        return error.errno == errno.ENOTSUP
    return True


def _overwrite(target: Path, data: bytes) -> None:
    with target.open("r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(directory: Path) -> None:
    # Not every file system lets a directory be synced; the file itself is safe by now.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _demand_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", path)

"""`flemma.path`: path helpers of templates (spec: tools, "Store location")."""

import posixpath
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath


def flatten(path: str) -> str:
    """Return an absolute path as one file name: ``home--user--notes.chat``."""
    return path.lstrip("/").replace("/", "--")


def _basename(path: str) -> str:
    return posixpath.basename(path)


def _dirname(path: str) -> str:
    return posixpath.dirname(path)


def _extension(path: str) -> str:
    return PurePosixPath(path).suffix[1:]


def _join(*parts: str) -> str:
    return posixpath.join(*parts)


def _normalize(path: str) -> str:
    return posixpath.normpath(path)


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


PATH: Mapping[str, Callable[..., str]] = {
    "basename": _basename,
    "dirname": _dirname,
    "extension": _extension,
    "flatten": flatten,
    "join": _join,
    "normalize": _normalize,
    "stem": _stem,
}

"""What a confined command may write: from `sandbox.policy.rw_paths` to a decision.

Pure: whoever calls brings the directories, the environment and the look at the disk
(spec: behaviour 13.1; cases K-04, K-05).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flemma.errors import ConfigError

_URN = "urn:"
_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):-(.*)\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PathVariables:
    """What entries of `rw_paths` can stand for. None: there is no such directory."""

    cwd: str
    home: str
    buffer_directory: str | None = None
    store_directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def expand_paths(entries: Iterable[str], variables: PathVariables) -> tuple[str, ...]:
    """Expand URNs, ``$VAR``, ``${VAR:-default}`` and ``~``; only where they are the whole entry
    (``~/`` is a prefix). What expands to nothing is dropped.

    Raises :class:`flemma.errors.ConfigError` for an unknown URN.
    """
    found = (_expanded(entry, variables) for entry in entries)
    return tuple(path for path in found if path)


def writable_roots(
    paths: Iterable[str], real_path: Callable[[str], str], exists: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return real, existing paths, sorted, without those that lie under another one.

    ``/tmp`` covers ``/tmp/x`` but not ``/tmpfs`` (acceptance 109).
    """
    resolved = sorted({without_trailing_slash(real_path(path)) for path in paths if exists(path)})
    roots: list[str] = []
    for path in resolved:
        if not is_writable(path, roots):
            roots.append(path)
    return tuple(roots)


def is_writable(real_path: str, roots: Sequence[str]) -> bool:
    """Tell whether a real path equals a root or lies under one."""
    path = without_trailing_slash(real_path)
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)


def without_trailing_slash(path: str) -> str:
    """Return ``path`` without slashes at its end; the root stays (case K-04)."""
    return path.rstrip("/") or "/"


def _expanded(entry: str, variables: PathVariables) -> str | None:
    if entry.startswith(_URN):
        return _urn(entry, variables)
    if match := _VARIABLE.fullmatch(entry):
        return variables.environment.get(match[1] or match[2])
    if match := _VARIABLE_WITH_DEFAULT.fullmatch(entry):
        # As in a shell with `:-`, an empty variable counts as unset.
        return variables.environment.get(match[1]) or _with_home(match[2], variables)
    return _with_home(entry, variables)


def _urn(entry: str, variables: PathVariables) -> str | None:
    match entry:
        case "urn:flemma:cwd":
            return variables.cwd
        case "urn:flemma:buffer:path":
            return variables.buffer_directory
        case "urn:flemma:store":
            return variables.store_directory
        case _:
            raise ConfigError(
                f"flemma: unknown URN variable '{entry}'", path="sandbox.policy.rw_paths"
            )


def _with_home(path: str, variables: PathVariables) -> str:
    if path == "~" or path.startswith("~/"):
        return variables.home + path[1:]
    if not path or path.startswith("/"):
        return path
    return f"{variables.cwd.rstrip('/')}/{path}"

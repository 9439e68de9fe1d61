"""Where the result store keeps a file: pure computation (spec: tools, "Store location"; 6.2)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from flemma.errors import ConfigError

PRESETS = {
    "$chat": (
        "{{ __dirname }}/.flemma/{{ flemma.path.basename(__filename) }}"
        "/{{ source }}_{{ name }}_{{ id }}.txt"
    ),
    "$state": (
        "${XDG_STATE_HOME:-$HOME/.flemma}/flemma/store/{{ flemma.path.flatten(__filename) }}"
        "/{{ source }}_{{ name }}_{{ id }}.txt"
    ),
}

Render = Callable[[str, Mapping[str, Any]], str]
"""Renders a template with variables on top of the standard templating environment."""

_PRESET = re.compile(r"\$\w+")
_REFERENCE = re.compile(r"\$\{(\w+):-((?:[^{}]|\$\{\w+\})*)\}|\$\{(\w+)\}|\$(\w+)")
_DOLLAR = "\0"
"""Stands for a ``$`` in the path of the chat while references are expanded; no path holds it."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The options `tools.store.path_format` and `tools.store.unnamed_path_format`."""

    path_format: str
    unnamed_path_format: str


@dataclass(frozen=True, slots=True)
class StoreKey:
    """What a store file belongs to: ``source`` is `tool` or `job`."""

    source: str
    tool_name: str
    identifier: str


@dataclass(frozen=True, slots=True)
class StoreSite:
    """Which conversation a store belongs to, and how its paths are made."""

    options: StoreOptions
    filename: str | None
    """Absolute path of the chat, None for a buffer without a file."""
    bufnr: int
    directory: str
    """Where relative templates start: the directory of the chat, else the working directory."""
    environment: Mapping[str, str]
    render: Render

    def path(self, key: StoreKey) -> str:
        """Return the absolute path of the file for ``key``.

        Raises :class:`ConfigError` for an unknown preset or a preset for unnamed buffers, and what
        ``render`` raises.
        """
        name = _UNSAFE.sub("--", key.tool_name.replace(".", "__"))
        rendered = self.render(template_of(self.options, self.filename), self._variables(key, name))
        expanded = expand_environment(rendered, self.environment).replace(_DOLLAR, "$")
        if not expanded.startswith("/"):
            expanded = f"{self.directory}/{expanded}"
        # The chat's own directory is called what it is called; only the rest was made here.
        return tidied(normalise(expanded), name, keep=normalise(self.directory))

    def store_directory(self) -> str:
        """Return the directory of the store. Raises as :meth:`path` does."""
        return str(PurePosixPath(self.path(StoreKey("tool", "", "_"))).parent)

    def _variables(self, key: StoreKey, name: str) -> Mapping[str, Any]:
        chat = None if self.filename is None else self.filename.replace("$", _DOLLAR)
        return {
            "source": key.source,
            "name": name,
            "id": _UNSAFE.sub("--", key.identifier),
            "bufnr": self.bufnr,
            "__filename": chat,
            "__dirname": None if chat is None else str(PurePosixPath(chat).parent),
        }


def template_of(options: StoreOptions, filename: str | None) -> str:
    """Return the template for a named or an unnamed buffer. Raises :class:`ConfigError`."""
    if filename is None:
        if _PRESET.fullmatch(options.unnamed_path_format):
            raise ConfigError(
                "Presets are not supported in unnamed_path_format "
                "(no chat file path to derive from)",
                path="tools.store.unnamed_path_format",
            )
        return options.unnamed_path_format
    if not _PRESET.fullmatch(options.path_format):
        return options.path_format
    if options.path_format not in PRESETS:
        raise ConfigError(
            f"Unknown store preset '{options.path_format}' (known: $chat, $state)",
            path="tools.store.path_format",
        )
    return PRESETS[options.path_format]


def expand_environment(text: str, environment: Mapping[str, str]) -> str:
    """Expand ``${VAR:-default}``, ``${VAR}`` and ``$VAR`` (unset is empty), and a leading ``~/``.

    A default may refer to variables itself; what a variable holds is not expanded again.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] is not None:
            return environment.get(match[1]) or _REFERENCE.sub(value, match[2])
        return environment.get(match[3] or match[4], "")

    expanded = _REFERENCE.sub(value, text)
    home = environment.get("HOME", "")
    if home and (expanded == "~" or expanded.startswith("~/")):
        return home + expanded[1:]
    return expanded


def normalise(path: str) -> str:
    """Return an absolute path without ``.``, ``..`` and doubled slashes."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/" + "/".join(parts)


def tidied(path: str, name: str, *, keep: str = "/") -> str:
    """Take what templates repeat out of a path (spec: behaviour 6.2, 6 and 7).

    A segment ``flemma`` right after ``flemma`` or ``.flemma`` goes, and the second of two tool
    names in a row within a segment. The directory ``keep``, if ``path`` lies in it, stays.
    """
    segments = path.split("/")
    fixed = len(keep.split("/")) if path.startswith(f"{keep}/") else 1
    kept = segments[:fixed]
    for segment in segments[fixed:]:
        if segment != "flemma" or kept[-1] not in ("flemma", ".flemma"):
            kept.append(_without_repeated_name(segment, name))
    return "/".join(kept)


def _without_repeated_name(segment: str, name: str) -> str:
    """Drop the second of two tool names in a row: ``bash_bash--1`` becomes ``bash--1``."""
    if not name:
        return segment
    quoted = re.escape(name)
    repeated = re.compile(rf"(?<![A-Za-z0-9]){quoted}[^A-Za-z0-9]{quoted}(?![A-Za-z0-9])")
    shorter = repeated.sub(lambda _: name, segment)
    return shorter if shorter == segment else _without_repeated_name(shorter, name)


def next_backup(path: str, exists: Callable[[str], bool]) -> str:
    """Return the next free ``<stem>.<n>.<ext>`` beside ``path`` (spec: behaviour 6.3)."""
    pure = PurePosixPath(path)
    number = 1
    while True:
        name = f"{pure.stem}.{number}{pure.suffix}" if pure.suffix else f"{pure.name}.{number}"
        candidate = str(pure.with_name(name))
        if not exists(candidate):
            return candidate
        number += 1

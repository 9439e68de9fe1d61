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
_WITH_DEFAULT = re.compile(r"\$\{(\w+):-((?:[^{}]|\$\{\w+\})*)\}")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
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


def store_path(
    options: StoreOptions,
    key: StoreKey,
    filename: str | None,
    bufnr: int,
    environment: Mapping[str, str],
    render: Render,
) -> str:
    """Return the absolute path of a store file.

    Raises :class:`ConfigError` for an unknown preset or a preset for unnamed buffers, and what
    ``render`` raises.
    """
    wire_name = key.tool_name.replace(".", "__")
    variables = {
        "source": key.source,
        "name": wire_name,
        "id": _UNSAFE.sub("--", key.identifier),
        "bufnr": bufnr,
    }
    rendered = render(template_of(options, filename), variables)
    path = normalise(expand_environment(rendered, environment))
    return without_repeated_name(collapse_namespace(path), wire_name)


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
    """Expand ``${VAR:-default}``, then ``$VAR`` (unset is empty), then a leading ``~/``."""

    def with_default(match: re.Match[str]) -> str:
        return environment.get(match[1]) or match[2]

    def variable(match: re.Match[str]) -> str:
        return environment.get(match[1] or match[2], "")

    expanded = _VARIABLE.sub(variable, _WITH_DEFAULT.sub(with_default, text))
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


def collapse_namespace(path: str) -> str:
    """Remove a segment ``flemma`` right after ``flemma`` or ``.flemma``."""
    kept: list[str] = []
    for part in path.split("/"):
        if part == "flemma" and kept and kept[-1] in ("flemma", ".flemma"):
            continue
        kept.append(part)
    return "/".join(kept)


def without_repeated_name(path: str, name: str) -> str:
    """Drop the second of two tool names in a row: ``bash_bash--1`` becomes ``bash--1``."""
    if not name:
        return path
    quoted = re.escape(name)
    repeated = re.compile(rf"(?<![A-Za-z0-9]){quoted}[^A-Za-z0-9/]{quoted}(?![A-Za-z0-9])")
    while True:
        shorter = repeated.sub(lambda _: name, path)
        if shorter == path:
            return path
        path = shorter


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

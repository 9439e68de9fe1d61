"""Presets: named choices of model, parameters, tools and approval (spec: behaviour 9.8)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flemma.config.modeline import parse_arguments
from flemma.config.shapes import items_of, table_of, type_name
from flemma.config.writer import split_positional
from flemma.errors import ConfigError

_NAME = re.compile(r"\$[a-z].*")
_FIELDS = ("provider", "model", "parameters", "auto_approve", "tools")


@dataclass(frozen=True, slots=True)
class Preset:
    """One preset; what is None or empty it leaves alone."""

    name: str
    provider: str | None = None
    model: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    auto_approve: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None

    @property
    def selects_model(self) -> bool:
        """Whether it can be switched to; the others are only for `auto_approve` and `tools`."""
        return self.provider is not None or self.model is not None


Presets = Mapping[str, Preset]

BUILTIN: Presets = {
    "$readonly": Preset("$readonly", auto_approve=("read", "find", "grep", "ls")),
    "$standard": Preset(
        "$standard",
        auto_approve=("read", "write", "edit", "find", "grep", "ls", "flemma.*"),
    ),
}


class _Bad(Exception):
    pass


def is_preset_name(text: object) -> bool:
    """Tell whether ``text`` is written like the name of a preset."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def read_presets(definitions: Mapping[str, object]) -> tuple[Presets, tuple[ConfigError, ...]]:
    """Read what users defined over the built-in presets; bad ones are skipped with a warning.

    A preset of the name of a built-in one replaces it entirely.
    """
    presets = dict(BUILTIN)
    warnings: list[str] = []
    errors: list[ConfigError] = []
    for name, definition in definitions.items():
        try:
            presets[name] = _read(name, definition, warnings)
        except _Bad as bad:
            warnings.append(str(bad))
        errors += [
            ConfigError(warning, path=f"presets.{name}", layer="setup") for warning in warnings
        ]
        warnings.clear()
    return presets, tuple(errors)


def unknown_tools(presets: Presets, tools: Iterable[str]) -> tuple[ConfigError, ...]:
    """Return a warning for each tool a user's preset names and nobody registered."""
    known = set(tools)
    found: list[ConfigError] = []
    for preset in presets.values():
        if preset is BUILTIN.get(preset.name):
            continue
        for place, names in (("auto_approve", preset.auto_approve), ("tools", preset.tools)):
            found += [
                ConfigError(
                    f"Preset '{preset.name}' references unknown tool '{name}' in {place}",
                    path=f"presets.{preset.name}.{place}",
                    layer="setup",
                )
                for name in names or ()
                if (bare := name.lstrip("+^!")) not in known
                and "*" not in bare
                and not bare.startswith("$")
            ]
    return tuple(found)


def expand(items: Sequence[object], presets: Presets) -> list[tuple[str, str | None]]:
    """Put the members of presets in place of their names in an `auto_approve` list.

    Each entry comes with the preset it is from. Unknown presets vanish, duplicates keep their
    first place, and presets do not nest (spec: behaviour 3.3).
    """
    found: dict[str, str | None] = {}
    for item in items:
        if not isinstance(item, str):
            continue
        if item.startswith("$"):
            preset = presets.get(item)
            for member in (preset.auto_approve or ()) if preset else ():
                found.setdefault(member, item)
        else:
            found.setdefault(item, None)
    return list(found.items())


def _read(name: str, definition: object, warnings: list[str]) -> Preset:
    if not is_preset_name(name):
        raise _Bad(
            f"Preset '{name}' ignored — name must start with '$' followed by a lowercase letter"
        )
    if isinstance(definition, str):
        return _read_string(name, definition)
    table, items = table_of(definition), items_of(definition)
    if items is not None:
        return _read_table(name, items, {}, warnings)
    if table is not None:
        return _read_table(name, *split_positional(table), warnings)
    received = type_name(definition)
    raise _Bad(f"Preset '{name}' must be a table or string, received {received}")


def _read_string(name: str, text: str) -> Preset:
    arguments = parse_arguments(text)
    provider, model, rest = split_model(arguments.positionals)
    if provider is None or model is None:
        raise _Bad(f"Preset '{name}' string definitions must start with '<provider> <model>'")
    if rest:
        raise _Bad(f"Preset '{name}' contains unexpected positional argument: {rest[0]}")
    parameters = {key: value for key, value in arguments.keywords if value is not None}
    return Preset(name, provider, model, parameters)


def split_model(words: Sequence[str]) -> tuple[str | None, str | None, Sequence[str]]:
    """Return provider, model and the rest of ``words``; `provider/model` is one word for both."""
    match words:
        case [first, *rest] if "/" in first:
            provider, model = first.split("/", 1)
            return provider or None, model or None, rest
        case [provider, model, *rest]:
            return provider, model, rest
        case [provider]:
            return provider, None, ()
        case _:
            return None, None, ()


def _read_table(
    name: str, positional: Sequence[object], named: Mapping[str, object], warnings: list[str]
) -> Preset:
    extra = positional[2:]
    if extra:
        listed = ", ".join(str(value) for value in extra)
        warnings.append(
            f"Preset '{name}' ignores additional positional values ({listed}) beyond provider/model"
        )
    provider = _text(name, "provider", named.get("provider", _at(positional, 0)))
    model = _text(name, "model", named.get("model", _at(positional, 1)))
    if provider and "/" in provider and model is None:
        provider, model = provider.split("/", 1)
    return Preset(
        name,
        provider,
        model,
        _parameters(name, named),
        _names(name, "auto_approve", named.get("auto_approve")),
        _names(name, "tools", named.get("tools")),
    )


def _at(values: Sequence[object], index: int) -> object:
    return values[index] if index < len(values) else None


def _text(name: str, place: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise _Bad(f"Preset '{name}' has an invalid {place} field")


def _names(name: str, place: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if value == {}:
        return ()
    items = items_of(value)
    if items is not None:
        names = tuple(item for item in items if isinstance(item, str))
        if len(names) == len(items):
            return names
    raise _Bad(f"Preset '{name}' {place} must be a string[], got {type_name(value)}")


def _parameters(name: str, named: Mapping[str, object]) -> dict[str, object]:
    flat = {key: value for key, value in named.items() if key not in _FIELDS}
    nested = named.get("parameters")
    if not nested:
        return flat
    table = table_of(nested)
    if table is None:
        raise _Bad(f"Preset '{name}' parameters must be a table, got {type_name(nested)}")
    return {**flat, **{str(key): value for key, value in table.items()}}

"""Replay the layers: the options of one buffer, and where each came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from flemma.config.catalogue import Catalogue, Item, Kind, catalogue
from flemma.config.default_preset import expand_model
from flemma.config.layers import Entry, Layer, Layers, Op, replay
from flemma.config.options import Path
from flemma.config.presets import Presets, read_presets
from flemma.config.schema import Config
from flemma.config.setup import plain
from flemma.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote a value: the layer, and the line inside the frontmatter block."""

    layer: Layer
    line: int | None = None


DEFAULT_ORIGIN = (Origin(Layer.DEFAULTS),)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the layers come to. ``config`` is what the rest of Flemma reads."""

    config: Config
    layers: Layers
    """With a `$preset` in `model` already written out (spec: behaviour 9.1, materialize)."""
    presets: Presets
    errors: tuple[ConfigError, ...]
    catalogue: Catalogue
    values: Mapping[Path, object]
    origins: Mapping[Path, tuple[Origin, ...]]

    def value(self, path: Path) -> object:
        """Return the value at ``path``, a section as a table; None for an unknown path."""
        path = self.catalogue.canonical(path)
        if path in self.values:
            return plain(self.values[path])
        item = self.catalogue.find(path)
        if item is None or item.kind is Kind.DISCOVERED:
            return plain(_subtree(self.values, path)) or None
        if item.kind is Kind.SECTION:
            return self.section(item)
        return plain(_read(self.config, path))

    def section(self, item: Item) -> dict[str, object]:
        """Return a section as a table, registered subtrees included."""
        found: dict[str, object] = {
            child: self.value((*item.path, child)) for child in item.children
        }
        if item.discovers:
            for name, subtree in _subtree(self.values, item.path).items():
                if name not in found:
                    found[name] = plain(subtree)
        return found

    def inspect(self, path: Path) -> tuple[object, str]:
        """Return the value at ``path`` and the letters of the layers that made it."""
        return self.value(path), letters(self.origin(path))

    def origin(self, path: Path) -> tuple[Origin, ...]:
        """Return who wrote the value at ``path``, lowest layer first; of a section, all of it."""
        path = self.catalogue.canonical(path)
        if path in self.origins:
            return self.origins[path]
        below = {
            origin
            for other, origins in self.origins.items()
            if other[: len(path)] == path
            for origin in origins
        }
        return tuple(sorted(below, key=lambda o: (o.layer, o.line or 0))) or DEFAULT_ORIGIN

    def tool_table(self, name: str) -> dict[str, object] | None:
        """Return `tools.<name>` as a table of its own, None if there is none."""
        item = self.catalogue.find(("tools", name))
        if item is None or item.kind not in (Kind.SECTION, Kind.DISCOVERED):
            return None
        return cast("dict[str, object] | None", self.value(("tools", name)))


def letters(origins: Sequence[Origin]) -> str:
    """Return the letters of the layers of ``origins``, lowest first."""
    return "".join(layer.letter for layer in sorted({origin.layer for origin in origins}))


def resolve(layers: Layers, known: Catalogue | None = None) -> Resolved:
    """Replay ``layers`` from the lowest up (spec: behaviour 9.1).

    The highest `set` of a scalar wins; lists accumulate; open tables and sections merge leaf by
    leaf. A nil shadows what lower layers set: the option is nil where it may be, else its default.
    """
    known = known or catalogue()
    presets, preset_errors = read_presets(_presets(layers))
    expanded, model_errors = expand_model(layers, presets, known)
    values: dict[Path, object] = {}
    origins: dict[Path, tuple[Origin, ...]] = {}
    for entry in expanded.entries():
        _apply(entry, known, values, origins)
    config = cast("Config", _build(known.items[()], values, known))
    return Resolved(config, expanded, presets, preset_errors + model_errors, known, values, origins)


def _presets(layers: Layers) -> dict[str, object]:
    found: dict[str, object] = {}
    for entry in layers.entries():
        operation = entry.operation
        if operation.path == ("presets",):
            found.clear()
        elif operation.path[0] == "presets":
            found[operation.path[1]] = operation.value
    return {name: value for name, value in found.items() if value is not None}


def _apply(
    entry: Entry,
    known: Catalogue,
    values: dict[Path, object],
    origins: dict[Path, tuple[Origin, ...]],
) -> None:
    operation = entry.operation
    origin = Origin(entry.layer, operation.line)
    path = operation.path
    if operation.op is not Op.SET:
        item = known.find(path)
        before = values.get(path, item.default if item else ())
        if item is not None and item.own_list is not None and path not in values:
            pass  # starts at all enabled tools, which flemma.config.tool_selection knows
        elif not callable(before):
            values[path] = replay(
                cast("Sequence[object]", before or ()), operation.op, operation.value
            )
            origins[path] = (*origins.get(path, DEFAULT_ORIGIN), origin)
        return
    origins[path] = (origin,)
    if operation.value is not None:
        values[path] = operation.value
        return
    item = known.find(path)
    for other in [other for other in values if other[: len(path)] == path]:
        del values[other]
    if item is not None and item.kind in (Kind.SCALAR, Kind.LIST) and item.shape.nullable:
        values[path] = None


def _build(section: Item, values: Mapping[Path, object], known: Catalogue) -> object:
    depth = len(section.path)
    mine = {path: value for path, value in values.items() if path[:depth] == section.path}
    if not mine:
        return section.default
    changes: dict[str, Any] = {}
    if section.own_list is not None and section.path in mine:
        changes["names"] = tuple(cast("Sequence[str]", mine[section.path]))
    touched = {path[depth] for path in mine if len(path) > depth}
    for child in section.children:
        if child in touched:
            changes[child] = _child(known.items[(*section.path, child)], mine, known)
    registered = touched.difference(section.children)
    if section.discovers and registered:
        subtree = _subtree(mine, section.path)
        changes["registered"] = {name: subtree[name] for name in sorted(registered)}
    return replace(section.default, **changes)


def _child(item: Item, values: Mapping[Path, object], known: Catalogue) -> object:
    match item.kind:
        case Kind.SECTION:
            return _build(item, values, known)
        case Kind.TABLE:
            return _subtree(values, item.path)
        case _:
            value = values[item.path]
            return tuple(cast("Sequence[object]", value)) if isinstance(value, list) else value


def _subtree(values: Mapping[Path, object], path: Path) -> dict[str, Any]:
    """Return what was set below ``path`` as nested tables."""
    found: dict[str, Any] = {}
    for other, value in values.items():
        if len(other) > len(path) and other[: len(path)] == path and value is not None:
            _insert(found, other[len(path) :], value)
    return found


def _insert(table: dict[str, Any], path: Path, value: object) -> None:
    for segment in path[:-1]:
        below = table.get(segment)
        if not isinstance(below, dict):
            below = table[segment] = {}
        table = cast("dict[str, Any]", below)
    table[path[-1]] = value


def _read(config: Config, path: Path) -> object:
    value: object = config
    for segment in path:
        if isinstance(value, Mapping):
            value = cast("Mapping[str, object]", value).get(segment)
        else:
            value = getattr(value, segment)
    return value

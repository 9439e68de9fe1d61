"""Which tools a buffer offers to the model (spec: tools, "Per-buffer tool selection").

Names and globs stay as they were written; they are looked up each time against what is registered
by then. While tool sources are still loading, what matches nothing is passed over; once all are
ready, :func:`selection_errors` says what still matches nothing (spec: behaviour 9.7).
"""

from collections.abc import Iterable, Sequence

from flemma.config.layers import Entry, Layers, Op, replay
from flemma.config.options import Path
from flemma.config.shapes import items_of
from flemma.errors import ConfigError
from flemma.text.globs import is_glob, matches
from flemma.text.suggest import closest

PATH: Path = ("tools",)


def selected_tools(
    layers: Layers, registered: Sequence[str], enabled: Iterable[str]
) -> tuple[str, ...]:
    """Return the names of the tools in force: all of ``enabled``, changed by the layers.

    ``registered`` are all known names, disabled ones too: these can be asked for by name or glob.
    """
    selection: list[object] = list(dict.fromkeys(enabled))
    for entry in layers.entries_at(PATH):
        operation = entry.operation
        names = [name for item in _items(entry) for name in expand_names(str(item), registered)]
        if operation.op is Op.SET:
            selection = list(dict.fromkeys(names)) if operation.value is not None else list(enabled)
            continue
        for name in reversed(names) if operation.op is Op.PREPEND else names:
            selection = replay(selection, operation.op, name)
    return tuple(str(name) for name in selection)


def expand_names(entry: str, registered: Sequence[str]) -> list[str]:
    """Return the registered names that ``entry``, a name or a glob, stands for, globs sorted."""
    if is_glob(entry):
        return sorted(name for name in registered if matches(entry, name))
    return [entry] if entry in registered else []


def selection_errors(layers: Layers, registered: Sequence[str]) -> tuple[ConfigError, ...]:
    """Return what the layers name and nobody registered. Only meaningful once all is loaded."""
    found: list[ConfigError] = []
    for entry in layers.entries_at(PATH):
        for item in _items(entry):
            name = str(item)
            if not expand_names(name, registered):
                found.append(
                    ConfigError(
                        _complaint(name, registered),
                        path="tools",
                        layer=entry.layer.name.lower(),
                        line=entry.operation.line,
                    )
                )
    return tuple(found)


def _items(entry: Entry) -> Sequence[object]:
    operation = entry.operation
    if operation.op is Op.SET:
        return items_of(operation.value) or ()
    return (operation.value,)


def _complaint(name: str, registered: Sequence[str]) -> str:
    if is_glob(name):
        return f"Glob pattern '{name}' matched no tools"
    suggestion = closest(name, registered)
    hint = f" -- did you mean '{suggestion}'?" if suggestion else ""
    return f"Unknown tool '{name}'{hint}"

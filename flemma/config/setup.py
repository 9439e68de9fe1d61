"""The options a user gives to `setup()`, and those of commands, as operations."""

from collections.abc import Mapping, Sequence
from typing import cast

from flemma.config.catalogue import Catalogue, catalogue
from flemma.config.layers import Layer, Operation
from flemma.config.options import Path, dotted
from flemma.config.writer import Fault, Problem, Writer, setup_message
from flemma.errors import ConfigError

Written = tuple[tuple[Operation, ...], tuple[ConfigError, ...]]
"""What could be read, and what could not."""


def read_setup(
    options: Mapping[str, object] | Sequence[object],
    known: Catalogue | None = None,
    layer: Layer = Layer.SETUP,
) -> Written:
    """Read the table of `setup()`; every bad entry is reported and the rest is kept.

    An empty table arrives as an empty list. At `tools` it stands for "no options" and not for "no
    tools": `{ "!*" }` takes all tools away.
    """
    writer = Writer(known or catalogue())
    if isinstance(options, Mapping):
        for key, value in options.items():
            if (key, value) == ("tools", []):
                continue
            writer.assign((str(key),), value)
    elif options:
        writer.assign((), options)
    return finish(writer, layer)


def read_values(
    values: Sequence[tuple[Path, object]], layer: Layer, known: Catalogue | None = None
) -> Written:
    """Read single values, such as the parameters of a command."""
    writer = Writer(known or catalogue())
    for path, value in values:
        writer.assign(path, value)
    return finish(writer, layer)


def finish(writer: Writer, layer: Layer) -> Written:
    """Return what ``writer`` holds, its problems as errors of ``layer``."""
    return tuple(writer.operations), tuple(to_error(problem, layer) for problem in writer.problems)


def to_error(problem: Problem, layer: Layer) -> ConfigError:
    """Return ``problem`` as an error that names its layer."""
    path = dotted(problem.path)
    if problem.fault is Fault.NOT_A_SECTION:
        path = f"{path}.{problem.reason}"
    return ConfigError(
        setup_message(problem), path=path, layer=layer.name.lower(), line=problem.line
    )


def setup_notice(errors: Sequence[ConfigError]) -> str | None:
    """Return the one notice for the user about ``errors``, or None (spec: behaviour 9.2).

    Each line but the list of unknown keys ends in the layer that is to be mended.
    """
    unknown = [error.path for error in errors if error.message.startswith("unknown key")]
    lines = [f"unknown config keys: {', '.join(unknown)}"] if unknown else []
    lines += [
        f"{error.message} ({error.layer})" if error.layer else error.message
        for error in errors
        if error.path not in unknown or " -- did you mean" in error.message
    ]
    return "\n".join(lines) or None


def unregistered(operations: Sequence[Operation], known: Catalogue, layer: Layer) -> Written:
    """Split ``operations`` into those that name existing things and errors about the others.

    To be called once everything is registered: subtrees such as `tools.<tool>` are accepted on
    trust before (spec: behaviour 9.2).
    """
    good: list[Operation] = []
    bad: dict[Path, Operation] = {}
    for operation in operations:
        owner = _discovered_owner(operation.path, known)
        if owner is None or owner[-1] in known.registered.get(owner[:-1], frozenset()):
            good.append(operation)
        else:
            bad.setdefault(owner, operation)
    writer = Writer(known)
    for owner, operation in bad.items():
        writer.unknown(owner, operation.line)
    return tuple(good), finish(writer, layer)[1]


def _discovered_owner(path: Path, known: Catalogue) -> Path | None:
    if path in known.items:
        return None
    for length in range(len(path) - 1, 0, -1):
        section = known.items.get(path[:length])
        if section is not None:
            return path[: length + 1] if section.discovers else None
    return None


def plain(value: object) -> object:
    """Return ``value`` with lists in place of tuples, as Lua and JSON want it."""
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in cast("Mapping[str, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in cast("Sequence[object]", value)]
    return value

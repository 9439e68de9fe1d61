"""The layers of settings: an operation log each (spec: behaviour 9.1).

Nothing is ever merged in place: a layer is the list of what was written to it, and
:func:`flemma.config.resolve.resolve` replays all of them. Removing a line of a frontmatter
therefore has no lasting effect, and every value knows where it came from.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from flemma.config.options import Path


class Layer(IntEnum):
    """Where an operation was written; a higher layer wins."""

    DEFAULTS = 10
    SETUP = 20
    RUNTIME = 30
    FRONTMATTER = 40

    @property
    def letter(self) -> str:
        """The letter shown on the status page."""
        return self.name[0]


class Op(StrEnum):
    """What an operation does to the value below."""

    SET = "set"
    APPEND = "append"
    REMOVE = "remove"
    PREPEND = "prepend"


@dataclass(frozen=True, slots=True)
class Operation:
    """One write. ``value`` is the whole value of a set, one item of the other operations.

    ``line`` is 1-based inside the frontmatter block (the fence is line 0), None elsewhere.
    """

    op: Op
    path: Path
    value: object
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An operation with the layer it was written to."""

    layer: Layer
    operation: Operation


@dataclass(frozen=True, slots=True)
class Layers:
    """All four logs of one buffer; the first three are shared by all buffers."""

    defaults: tuple[Operation, ...] = ()
    setup: tuple[Operation, ...] = ()
    runtime: tuple[Operation, ...] = ()
    frontmatter: tuple[Operation, ...] = ()

    def log(self, layer: Layer) -> tuple[Operation, ...]:
        """Return the operations of ``layer`` in the order they were written."""
        match layer:
            case Layer.DEFAULTS:
                return self.defaults
            case Layer.SETUP:
                return self.setup
            case Layer.RUNTIME:
                return self.runtime
            case Layer.FRONTMATTER:
                return self.frontmatter

    def with_log(self, layer: Layer, operations: Iterable[Operation]) -> "Layers":
        """Return layers in which the log of ``layer`` is ``operations``."""
        return replace(self, **{layer.name.lower(): tuple(operations)})

    def extended(self, layer: Layer, operations: Iterable[Operation]) -> "Layers":
        """Return layers in which ``operations`` were written to ``layer`` as well."""
        return self.with_log(layer, (*self.log(layer), *operations))

    def entries(self) -> Iterator[Entry]:
        """Yield all operations, lowest layer first."""
        for layer in Layer:
            for operation in self.log(layer):
                yield Entry(layer, operation)

    def entries_at(self, path: Path) -> Iterator[Entry]:
        """Yield the operations on exactly ``path``, lowest layer first."""
        return (entry for entry in self.entries() if entry.operation.path == path)


def layer_has_set(layers: Layers, layer: Layer, path: Path) -> bool:
    """Tell whether ``layer`` has a `set` on ``path``."""
    return any(operation.op is Op.SET and operation.path == path for operation in layers.log(layer))


def layer_has_op(layers: Layers, layer: Layer, op: Op, path: Path, value: object) -> bool:
    """Tell whether ``layer`` has the list operation ``op`` with item ``value`` on ``path``."""
    return Operation(op, path, value) in [
        replace(operation, line=None) for operation in layers.log(layer)
    ]


def replay(items: Sequence[object], op: Op, item: object) -> list[object]:
    """Return list ``items`` after one list operation (spec: behaviour 9.1, acceptance 94).

    Appending or prepending an item that is there already moves it; removing one that is not there
    does nothing.
    """
    rest = [other for other in items if other != item]
    match op:
        case Op.APPEND:
            return [*rest, item]
        case Op.PREPEND:
            return [item, *rest]
        case Op.REMOVE:
            return rest
        case Op.SET:
            raise ValueError("a set replaces the list; it is not an operation on its items")


def dump_layer(layers: Layers, layer: Layer) -> list[str]:
    """Return the log of ``layer`` as readable lines, for the verbose status page."""
    return [
        f"{operation.op} {'.'.join(operation.path)} = {operation.value!r}"
        + (f" (line {operation.line})" if operation.line is not None else "")
        for operation in layers.log(layer)
    ]

"""From a value written at a path to operations: the one door into every layer.

Setup, presets, commands and the frontmatter of every language write through a :class:`Writer`. It
follows short forms, coerces, checks, takes lists with operators apart, and collects what is wrong,
so that one bad value never keeps the good ones out (spec: behaviour 9.2 to 9.6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import cast

from flemma.config.catalogue import Catalogue, Item, Kind
from flemma.config.layers import Op, Operation
from flemma.config.options import Path, dotted
from flemma.config.shapes import Mismatch, Shape, conform, items_of, table_of, type_name

LIST_PREFIXES = {"+": Op.APPEND, "^": Op.PREPEND, "!": Op.REMOVE}
"""Operators on the items of a plain list (spec: behaviour 9.4)."""


class Fault(Enum):
    """What kind of problem a write had; each source words them in its own way."""

    UNKNOWN_KEY = "unknown key"
    INVALID = "invalid value"
    NOT_A_LIST = "list operation on something else"
    NOT_A_SECTION = "key below an option"


@dataclass(frozen=True, slots=True)
class Problem:
    """A write that was left out."""

    fault: Fault
    path: Path
    reason: str
    line: int | None = None
    op: Op = Op.SET
    item: int | None = None
    """1-based position in the list that was written."""


class Writer:
    """Collects the operations, and the problems, of one source."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.operations: list[Operation] = []
        self.problems: list[Problem] = []
        self._catalogue = catalogue

    def assign(self, path: Path, value: object, line: int | None = None) -> None:
        """Write ``value`` at ``path``: a scalar, a list, or a table of more."""
        path = self._catalogue.canonical(path)
        item = self._catalogue.find(path)
        if item is None:
            self.unknown(path, line)
            return
        match item.kind:
            case Kind.SECTION:
                self._assign_section(item, value, line)
            case Kind.LIST:
                self._assign_list(item, value, line)
            case Kind.TABLE:
                self._assign_table(item, value, line)
            case Kind.DISCOVERED:
                self._assign_discovered(path, value, line)
            case Kind.SCALAR:
                self._set(item, value, line)

    def alter(self, op: Op, path: Path, items: Sequence[object], line: int | None = None) -> None:
        """Apply a list operation with each of ``items``. What is removed is never checked."""
        path = self._catalogue.canonical(path)
        target = self.list_at(path)
        if target is None:
            if self._catalogue.find(path) is None:
                self.unknown(path, line)
            else:
                self._problem(Fault.NOT_A_LIST, path, "not a list", line, op)
            return
        ordered = reversed(items) if op is Op.PREPEND else items
        for value in ordered:
            self._alter_one(op, target, value, line)

    def list_at(self, path: Path) -> Item | None:
        """Return the list that ``path`` names; `tools` is a list and a section at once."""
        item = self._catalogue.find(self._catalogue.canonical(path))
        if item is None or item.kind is Kind.LIST:
            return item
        return item.own_list

    def unknown(self, path: Path, line: int | None = None) -> None:
        """Note that nothing is called ``path``."""
        parent = self._catalogue.find(path[:-1])
        if parent is not None and parent.kind in (Kind.SCALAR, Kind.LIST):
            self._problem(Fault.NOT_A_SECTION, path[:-1], path[-1], line)
            return
        suggestion = self._catalogue.suggestion(path)
        hint = f" -- did you mean '{suggestion}'?" if suggestion else ""
        self._problem(Fault.UNKNOWN_KEY, path, hint, line)

    def _assign_section(self, section: Item, value: object, line: int | None) -> None:
        value = _shorthand(section, value)
        table, items = table_of(value), items_of(value)
        if value is None:
            self._shadow(section, line)
        elif table is not None:
            self._assign_named(section, table, line)
        elif items is not None and section.own_list is not None:
            self._assign_list(section.own_list, items, line)
        elif items is None or items:  # an empty Lua table looks like an empty list
            reason = f"expected table, got {type_name(value)}"
            self._problem(Fault.INVALID, section.path, reason, line)

    def _assign_named(
        self, section: Item, table: Mapping[object, object], line: int | None
    ) -> None:
        positional, named = split_positional(table)
        if positional and section.own_list:
            self._assign_list(section.own_list, positional, line)
        elif positional:
            reason = "expected named options, got a list"
            self._problem(Fault.INVALID, section.path, reason, line)
        for key, entry in named.items():
            self.assign((*section.path, key), entry, line)

    def _shadow(self, section: Item, line: int | None) -> None:
        if section.own_list is not None:  # `tools = nil` is about the list, not about approval
            self._set(section.own_list, None, line)
            return
        for child in section.children:
            self.assign((*section.path, child), None, line)

    def _assign_table(self, table: Item, value: object, line: int | None) -> None:
        if value is None:
            self.operations.append(Operation(Op.SET, table.path, None, line))
            return
        try:
            conformed = cast("Mapping[str, object]", conform(table.shape, value))
        except Mismatch as mismatch:
            self._problem(Fault.INVALID, table.path, mismatch.reason, line)
            return
        for key, entry in conformed.items():
            self.operations.append(Operation(Op.SET, (*table.path, key), entry, line))

    def _assign_discovered(self, path: Path, value: object, line: int | None) -> None:
        table = table_of(value)
        if table:
            for key, entry in table.items():
                self._assign_discovered((*path, str(key)), entry, line)
            return
        parent = self._catalogue.find(path[:-1])
        if parent is not None and parent.kind is Kind.SECTION:
            if value in ({}, []):
                return
            self.unknown(path, line)
            return
        self.operations.append(Operation(Op.SET, path, value, line))

    def _assign_list(self, target: Item, value: object, line: int | None) -> None:
        items = _as_list(value)
        if items is None:
            self._set(target, value, line)
            return
        plain = [
            (position, item) for position, item in enumerate(items, 1) if _operator(item) is None
        ]
        if plain or not items:
            self._set(target, self._fitting(target, plain, line), line)
        for item in items:
            op = _operator(item)
            if op is not None:
                self._alter_one(op, target, cast("str", item)[1:], line)

    def _fitting(
        self, target: Item, items: Sequence[tuple[int, object]], line: int | None
    ) -> list[object]:
        found: list[object] = []
        for position, item in items:
            try:
                found.append(conform(target.shape.item or Shape(anything=True), item))
            except Mismatch as mismatch:
                reason = mismatch.reason
                self._problem(Fault.INVALID, target.path, reason, line, item=position)
        return found

    def _alter_one(self, op: Op, target: Item, value: object, line: int | None) -> None:
        if op is not Op.REMOVE and target.shape.item is not None:
            try:
                value = conform(target.shape.item, value)
            except Mismatch as mismatch:
                self._problem(Fault.INVALID, target.path, mismatch.reason, line, op)
                return
        self.operations.append(Operation(op, target.path, value, line))

    def _set(self, item: Item, value: object, line: int | None) -> None:
        try:
            conformed = None if value is None else conform(item.shape, value)
        except Mismatch as mismatch:
            self._problem(Fault.INVALID, item.path, mismatch.reason, line)
            return
        reason = _out_of_bounds(item, conformed)
        if reason is not None:
            self._problem(Fault.INVALID, item.path, reason, line)
            return
        self.operations.append(Operation(Op.SET, item.path, conformed, line))

    def _problem(
        self,
        fault: Fault,
        path: Path,
        reason: str,
        line: int | None,
        op: Op = Op.SET,
        item: int | None = None,
    ) -> None:
        self.problems.append(Problem(fault, path, reason, line, op, item))


def split_positional(table: Mapping[object, object]) -> tuple[list[object], dict[str, object]]:
    """Take a Lua table apart into its list part, in order, and its named part.

    Keys of the list part are whole numbers, or their digits when the table came over RPC.
    """
    positional: dict[int, object] = {}
    named: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(key, int) or (isinstance(key, str) and key.isdecimal()):
            positional[int(key)] = value
        else:
            named[str(key)] = value
    return [positional[index] for index in sorted(positional)], named


def _as_list(value: object) -> Sequence[object] | None:
    """Return the items of a list, or of a table that has nothing but a list part."""
    table = table_of(value)
    if table is None:
        return items_of(value)
    positional, named = split_positional(table)
    return None if named else positional


def _operator(item: object) -> Op | None:
    if isinstance(item, str) and len(item) > 1:
        return LIST_PREFIXES.get(item[0])
    return None


def _shorthand(section: Item, value: object) -> object:
    """Return the table that a short value of ``section`` stands for (spec: behaviour 9.6)."""
    pair = items_of(value)
    match section.path[-1:], value:
        case ("padding",), _ if pair is not None and len(pair) == 2:
            return {"left": pair[0], "right": pair[1]}
        case ("thinking",), str() | int() | float():
            return {"level": value}
        case ("padding",), bool():
            return value
        case ("padding",), int() | float():
            return {"left": value, "right": 0}
        case _, bool() if "enabled" in section.children:
            return {"enabled": value}
        case _:
            return value


def _out_of_bounds(item: Item, value: object) -> str | None:
    declaration = item.declaration
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if declaration.minimum is not None and value < declaration.minimum:
            return f"expected at least {declaration.minimum:g}, got {value}"
        if declaration.maximum is not None and value > declaration.maximum:
            return f"expected at most {declaration.maximum:g}, got {value}"
    if declaration.check is not None and value is not None:
        return declaration.check(value)
    return None


def setup_message(problem: Problem) -> str:
    """Word ``problem`` for the layers SETUP and RUNTIME (spec: behaviour 9.2)."""
    path = dotted(problem.path)
    match problem.fault:
        case Fault.UNKNOWN_KEY:
            return f"unknown key '{path}'{problem.reason}"
        case Fault.NOT_A_SECTION:
            return f"unknown key '{path}.{problem.reason}'"
        case Fault.NOT_A_LIST:
            return f"validation error at '{path}': {problem.reason}"
        case Fault.INVALID:
            if problem.item is not None:
                return f"list item[{problem.item}] at '{path}': {problem.reason}"
            return f"validation error at '{path}': {problem.reason}"

"""Frontmatter that is data: the key `flemma` of a YAML or JSON object (spec: behaviour 9.5)."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from flemma.config.catalogue import Item, Kind
from flemma.config.frontmatter.result import (
    Failure,
    FrontmatterContext,
    FrontmatterResult,
    failed,
    written,
)
from flemma.config.layers import Op
from flemma.config.options import Path, dotted
from flemma.config.shapes import items_of, table_of
from flemma.config.writer import Fault, Problem, Writer

KEY = "flemma"

OPERATORS = {"$set": Op.SET, "$append": Op.APPEND, "$remove": Op.REMOVE, "$prepend": Op.PREPEND}

Lines: TypeAlias = Callable[[Path], int | None]
"""Where a key of the document was written: 1-based line of the block."""


def from_data(data: object, context: FrontmatterContext, lines: Lines) -> FrontmatterResult:
    """Read a document: all keys but `flemma` are variables, `flemma` holds settings."""
    if data is None:
        return FrontmatterResult()
    table = table_of(data)
    if table is None:
        message = f"Frontmatter must be an object, got {_type_name(data)}"
        return FrontmatterResult(failures=(Failure(message, severity="warning"),))
    variables = {str(key): value for key, value in table.items() if key != KEY}
    if KEY not in table:
        return FrontmatterResult(variables)
    settings = table_of(table[KEY])
    if settings is None:
        failure = Failure('"flemma" must be an object', lines((KEY,)), validation=True)
        return FrontmatterResult(variables, failures=(failure,))
    reader = _Reader(context, lines)
    reader.descend((), settings)
    return reader.result(variables)


class _Reader:
    def __init__(self, context: FrontmatterContext, lines: Lines) -> None:
        self._context = context
        self._lines = lines
        self._writer = Writer(context.catalogue)
        self._failures: list[Failure] = []

    def result(self, variables: Mapping[str, object]) -> FrontmatterResult:
        failures = [*self._failures, *(_failure(each) for each in self._writer.problems)]
        failures.sort(key=lambda failure: failure.line or 0)
        return written(self._writer, variables, tuple(failures))

    def descend(self, path: Path, table: Mapping[object, object]) -> None:
        """Read the operators and the keys of one node in the order they are written."""
        item = self._find(path)
        open_table = item is not None and item.kind in (Kind.TABLE, Kind.DISCOVERED)
        for key, value in table.items():
            name = str(key)
            if name.startswith("$") and not open_table:
                self._operate(path, name, value)
            else:
                self._node((*path, name), value)

    def _node(self, path: Path, value: object) -> None:
        item = self._find(path)
        if item is None:
            self._writer.unknown(self._context.catalogue.canonical(path), self._line(path))
            return
        table = table_of(value)
        if table is not None and not _holds_tables(item):
            self._nested(path, item, table)
        elif items_of(value) is not None and not self._takes_lists(path, item):
            self._fail(path, "does not accept array values")
        else:
            self._writer.assign(path, value, self._line(path))

    def _nested(self, path: Path, item: Item, table: Mapping[object, object]) -> None:
        plain = [str(key) for key in table if str(key) not in OPERATORS]
        if item.kind in (Kind.SCALAR, Kind.LIST) and plain:
            key = plain[0]
            if key.startswith("$"):
                self._fail(path, f"unknown operator '{key}'")
            else:
                self._fail(path, f"cannot navigate into non-object field with key '{key}'")
            return
        self.descend(path, table)

    def _operate(self, path: Path, operator: str, value: object) -> None:
        op = OPERATORS.get(operator)
        line = self._line((*path, operator))
        if op is None:
            self._fail(path, f"unknown operator '{operator}'")
        elif op is Op.SET:
            item = self._find(path)
            if items_of(value) is not None and item and not self._takes_lists(path, item):
                self._fail(path, "does not accept array values")
            else:
                single = self._writer.list_at(path) is not None and isinstance(value, str)
                self._writer.assign(path, [value] if single else value, line)
        elif self._writer.list_at(path) is None:
            self._fail(path, f"'{operator}' requires a list-capable field")
        else:
            items: Sequence[object] | None = items_of(value)
            self._writer.alter(op, path, [value] if items is None else items, line)

    def _takes_lists(self, path: Path, item: Item) -> bool:
        return (
            self._writer.list_at(path) is not None
            or item.shape.anything
            or path[-1:] == ("padding",)
            or item.path[:1] == ("presets",)
        )

    def _find(self, path: Path) -> Item | None:
        catalogue = self._context.catalogue
        return catalogue.find(catalogue.canonical(path))

    def _line(self, path: Path) -> int | None:
        return self._lines((KEY, *path))

    def _fail(self, path: Path, text: str) -> None:
        message = f"{dotted((KEY, *path))}: {text}"
        self._failures.append(Failure(message, self._line(path), validation=True))


def _holds_tables(item: Item) -> bool:
    """Whether a table is a value of ``item`` and no place to look for operators."""
    return item.kind is Kind.SCALAR and (item.shape.value is not None or item.shape.anything)


def _failure(problem: Problem) -> Failure:
    place = dotted((KEY, *problem.path))
    match problem.fault:
        case Fault.UNKNOWN_KEY:
            text = f"unknown config key{problem.reason}"
        case Fault.NOT_A_SECTION:
            text = f"cannot navigate into non-object field with key '{problem.reason}'"
        case Fault.NOT_A_LIST:
            text = f"'${problem.op}' requires a list-capable field"
        case Fault.INVALID:
            text = problem.reason
            if problem.item is not None:
                text = f"item[{problem.item}]: {text}"
    return Failure(f"{place}: {text}", problem.line, validation=True)


def _type_name(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "array"


def too_large(code: str, limit: int) -> FrontmatterResult | None:
    """Refuse a block above ``limit`` bytes."""
    size = len(code.encode("utf-8", "surrogatepass"))
    if size <= limit:
        return None
    return failed(f"Frontmatter is too large: {size} bytes, at most {limit} are evaluated", 1)

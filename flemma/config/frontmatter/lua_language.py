"""Frontmatter in Lua: `flemma.opt` and variables (spec: behaviour 1.2, 9.3)."""

from typing import Any

from flemma.config.catalogue import Kind
from flemma.config.frontmatter.lua_runtime import LuaFailure, LuaRuntime
from flemma.config.frontmatter.result import (
    Failure,
    FrontmatterContext,
    FrontmatterResult,
    written,
)
from flemma.config.layers import Op
from flemma.config.options import Path, dotted
from flemma.config.shapes import items_of, table_of
from flemma.config.writer import Fault, Problem, Writer
from flemma.errors import ConfigError

MAX_WRITES = 1000
"""Most operations, good or bad, of one block."""


def evaluate_lua(code: str, context: FrontmatterContext) -> FrontmatterResult:
    """Evaluate a block of Lua. What was written before an error is in the result as well."""
    runtime = LuaRuntime()
    writer = Writer(context.catalogue)
    for name, value in context.globals.items():
        runtime.define(name, value)
    runtime.load_options(_Options(context, writer).functions())
    variables: dict[str, Any] = {}
    broken: tuple[Failure, ...] = ()
    try:
        runtime.run(code)
        variables = runtime.variables()
    except LuaFailure as failure:
        broken = (Failure(failure.message, failure.line, cause=failure.cause),)
    return written(writer, variables, (*map(_failure, writer.problems), *broken))


class _Options:
    """What `flemma.opt` asks of the host. Paths come as words joined by NUL."""

    def __init__(self, context: FrontmatterContext, writer: Writer) -> None:
        self._context = context
        self._writer = writer

    def functions(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "get": self.get,
            "set": self.set,
            "alter": self.alter,
            "complaint": self.complaint,
        }

    def kind(self, path: str) -> str:
        item = self._context.catalogue.find(self._path(path))
        if item is None:
            return "unknown"
        match item.kind:
            case Kind.SECTION:
                return "both" if item.own_list else "section"
            case Kind.LIST:
                return "list"
            case Kind.TABLE:
                return "section"
            case Kind.DISCOVERED:
                return "scalar" if self._is_leaf(item.path) else "discovered"
            case Kind.SCALAR:
                return "scalar"

    def get(self, path: str) -> object:
        return self._context.read(self._path(path), tuple(self._writer.operations))

    def set(self, path: str, value: object = None, line: int | None = None) -> None:
        self._count()
        self._writer.assign(self._path(path), value, line)

    def alter(self, op: str, path: str, items: object, line: int | None = None) -> None:
        self._count()
        self._writer.alter(Op(op), self._path(path), items_of(items) or (), line)

    def _count(self) -> None:
        if len(self._writer.operations) + len(self._writer.problems) >= MAX_WRITES:
            raise ConfigError(f"more than {MAX_WRITES} settings are written", path="frontmatter")

    def complaint(self, path: str) -> str:
        names = self._path(path)
        suggestion = self._context.catalogue.suggestion(names)
        hint = f" -- did you mean '{suggestion}'?" if suggestion else ""
        return f"unknown key '{dotted(names)}'{hint}"

    def _path(self, text: str) -> Path:
        return self._context.catalogue.canonical(tuple(text.split("\0")) if text else ())

    def _is_leaf(self, path: Path) -> bool:
        if len(path) < 3:
            return False
        value = self._context.read(path, tuple(self._writer.operations))
        return value is not None and table_of(value) is None


def _failure(problem: Problem) -> Failure:
    path = dotted(problem.path)
    match problem.fault:
        case Fault.UNKNOWN_KEY:
            text = f"unknown key '{path}'{problem.reason}"
        case Fault.NOT_A_SECTION:
            text = f"unknown key '{path}.{problem.reason}'"
        case Fault.NOT_A_LIST:
            text = f"list {problem.op} error at '{path}': {problem.reason}"
        case Fault.INVALID if problem.item is not None:
            text = f"config list set error at '{path}' item[{problem.item}]: {problem.reason}"
        case Fault.INVALID if problem.op is not Op.SET:
            text = f"list {problem.op} error at '{path}': {problem.reason}"
        case Fault.INVALID:
            text = f"write error at '{path}': {problem.reason}"
    return Failure(text, problem.line, validation=True)

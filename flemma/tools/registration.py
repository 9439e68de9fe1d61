"""What `flemma.tools.register` accepts, checked and kept.

Spec: tools, "Registering custom tools".
"""

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from flemma import extensions
from flemma.errors import ConfigError
from flemma.extensions import Kind
from flemma.schema.nodes import Node
from flemma.text.suggest import closest
from flemma.tools.definition import ToolDefinition

Fields: TypeAlias = Mapping[str, Any]

_FIELDS = (
    "name",
    "description",
    "input_schema",
    "execute",
    "strict",
    "async",
    "asynchronous",
    "enabled",
    "capabilities",
    "format_preview",
    "output_schema",
    "personalities",
)
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class SourceDefinition:
    """A source that finds tools later: ``resolve(register, done)``, plain or a coroutine function.

    ``timeout`` is in seconds; None is `tools.default_timeout`.
    """

    resolve: Callable[..., Any]
    timeout: float | None = None


def register_tools(subject: Any, definition: Fields | None, fields: Fields) -> None:
    """Register ``subject`` in one of the forms of :func:`flemma.tools.register`."""
    match subject:
        case str() if definition is not None or fields:
            register_tool(subject, {**(definition or {}), **fields})
        case str():
            extensions.add(Kind.MODULE, subject, subject)
        case ToolDefinition():
            extensions.add(Kind.TOOL, subject.name, subject)
        case Mapping():
            _register_table(cast("Fields", subject))
        case list() | tuple():
            for each in cast("Sequence[Any]", subject):
                register_tools(each, None, {})
        case _ if callable(subject):
            register_source(subject, None)
        case _:
            raise _wrong(
                "register() takes a name and a definition, a list, a module name or a function, "
                f"not {type(subject).__name__}"
            )


def register_tool(name: str, fields: Fields) -> None:
    """Register one tool."""
    extensions.add(Kind.TOOL, name, definition_of(name, fields))


def register_source(resolve: Any, timeout: Any, name: str | None = None) -> None:
    """Register a source of tools."""
    if not callable(resolve):
        raise _wrong("'resolve' of a tool source has to be a function of (register, done)")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float)):
        raise _wrong("'timeout' of a tool source has to be a number of seconds")
    key = name or f"python:{next(_numbers)}"
    extensions.add(Kind.SOURCE, key, SourceDefinition(resolve, timeout))


def definition_of(name: str, fields: Fields) -> ToolDefinition:
    """Return the definition that a mapping describes. Raises :class:`ConfigError`."""
    _check(name, fields)
    execute = fields["execute"]
    asynchronous = fields.get("async", fields.get("asynchronous"))
    if asynchronous is None:
        asynchronous = inspect.iscoroutinefunction(execute)
    return ToolDefinition(
        name=name,
        description=fields["description"],
        input_schema=fields["input_schema"],
        execute=execute,
        strict=bool(fields.get("strict")),
        asynchronous=bool(asynchronous),
        enabled=fields.get("enabled") is not False,
        capabilities=frozenset(map(str, fields.get("capabilities") or ())),
        format_preview=fields.get("format_preview"),
        output_schema=fields.get("output_schema"),
        personalities=fields.get("personalities") or {},
        origin="python",
    )


def _register_table(table: Fields) -> None:
    if "resolve" in table:
        register_source(table["resolve"], table.get("timeout"))
        return
    name = table.get("name")
    if not isinstance(name, str):
        raise _wrong("a tool in a list needs a 'name'")
    register_tool(name, table)


def _check(name: str, fields: Fields) -> None:
    for field in fields:
        if field not in _FIELDS:
            near = closest(field, _FIELDS)
            hint = f", did you mean '{near}'?" if near else ""
            raise _wrong(f"tool '{name}' has an unknown field '{field}'{hint}")
    if not isinstance(fields.get("description"), str):
        raise _wrong(f"tool '{name}': 'description' has to be text")
    if not isinstance(fields.get("input_schema"), Node | Mapping):
        raise _wrong(f"tool '{name}': 'input_schema' has to be a schema node or a JSON Schema")
    if not callable(fields.get("execute")):
        raise _wrong(f"tool '{name}': 'execute' has to be a function")
    preview = fields.get("format_preview")
    if preview is not None and not callable(preview):
        raise _wrong(f"tool '{name}': 'format_preview' has to be a function")
    if isinstance(fields.get("capabilities"), str):
        raise _wrong(f"tool '{name}': 'capabilities' has to be a list of tags")


def _wrong(message: str) -> ConfigError:
    return ConfigError(message, path="tools")

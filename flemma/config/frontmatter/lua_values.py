"""Values on their way between Lua and Python.

Strings are bytes in Lua; an empty table becomes an empty list (the writer takes either for empty).
"""

from collections.abc import Callable, Mapping
from typing import Any

from flemma.config.shapes import items_of, table_of

MAX_DEPTH = 64
MAX_VALUES = 100_000


class Unconvertible(Exception):
    """A value cannot leave Lua; the text says why."""


class FromLua:
    """Turns values of one runtime into plain data. ``function`` wraps functions."""

    def __init__(
        self, type_of: Callable[[Any], str | None], function: Callable[[Any], Any]
    ) -> None:
        self._type_of = type_of
        self._function = function
        self._count = 0

    def convert(self, value: object) -> Any:
        """Return ``value`` as Python data. Raises :class:`Unconvertible`."""
        self._count = 0
        return self._value(value, 0)

    def _value(self, value: Any, depth: int) -> Any:
        self._count += 1
        if depth > MAX_DEPTH:
            raise Unconvertible("a table nested too deeply, or inside itself")
        if self._count > MAX_VALUES:
            raise Unconvertible(f"a table of more than {MAX_VALUES} values")
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        match self._type_of(value):
            case None:
                return value
            case "table":
                return self._table(value, depth)
            case "function":
                return self._function(value)
            case other:
                raise Unconvertible(f"a value of type {other}")

    def _table(self, table: Any, depth: int) -> Any:
        found: dict[int | str, Any] = {}
        for key, value in table.items():
            found[self._key(key)] = self._value(value, depth + 1)
        length = len(found)
        if all(isinstance(key, int) and 1 <= key <= length for key in found):
            return [found[index] for index in range(1, length + 1)]
        return found

    def _key(self, key: object) -> int | str:
        if isinstance(key, bytes):
            return key.decode("utf-8", "replace")
        if isinstance(key, int) and not isinstance(key, bool):
            return key
        if isinstance(key, float):
            return str(key)
        raise Unconvertible("a table key that is neither a string nor a number")


class ToLua:
    """Makes Lua values of plain data. ``wrap`` makes a Lua function of a Python one."""

    def __init__(self, new_table: Callable[[], Any], wrap: Callable[[Any], Any]) -> None:
        self._new_table = new_table
        self._wrap = wrap

    def convert(self, value: object) -> Any:
        """Return ``value`` for Lua; None inside a list leaves a hole."""
        match value:
            case None | bool() | int() | float() | bytes():
                return value
            case str():
                return value.encode("utf-8", "surrogateescape")
            case _:
                return self._compound(value)

    def _compound(self, value: object) -> Any:
        table, items = table_of(value), items_of(value)
        if table is None and items is not None:
            table = dict[object, object](enumerate(items, 1))
        if table is not None:
            return self._fill(table)
        if callable(value):
            return self._wrap(value)
        return str(value).encode()

    def _fill(self, table: Mapping[object, object]) -> Any:
        made = self._new_table()
        for key, entry in table.items():
            made[key if isinstance(key, int) else str(key).encode()] = self.convert(entry)
        return made

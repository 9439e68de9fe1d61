"""One sandboxed Lua runtime: bounded in memory and instructions, without a way out.

Lua 5.1 (not LuaJIT, whose compiled loops ignore the hook). Limits hold for the evaluation and again
for each later call of a function it left behind.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, cast

from lupa import lua51

from flemma.config.frontmatter.lua_values import FromLua, ToLua, Unconvertible
from flemma.errors import ConfigError, FlemmaError

MAX_MEMORY = 16 * 1024 * 1024
"""Bytes a block and its data may take."""
MAX_SECONDS = 0.25
"""Processor time of one run."""
MAX_TICKS = 200_000
"""Hundreds of instructions of one run."""

_POSITION = re.compile(r"(?:frontmatter:(\d+): )?(.*)", re.DOTALL)


class LuaFailure(Exception):
    """The code raised; ``line`` is 1-based in it. ``cause`` is the error of a function of ours."""

    def __init__(self, text: str, cause: BaseException | None = None) -> None:
        position = _POSITION.fullmatch(text)
        self.line = int(position[1]) if position and position[1] else None
        self.message = position[2] if position else text
        self.cause = cause
        super().__init__(self.message)


@cache
def _source(name: str) -> bytes:
    return files("flemma.config.frontmatter").joinpath("lua", name).read_bytes()


def _no_attributes(_object: object, _name: object, _setting: object) -> object:
    raise AttributeError("Python objects are closed to Lua")


class LuaRuntime:
    """A runtime with the sandbox loaded."""

    def __init__(self) -> None:
        make_runtime: Any = lua51.LuaRuntime
        self._lua: Any = make_runtime(
            encoding=None,
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_filter=_no_attributes,
            max_memory=MAX_MEMORY,
        )
        self._from = FromLua(self._type_of, self._function)
        self._to = ToLua(self._lua.table, self._wrap)
        self._cause: BaseException | None = None
        patterns = self._load("patterns.lua")(self._load("matcher.lua")())
        self.sandbox: Any = self._load("sandbox.lua")(patterns, MAX_TICKS, MAX_SECONDS)

    def load_options(self, host: dict[str, Callable[..., Any]]) -> None:
        """Give the code `flemma.opt`; ``host`` are the functions it calls."""
        functions = self._lua.table()
        for name, function in host.items():
            functions[name.encode()] = self._wrap(function)
        self._load("options.lua")(self.sandbox, functions)

    def define(self, name: str, value: object) -> None:
        """Make ``value`` readable under ``name``."""
        self.sandbox[b"base"][name.encode()] = self._to.convert(value)

    def run(self, code: str) -> None:
        """Run ``code``. Raises :class:`LuaFailure`."""
        if code.startswith("\x1b"):
            raise LuaFailure("precompiled Lua code is refused")
        self._outcome(self.sandbox[b"run"], code.encode("utf-8", "surrogatepass"))

    def variables(self) -> dict[str, Any]:
        """Return the globals the code assigned. Raises :class:`LuaFailure` for one that cannot
        leave Lua."""
        found: dict[str, Any] = {}
        for key, value in self.sandbox[b"environment"].items():
            name = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
            try:
                found[name] = self._from.convert(value)
            except Unconvertible as error:
                raise LuaFailure(f"variable '{name}' holds {error}") from None
        return found

    def call(self, function: Any, arguments: tuple[object, ...]) -> Any:
        """Call a function of the code. Raises :class:`LuaFailure`."""
        converted = [self._to.convert(argument) for argument in arguments]
        return self._from.convert(self._outcome(self.sandbox[b"call"], function, *converted))

    def _outcome(self, function: Any, *arguments: Any) -> Any:
        self._cause = None
        try:
            outcome = function(*arguments)
        except lua51.LuaMemoryError:
            raise LuaFailure("not enough memory") from None
        except lua51.LuaError as error:
            raise LuaFailure(str(error)) from None
        values = cast("tuple[Any, ...]", outcome if isinstance(outcome, tuple) else (outcome, None))
        if values[0]:
            return values[1]
        raise LuaFailure(values[1].decode("utf-8", "replace"), self._cause)

    def _load(self, name: str) -> Any:
        return self._lua.execute(
            b"return loadstring(...)", _source(name), b"=flemma/" + name.encode()
        )

    def _type_of(self, value: object) -> str | None:
        return lua51.lua_type(value)

    def _function(self, function: object) -> "LuaFunction":
        return LuaFunction(self, function)

    def _wrap(self, function: Callable[..., Any]) -> Any:
        """Make a Lua function of ``function``; what it raises becomes an error of Lua."""
        if isinstance(function, LuaFunction) and function.runtime is self:
            return function.function

        def call(*arguments: object) -> tuple[bool, Any]:
            try:
                values = [self._from.convert(argument) for argument in arguments]
                return True, self._to.convert(function(*values))
            except Exception as error:  # noqa: BLE001 - nothing of Python may unwind through Lua
                self._cause = error
                text = error.message if isinstance(error, FlemmaError) else str(error)
                return False, text.encode("utf-8", "replace")

        return self.sandbox[b"wrap"](call)


class LuaFunction:
    """A function of a block that outlives its evaluation; each call is bounded like a run."""

    def __init__(self, runtime: LuaRuntime, function: object) -> None:
        self.runtime = runtime
        self.function = function

    def __call__(self, *arguments: object) -> Any:
        """Call it. Raises :class:`ConfigError` with the line when the code fails."""
        try:
            return self.runtime.call(self.function, arguments)
        except LuaFailure as failure:
            raise ConfigError(
                failure.message, path="frontmatter", layer="frontmatter", line=failure.line
            ) from failure.cause
        except Unconvertible as error:
            raise ConfigError(
                f"the function returned {error}", path="frontmatter", layer="frontmatter"
            ) from None

"""What users register in Lua: tools, tool sources, resolvers, sandboxes, languages, backups.

A Lua function arrives as ``{"__flemma_function": n}``; :class:`LuaFunction` calls it. Python waits
for the answer without holding up its loop, so that a slow function freezes no stream.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from flemma.adapters.nvim.lua import Lua
from flemma.adapters.nvim.lua_sandbox import LuaSandbox
from flemma.adapters.nvim.lua_tools import LUA_ORIGIN, LuaTools
from flemma.app.services import Services
from flemma.app.store import Backup, StoreError
from flemma.approval.resolvers import DEFAULT_PRIORITY, ApprovalContext, Resolver
from flemma.config.frontmatter.result import FrontmatterContext
from flemma.errors import ConfigError, FlemmaError
from flemma.ports.editor import Level

log = logging.getLogger(__name__)

REFERENCE = "__flemma_function"
Payload = Mapping[str, Any]


class LuaFunction:
    """A function of the user that lives in Lua."""

    def __init__(self, lua: Lua, number: int) -> None:
        self._lua = lua
        self.number = number

    async def __call__(self, *arguments: Any) -> Any:
        """Call it and wait for what it returns. Raises `LuaError`."""
        return await self._lua.call(self.number, arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LuaFunction) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


class Registrations:
    """Takes registrations as they come and puts each where it belongs."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua
        self._tools = LuaTools(lua)
        self._services: Services | None = None

    @property
    def services(self) -> Services:
        """The services. They exist before the first message is handled."""
        assert self._services is not None
        return self._services

    def connect(self, services: Services) -> None:
        """Take the services that registrations go to."""
        self._services = services

    def with_functions(self, value: Any) -> Any:
        """Return ``value`` with callable functions in place of their references."""
        if isinstance(value, Mapping):
            table = cast("Mapping[str, Any]", value)
            if REFERENCE in table:
                return LuaFunction(self._lua, int(table[REFERENCE]))
            return {key: self.with_functions(item) for key, item in table.items()}
        if isinstance(value, list | tuple):
            return [self.with_functions(item) for item in cast("Sequence[Any]", value)]
        return value

    def register(self, payload: Payload) -> None:
        """Take a registration; a bad one is told to the user and changes nothing."""
        kind, name = str(payload["kind"]), str(payload["name"])
        definition = cast("dict[str, Any]", self.with_functions(payload["definition"]))
        takers: Mapping[str, Callable[[str, dict[str, Any]], None]] = {
            "tool": self._tool,
            "tool_source": self._tool_source,
            "resolver": self._resolver,
            "sandbox": self._sandbox,
            "frontmatter": self._language,
            "backup": self._backup,
        }
        try:
            takers[kind](name, definition)
        except (FlemmaError, ValueError, TypeError) as error:
            text = f"{kind} '{name}' was not registered: {error}"
            self.services.screen.notify(text, Level.ERROR)

    def unregister(self, payload: Payload) -> None:
        """Take a registration back."""
        kind, name = str(payload["kind"]), str(payload["name"])
        match kind:
            case "tool":
                self.services.tools.unregister(name)
            case "resolver":
                self.services.resolvers.unregister(name)
            case "sandbox":
                self.services.sandboxes.unregister(name)
            case "frontmatter":
                self.services.settings.unregister_language(name)
            case _:
                log.warning("cannot unregister %s %s", kind, name)

    def source_tool(self, payload: Payload) -> None:
        """An async tool source found a tool."""
        self.register(
            {"kind": "tool", "name": payload["name"], "definition": payload["definition"]}
        )

    def source_done(self, payload: Payload) -> None:
        """An async tool source is complete."""
        error = payload.get("error")
        self.services.tool_sources.finish(str(payload["source"]), str(error) if error else None)

    def context(self, payload: Payload) -> Mapping[str, Any]:
        """Answer a function of the context that a running Lua tool uses."""
        return self._tools.context(payload)

    def _tool(self, name: str, definition: dict[str, Any]) -> None:
        tools = self.services.tools
        known = tools.get(name)
        for warning in tools.register(self._tools.definition(name, definition)):
            # Of a tool of its own Lua has told that already, be there a host or not.
            if known is None or known.origin != LUA_ORIGIN or "redefined" not in warning:
                self.services.screen.notify(warning, Level.WARN)

    def _tool_source(self, name: str, definition: dict[str, Any]) -> None:
        default = self.services.settings.shared().config.tools.default_timeout
        self.services.tool_sources.begin(name, float(definition.get("timeout") or default))

    def _resolver(self, name: str, definition: dict[str, Any]) -> None:
        function = cast("LuaFunction", definition["resolve"])

        def resolve(tool_name: str, tool_input: Payload, context: ApprovalContext) -> Any:
            return function(tool_name, dict(tool_input), context.public())

        priority = int(definition.get("priority") or DEFAULT_PRIORITY)
        description = str(definition.get("description") or "")
        self.services.resolvers.register(Resolver(name, resolve, priority, description))

    def _sandbox(self, name: str, definition: dict[str, Any]) -> None:
        self.services.sandboxes.register(LuaSandbox(name, definition))

    def _language(self, name: str, definition: dict[str, Any]) -> None:
        function = cast("LuaFunction", definition["parse"])

        def evaluate(code: str, context: FrontmatterContext) -> Any:
            names = {key: value for key, value in context.globals.items() if not callable(value)}
            return function(code, names)

        self.services.settings.register_language(name, evaluate)

    def _backup(self, name: str, definition: dict[str, Any]) -> None:
        function = definition.get("backup")
        if not isinstance(function, LuaFunction):
            raise ConfigError(
                f"module '{name}' must export a 'backup' function", path="tools.store.backup"
            )
        self.services.backups.register(name, _lua_backup(function))


def _lua_backup(function: LuaFunction) -> Backup:
    async def backup(path: str) -> None:
        try:
            await function(path)
        except FlemmaError as error:
            raise StoreError(str(error)) from error

    return backup

"""A sandbox backend written in Lua."""

from collections.abc import Mapping, Sequence
from typing import Any

from flemma.adapters.nvim.lua import LuaError
from flemma.errors import SandboxUnavailable
from flemma.ports.sandbox import SandboxPolicy


class LuaSandbox:
    """Implements :class:`flemma.ports.sandbox.SandboxBackend` by two Lua functions."""

    def __init__(self, name: str, definition: Mapping[str, Any]) -> None:
        self.name = name
        self.priority = int(definition.get("priority") or 50)
        self._available = definition["available"]
        self._wrap = definition["wrap"]
        self._options: Mapping[str, Any] = definition.get("config") or {}

    async def available(self) -> str | None:
        """Return None when the backend says it can be used, else its reason."""
        try:
            usable = await self._available(self._options)
        except LuaError as error:
            return error.message
        return None if usable else "the backend gave no reason"

    async def wrap(self, policy: SandboxPolicy, argv: Sequence[str]) -> Sequence[str]:
        """Return the argument list that runs ``argv`` confined. Raises
        :class:`SandboxUnavailable` with the backend's own reason."""
        try:
            wrapped = await self._wrap(*self._arguments(policy, argv))
        except LuaError as error:
            raise SandboxUnavailable(error.message, backend=self.name) from error
        if not isinstance(wrapped, list) or not wrapped:
            raise SandboxUnavailable(
                f"Sandbox backend '{self.name}' returned no command.", backend=self.name
            )
        return [str(word) for word in wrapped]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def call(self, policy: SandboxPolicy, argv: Sequence[str]) -> Mapping[str, Any]:
        """Return the call that :meth:`wrap` makes, for Lua code that waits and makes it itself."""
        return {
            "function": self._wrap.number,
            "arguments": self._arguments(policy, argv),
        }

    def _arguments(self, policy: SandboxPolicy, argv: Sequence[str]) -> list[Any]:
        described = {
            "rw_paths": list(policy.rw_paths),
            "network": policy.network,
            "allow_privileged": policy.allow_privileged,
        }
        return [described, self._options, list(argv)]

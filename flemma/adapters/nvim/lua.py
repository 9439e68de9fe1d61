"""Calls into the plugin's Lua: one entry, ``require("flemma.rpc").handle(method, payload)``."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from flemma.adapters.nvim.connection import ENTRY, Connection
from flemma.errors import FlemmaError, Interrupted


class LuaError(FlemmaError):
    """A function that the user registered in Lua raised; the message is its error text."""


class Lua:
    """The Lua side: what the host tells it to do, and the functions the user registered there."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._identifiers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def handle(self, method: str, payload: Mapping[str, Any]) -> Any:
        """Run a handler and wait for what it returns."""
        return await self._connection.request("nvim_exec_lua", ENTRY, [method, payload])

    def tell(self, method: str, payload: Mapping[str, Any]) -> None:
        """Run a handler without waiting for it."""
        self._connection.notify("nvim_exec_lua", ENTRY, [method, payload])

    def next_call(self) -> int:
        """Return the number of a call to come."""
        return next(self._identifiers)

    async def call(
        self,
        function: int,
        arguments: Sequence[Any],
        *,
        mode: str = "plain",
        number: int | None = None,
    ) -> Any:
        """Call a registered Lua function and wait for its reply, however long it takes.

        Cancelling the waiting task calls the cancel function the Lua function returned. Raises
        :class:`LuaError` when it fails and :class:`Interrupted` when the user broke it off.
        """
        identifier = self.next_call() if number is None else number
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = future
        payload = {
            "id": identifier,
            "function": function,
            "mode": mode,
            "arguments": list(arguments),
        }
        self.tell("call", payload)
        try:
            return await future
        except asyncio.CancelledError:
            self.tell("call", {**payload, "arguments": [], "cancel": True})
            raise
        finally:
            self._waiting.pop(identifier, None)

    def reply(self, identifier: int, ok: bool, value: Any, *, interrupted: bool = False) -> None:
        """Take the answer of Lua to a call; an answer nobody waits for any more is dropped."""
        future = self._waiting.get(identifier)
        if future is None or future.done():
            return
        if interrupted:
            future.set_exception(Interrupted(str(value)))
        elif ok:
            future.set_result(value)
        else:
            future.set_exception(LuaError(str(value)))

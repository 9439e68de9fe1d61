"""What each message of Lua does (the list is in :mod:`flemma.host.protocol`)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flemma.adapters.nvim.lua import Lua
from flemma.adapters.nvim.pages import NvimPages
from flemma.adapters.nvim.registrations import Registrations
from flemma.app.commands.invocation import Invocation
from flemma.app.commands.table import CommandTable
from flemma.app.commands.tools import ToolCommands
from flemma.app.services import Services
from flemma.app.turn import InsertEntered
from flemma.errors import FlemmaError
from flemma.host.chats import Chats
from flemma.host.settings_watch import SettingsWatch
from flemma.lsp.handlers import Query, answer
from flemma.ports.editor import Level

log = logging.getLogger(__name__)

Payload = Mapping[str, Any]
LOCAL_COMMANDS = ("message:next", "message:previous")
"""Commands that Lua carries out itself: they only move the cursor."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Handlers: each checks its payload, starts the work and returns."""

    lua: Lua
    services: Services
    chats: Chats
    commands: CommandTable
    tool_commands: ToolCommands
    watch: SettingsWatch
    registrations: Registrations
    pages: NvimPages
    set_options: Callable[[Payload, Sequence[str]], None]

    def handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Return the handler of each notification."""
        registrations = self.registrations
        return {
            "setup": lambda payload: self.set_options(
                payload.get("options") or {}, payload.get("lua_modules") or ()
            ),
            "buffer:opened": self._buffer_opened,
            "buffer:entered": self._refresh_settings,
            "buffer:closed": self._buffer_closed,
            "insert:entered": self._insert_entered,
            "insert:left": self._insert_left,
            "text:changed": self._refresh_settings,
            "command": self._command,
            "rejection": self._rejection,
            "choice": self._choice,
            "register": self._register,
            "unregister": self._unregister,
            "reply": lambda payload: self.lua.reply(
                int(payload["id"]),
                bool(payload["ok"]),
                payload.get("value"),
                interrupted=bool(payload.get("interrupted")),
            ),
            "source:tool": lambda payload: registrations.source_tool(payload),
            "source:done": lambda payload: registrations.source_done(payload),
            "lsp": self._lsp,
            "resized": self._buffer_resized,
        }

    def answers(self) -> Mapping[str, Callable[[Payload], Any]]:
        """Return the handler of each blocking request."""
        return {
            "flemma:complete": lambda payload: self._complete(payload),
            "flemma:context": lambda payload: self.registrations.context(payload),
        }

    def started(self) -> None:
        """Tell Lua which commands there are and which options it needs."""
        commands = [
            {
                "name": definition.name,
                "arguments": [list(candidates) for candidates in definition.arguments],
                "dynamic": definition.complete is not None,
            }
            for definition in self.commands.definitions
        ]
        commands += [{"name": name, "arguments": [], "dynamic": False} for name in LOCAL_COMMANDS]
        self.watch.start()
        self.lua.tell("commands", {"commands": sorted(commands, key=lambda each: each["name"])})
        self.services.screen.event("boot:complete", {})

    def _spawn(self, work: Any, name: str) -> None:
        self.services.tasks.spawn(work, name)

    def _buffer_opened(self, payload: Payload) -> None:
        self.chats.opened(
            int(payload["bufnr"]),
            payload.get("path") or None,
            broken_off=bool(payload.get("broken_off")),
        )

    def _buffer_closed(self, payload: Payload) -> None:
        self.chats.closed(int(payload["bufnr"]))

    def _buffer_resized(self, payload: Payload) -> None:
        """Lua fits what it drew to the new width by itself."""

    def _insert_entered(self, payload: Payload) -> None:
        self._spawn(self._post_insert(int(payload["bufnr"])), "insert mode")

    async def _post_insert(self, bufnr: int) -> None:
        session = await self.chats.session(bufnr)
        if session is not None:
            session.typing = True
            session.post(InsertEntered())

    def _insert_left(self, payload: Payload) -> None:
        self._spawn(self._end_insert(int(payload["bufnr"])), "normal mode")
        self._refresh_settings(payload)

    async def _end_insert(self, bufnr: int) -> None:
        session = await self.chats.session(bufnr)
        if session is not None:
            session.typing = False

    def _refresh_settings(self, payload: Payload) -> None:
        self._spawn(self._evaluate(int(payload["bufnr"])), "settings of a chat")

    async def _evaluate(self, bufnr: int) -> None:
        session = await self.chats.session(bufnr)
        if session is not None:
            await self.watch.show_problems(session)

    def _register(self, payload: Payload) -> None:
        self.registrations.register(payload)
        self.watch.changed()

    def _unregister(self, payload: Payload) -> None:
        self.registrations.unregister(payload)
        self.watch.changed()

    def _command(self, payload: Payload) -> None:
        self._spawn(self._run_command(payload), f"command {payload['name']}")

    async def _run_command(self, payload: Payload) -> None:
        session = await self.chats.session(int(payload["bufnr"]))
        await self.commands.run(
            Invocation(
                name=str(payload["name"]),
                arguments=str(payload.get("arguments") or ""),
                session=session,
                line=int(payload.get("line") or 0),
                key=bool(payload.get("key")),
            )
        )

    def _rejection(self, payload: Payload) -> None:
        self._spawn(self._reject(payload), "rejection")

    async def _reject(self, payload: Payload) -> None:
        session = await self.chats.session(int(payload["bufnr"]))
        if session is None:
            return
        try:
            await self.tool_commands.reject_by_id(
                session, str(payload["tool_use_id"]), str(payload.get("message") or "")
            )
        except FlemmaError as error:
            self.services.screen.notify(str(error), Level.WARN)

    def _choice(self, payload: Payload) -> None:
        index = payload.get("index")
        self.pages.chosen(int(payload["id"]), None if index is None else int(index))

    def _complete(self, payload: Payload) -> list[str]:
        line = str(payload.get("line") or "")[: int(payload.get("position") or 0)]
        return self.commands.complete(line)

    def _lsp(self, payload: Payload) -> None:
        self._spawn(self._answer_lsp(payload), "language server")

    async def _answer_lsp(self, payload: Payload) -> None:
        identifier, bufnr = payload["id"], int(payload["bufnr"])
        session = await self.chats.session(bufnr)
        if session is None:
            self.lua.tell("lsp", {"id": identifier, "result": None})
            return
        path = session.buffer.path
        query = Query(
            document=session.buffer.document,
            line=int(payload["line"]),
            column=int(payload["column"]),
            uri=session.uri,
            place=self.services.place(path),
            job_states=session.jobs.states(),
        )
        self.lua.tell("lsp", {"id": identifier, "result": answer(str(payload["method"]), query)})

"""What each message of Lua does (the list is in :mod:`flemma.host.protocol`)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flemma.adapters.nvim.lua import Lua
from flemma.adapters.nvim.pages import NvimPages
from flemma.adapters.nvim.registrations import Registrations
from flemma.app.opened import Opening
from flemma.app.services import Services
from flemma.host.chats import Chats
from flemma.host.settings_watch import SettingsWatch

if TYPE_CHECKING:
    from flemma.chat.document import Document
    from flemma.host.actions import Actions

log = logging.getLogger(__name__)

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Messages:
    """Handlers: each checks its payload, starts the work and returns."""

    lua: Lua
    services: Services
    chats: Chats
    actions: "Actions"
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
            "flemma:complete": lambda payload: self.actions.complete(payload),
            "flemma:context": lambda payload: self.registrations.context(payload),
        }

    def started(self) -> None:
        """Give Lua the options it needs."""
        self.watch.start()
        self.services.screen.event("boot:complete", {})

    def tell_commands(self) -> None:
        """Give Lua the commands for completion; until then it completes those of its own list."""
        self.lua.tell("commands", {"commands": self.actions.commands()})

    def follow(self, name: str, data: Payload) -> None:
        """Take a lifecycle event of a request."""
        if name.startswith("request:"):
            self.actions.follow(name, data)

    def _spawn(self, work: Any, name: str) -> None:
        self.services.tasks.spawn(work, name)

    def _buffer_opened(self, payload: Payload) -> None:
        self.chats.opened(
            int(payload["bufnr"]),
            payload.get("path") or None,
            Opening(empty=bool(payload.get("empty")), broken_off=bool(payload.get("broken_off"))),
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
            session.insert_entered()

    def _insert_left(self, payload: Payload) -> None:
        self._spawn(self._end_insert(int(payload["bufnr"])), "normal mode")
        self._refresh_settings(payload)

    async def _end_insert(self, bufnr: int) -> None:
        session = await self.chats.session(bufnr)
        if session is not None:
            session.insert_left()

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
        # Changes of the text precede the key on the pipe: the mirror is what the user saw.
        seen = self.chats.document(int(payload["bufnr"]))
        self._spawn(self._run_command(payload, seen), f"command {payload['name']}")

    async def _run_command(self, payload: Payload, seen: "Document | None") -> None:
        session = await self.chats.session(int(payload["bufnr"]))
        await self.actions.command(session, payload, seen)

    def _rejection(self, payload: Payload) -> None:
        self._spawn(self._reject(payload), "rejection")

    async def _reject(self, payload: Payload) -> None:
        session = await self.chats.session(int(payload["bufnr"]))
        if session is not None:
            await self.actions.reject(session, payload)

    def _choice(self, payload: Payload) -> None:
        index = payload.get("index")
        self.pages.chosen(int(payload["id"]), None if index is None else int(index))

    def _lsp(self, payload: Payload) -> None:
        self._spawn(self._answer_lsp(payload), "language server")

    async def _answer_lsp(self, payload: Payload) -> None:
        identifier = payload["id"]
        session = await self.chats.session(int(payload["bufnr"]))
        result = None if session is None else self.actions.language_server(session, payload)
        self.lua.tell("lsp", {"id": identifier, "result": result})

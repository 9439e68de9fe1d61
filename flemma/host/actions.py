"""What a user asks of the host: commands, rejections, completion, the language server.

None of it is needed to paint a chat; the container makes it late, so that its imports wait as well.
"""

from collections.abc import Mapping
from typing import Any

from flemma.adapters.nvim.lua import Lua
from flemma.adapters.nvim.pages import NvimPages
from flemma.adapters.nvim.screen import NvimExCommands, NvimRejectionPopup
from flemma.adapters.nvim.usage_display import NvimUsageDisplay
from flemma.app.commands.chat import ChatCommands
from flemma.app.commands.invocation import Invocation
from flemma.app.commands.logs import LogCommands
from flemma.app.commands.settings import SettingsCommands
from flemma.app.commands.table import CommandTable
from flemma.app.commands.tools import ToolCommands
from flemma.app.commands.usage import UsageCommands
from flemma.app.services import Services
from flemma.app.session import ChatSession
from flemma.app.turn_messages import Rest
from flemma.app.workspace import Workspace
from flemma.chat.document import Document
from flemma.errors import FlemmaError
from flemma.host.logs import HostLog
from flemma.lsp.handlers import Query, answer
from flemma.ports.editor import Level

Payload = Mapping[str, Any]
LOCAL_COMMANDS = ("message:next", "message:previous")
"""Commands that Lua carries out itself: they only move the cursor."""


class Actions:
    """Carries out what messages ask for; payloads are those of :mod:`flemma.host.protocol`."""

    def __init__(
        self,
        lua: Lua,
        services: Services,
        workspace: Workspace,
        pages: NvimPages,
        log_file: HostLog,
    ) -> None:
        self._lua = lua
        self._services = services
        self._usage = NvimUsageDisplay(lua, services.settings, services.usage)
        self._tools = ToolCommands(services, NvimRejectionPopup(lua))
        self._settings = SettingsCommands(services, workspace, pages)
        self._commands = CommandTable(
            (
                *self._tools.definitions(),
                *ChatCommands(services, NvimExCommands(lua)).definitions(),
                *self._settings.definitions(),
                *UsageCommands(services.usage, self._usage).definitions(),
                *LogCommands(services, log_file).definitions(),
            ),
            services.screen,
        )

    def commands(self) -> list[dict[str, Any]]:
        """Return all commands for the completion of Lua."""
        commands: list[dict[str, Any]] = [
            {
                "name": definition.name,
                "arguments": [list(candidates) for candidates in definition.arguments],
                "dynamic": definition.complete is not None,
            }
            for definition in self._commands.definitions
        ]
        commands += [{"name": name, "arguments": [], "dynamic": False} for name in LOCAL_COMMANDS]
        return sorted(commands, key=lambda each: each["name"])

    async def command(
        self, session: ChatSession | None, payload: Payload, seen: Document | None
    ) -> None:
        """Carry out a command, on the chat as it was ``seen`` when the key was pressed."""
        if session is not None and payload.get("insert"):
            number = session.buffer.id
            session.when_settled(lambda rest: self._return_to_insert(number, rest))
        await self._commands.run(
            Invocation(
                name=str(payload["name"]),
                arguments=str(payload.get("arguments") or ""),
                session=session,
                line=int(payload.get("line") or 0),
                key=bool(payload.get("key")),
                seen=seen,
            )
        )

    def _return_to_insert(self, bufnr: int, rest: Rest) -> None:
        """Let the user type on, unless there is a call to decide or he stopped the work himself."""
        resume = rest in (Rest.DONE, Rest.FAILED)
        self._lua.tell("insert", {"bufnr": bufnr, "resume": resume})

    async def reject(self, session: ChatSession, payload: Payload) -> None:
        """Reject a call with the words from the popup."""
        try:
            await self._tools.reject_by_id(
                session, str(payload["tool_use_id"]), str(payload.get("message") or "")
            )
        except FlemmaError as error:
            self._services.screen.notify(str(error), Level.WARN)

    def complete(self, payload: Payload) -> list[str]:
        """Complete a command line."""
        line = str(payload.get("line") or "")[: int(payload.get("position") or 0)]
        return self._commands.complete(line)

    def language_server(self, session: ChatSession, payload: Payload) -> Any:
        """Answer a request of the language server."""
        query = Query(
            document=session.buffer.document,
            line=int(payload["line"]),
            column=int(payload["column"]),
            uri=session.uri,
            place=self._services.place(session.buffer.path),
            job_states=session.jobs.states(),
        )
        return answer(str(payload["method"]), query)

    async def update_pages(self) -> None:
        """Renew the status page, if it is on the screen."""
        await self._settings.update()

    def follow(self, name: str, data: Payload) -> None:
        """Take a lifecycle event: a response shows what it used."""
        self._usage.follow(name, data)

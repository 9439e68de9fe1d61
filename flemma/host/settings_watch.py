"""Keeps what depends on settings in step with them: diagnostics, options of Lua, the status page.

Settings change by more than the text of a chat: a command, another `setup()`, a tool that a source
registered. Whatever it was, everything is shown anew a moment later.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flemma.adapters.nvim.lua import Lua
from flemma.app.services import Services
from flemma.app.workspace import Workspace
from flemma.chat.document import Document
from flemma.errors import FlemmaError
from flemma.ports.editor import Level

if TYPE_CHECKING:
    from flemma.app.session import ChatSession
    from flemma.host.actions import Actions

log = logging.getLogger(__name__)

START = 0.3
"""Seconds until the first update: the first chat is painted before."""

INTERVAL = 0.05
"""Seconds between two updates: a flood of registrations is shown a few times only."""

PARSED_AT_ONCE = 50
"""Messages parsed before others get their turn."""

LUA_OPTIONS = (
    "keymaps",
    "highlights",
    "line_highlights",
    "ruler",
    "turns",
    "ui",
    "editing",
    "integrations",
    "lsp",
)
"""Sections that Lua reads: what must be immediate or is screen-shaped."""


class SettingsWatch:
    """Shows settings after every change."""

    def __init__(
        self, lua: Lua, services: Services, workspace: Workspace, actions: "Actions"
    ) -> None:
        self._lua = lua
        self._services = services
        self._workspace = workspace
        self._actions = actions
        self._due = asyncio.Event()
        self._everywhere = False
        self._loading: asyncio.Task[None] | None = None
        self._pushed: Mapping[str, Any] | None = None
        self._unchecked = True
        services.settings.subscribe(self.changed)

    def start(self) -> None:
        """Watch from now on."""
        self.push_options()
        self._services.tasks.spawn(self._run(), "settings watch")

    def changed(self) -> None:
        """Settings, or what they name, may have changed."""
        self._everywhere = True
        self._due.set()

    def setup_written(self) -> None:
        """The options of `setup()` are new."""
        self._unchecked = True
        self.changed()

    def follow(self, name: str, data: Mapping[str, Any]) -> None:
        """Take a lifecycle event."""
        del data
        if name == "config:updated":
            self.push_options()
            self.changed()

    def push_options(self) -> None:
        """Give Lua the merged options of keys, colours and the screen."""
        resolved = self._services.settings.shared()
        tools = resolved.config.tools
        self._services.resolvers.require_approval = tools.require_approval
        options: dict[str, Any] = {name: resolved.value((name,)) for name in LUA_OPTIONS}
        options["tools"] = {
            "show_spinner": tools.show_spinner,
            "require_approval": tools.require_approval,
        }
        if options != self._pushed:
            self._pushed = options
            self._lua.tell("config", {"options": options})

    async def show_problems(self, session: "ChatSession") -> None:
        """Evaluate the frontmatter if it changed, and show its problems on their lines.

        Nothing happens while the chat is at work (spec: behaviour 1.2).
        """
        if session.is_idle:
            await self._show_problems(session)
            self._due.set()

    async def _show_problems(self, session: "ChatSession") -> None:
        settings = await session.settings()
        await _read(session.buffer.document)
        items = [
            {
                "line": problem.line,
                "column": problem.column or 0,
                "severity": str(problem.severity),
                "message": problem.message,
            }
            for problem in (*settings.diagnostics, *session.buffer.document.diagnostics())
        ]
        self._lua.tell("diagnostics", {"bufnr": session.buffer.id, "items": items})

    async def _run(self) -> None:
        await self._services.clock.sleep(START)
        while True:
            await self._due.wait()
            self._due.clear()
            await self._renew()
            await self._services.clock.sleep(INTERVAL)

    async def _renew(self) -> None:
        if self._everywhere:
            self._everywhere = False
            await self._renew_chats()
        await self._actions.update_pages()

    async def _renew_chats(self) -> None:
        self._await_sources()
        sessions = list(self._workspace)
        if sessions:
            # Lua registers what it holds before it tells of the first chat.
            self._check_setup()
        for session in sessions:
            try:
                if session.is_idle:
                    await self._show_problems(session)
            except FlemmaError as error:
                log.info("settings of chat %d are not shown: %s", session.buffer.id, error)

    def _await_sources(self) -> None:
        """Once all tools are known, names that nobody registered are problems."""
        if self._services.tool_sources.loading and self._loading is None:
            self._loading = self._services.tasks.spawn(self._after_loading(), "loading of tools")

    async def _after_loading(self) -> None:
        await self._services.tool_sources.ready()
        self._loading = None
        self.changed()

    def _check_setup(self) -> None:
        """Tell, once all tools are registered, what the options name that does not exist."""
        if not self._unchecked or self._services.tool_sources.loading:
            return
        self._unchecked = False
        notice = self._services.settings.check_setup()
        if notice is not None:
            self._services.screen.notify(notice, Level.ERROR, once=True)


async def _read(document: Document) -> None:
    """Have all messages parsed without holding up the loop for the whole of a long chat."""
    for number, message in enumerate(document.messages):
        if number % PARSED_AT_ONCE == PARSED_AT_ONCE - 1:
            await asyncio.sleep(0)
        _ = message.diagnostics

"""The chat buffers of the editor: mirror, session and view of each."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flemma.adapters.nvim.buffer import NvimBuffer
from flemma.adapters.nvim.connection import Connection
from flemma.adapters.nvim.lua import Lua
from flemma.adapters.nvim.screen import NvimScreen
from flemma.app.opened import JUST_OPENED, Opening
from flemma.app.workspace import Workspace
from flemma.chat.document import Document
from flemma.config.schema import Config
from flemma.errors import BufferGone, EditorError
from flemma.host.settings_watch import SettingsWatch
from flemma.host.views import BufferView

if TYPE_CHECKING:
    from flemma.app.session import ChatSession

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Chat:
    buffer: NvimBuffer
    session: "ChatSession"
    view: BufferView
    drawing: "asyncio.Task[None]"


class Chats:
    """Opens and closes chat buffers."""

    def __init__(
        self,
        workspace: Workspace,
        lua: Lua,
        connection: Connection,
        screen: NvimScreen,
        watch: SettingsWatch,
    ) -> None:
        self._workspace = workspace
        self._services = workspace.services
        self._lua = lua
        self._connection = connection
        self._screen = screen
        self._watch = watch
        self._buffers: dict[int, NvimBuffer] = {}
        self._chats: dict[int, _Chat] = {}
        self._opened: dict[int, asyncio.Event] = {}
        screen.on_refresh = self._refresh

    def buffer(self, bufnr: int) -> NvimBuffer | None:
        """Return the mirror of a buffer."""
        return self._buffers.get(bufnr)

    def document(self, bufnr: int) -> Document | None:
        """Return the text of a chat as far as it is known now, None before it is."""
        buffer = self._buffers.get(bufnr)
        return buffer.document if buffer is not None and buffer.is_attached else None

    async def session(self, bufnr: int) -> "ChatSession | None":
        """Return the session of a buffer once it is open, None if it is no chat."""
        opened = self._opened.get(bufnr)
        if opened is None:
            return None
        await opened.wait()
        return self._workspace.get(bufnr)

    def opened(self, bufnr: int, path: str | None, how: Opening) -> None:
        """A chat was loaded, reloaded or renamed."""
        known = self._chats.get(bufnr)
        if known is not None:
            known.buffer.renamed(path)
            self._services.tasks.spawn(self._reattach(known), f"reload of chat {bufnr}")
            return
        if bufnr in self._opened:
            return
        self._opened[bufnr] = asyncio.Event()
        opening = self._open(bufnr, path, how)
        self._services.tasks.spawn(opening, f"opening of chat {bufnr}")

    def closed(self, bufnr: int) -> None:
        """A chat was unloaded or wiped. At once, for the same buffer may be loaded again next."""
        self._opened.pop(bufnr, None)
        buffer = self._buffers.pop(bufnr, None)
        if buffer is not None:
            buffer.wiped()
        chat = self._chats.pop(bufnr, None)
        if chat is not None:
            chat.drawing.cancel()
        self._services.tasks.spawn(self._workspace.close(bufnr), f"closing of chat {bufnr}")

    def follow(self, name: str, data: Mapping[str, Any]) -> None:
        """Take a lifecycle event that changes what is drawn."""
        match name:
            case "tool:finished":
                chat = self._chats.get(int(data["bufnr"]))
                if chat is not None:
                    success = data["status"] == "success"
                    chat.view.tool_finished(str(data["tool_id"]), success=success)
            case "config:updated":
                for chat in self._chats.values():
                    settings = self._services.settings.current(chat.buffer.id)
                    chat.view.reset(settings.config)
            case _:
                pass

    async def _open(self, bufnr: int, path: str | None, how: Opening) -> None:
        buffer = NvimBuffer(bufnr, path, self._lua, self._connection)
        self._buffers[bufnr] = buffer
        opened = self._opened[bufnr]
        try:
            await buffer.attach()
            services = self._services
            view = BufferView(buffer, self._lua, services.tools, services.clock, services.tasks)
            view.reset(await self._first_config(buffer))
            buffer.on_change = lambda before, after: view.refresh()
            drawing = view.start()
            await view.painted()
            session = self._session_of(buffer)
            view.session = session
            self._chats[bufnr] = _Chat(buffer, session, view, drawing)
            await self._bring_up_to_date(session, how)
            self._watch.changed()
        except (BufferGone, EditorError) as error:
            log.info("buffer %d was not opened: %s", bufnr, error)
        finally:
            opened.set()
            if buffer.gone and self._buffers.get(bufnr) in (None, buffer):
                # It was closed while it was being opened: nothing of it may stay.
                self.closed(bufnr)

    def detached(self, bufnr: int) -> None:
        """Neovim reads the text again from the file, or closes the buffer."""
        buffer = self._buffers.get(bufnr)
        if buffer is None:
            return
        buffer.detached()
        chat = self._chats.get(bufnr)
        if chat is not None:
            chat.session.reloaded()
        self._services.tasks.spawn(self._follow_again(bufnr), f"reload of chat {bufnr}")

    async def _follow_again(self, bufnr: int) -> None:
        await self.session(bufnr)
        chat = self._chats.get(bufnr)
        if chat is not None:
            await self._reattach(chat)

    async def _reattach(self, chat: _Chat) -> None:
        """Work under way goes on with the text there is now."""
        try:
            await chat.buffer.attach()
            chat.view.reset((await chat.session.settings()).config)
            await self._bring_up_to_date(chat.session, JUST_OPENED)
        except EditorError as error:
            log.info("buffer %d is not followed: %s", chat.buffer.id, error)
        self._watch.changed()

    def _session_of(self, buffer: NvimBuffer) -> "ChatSession":
        session = self._workspace.open(buffer)
        session.on_state = self._watch.changed
        return session

    async def _first_config(self, buffer: NvimBuffer) -> Config:
        """Return the options to paint with; the session they ask for can wait without a block."""
        if buffer.document.frontmatter is None:
            return self._services.settings.shared().config
        return (await self._session_of(buffer).settings()).config

    async def _bring_up_to_date(self, session: "ChatSession", how: Opening) -> None:
        # What works on a chat is imported after the first one was painted.
        from flemma.app.opening import open_chat

        await open_chat(session, self._screen, how)

    def _refresh(self, bufnr: int) -> None:
        chat = self._chats.get(bufnr)
        if chat is not None:
            chat.view.refresh()

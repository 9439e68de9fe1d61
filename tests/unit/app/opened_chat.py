"""A chat in memory over the services as the composition root builds them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from flemma.adapters.composition import FrontEnd, compose
from flemma.adapters.no_buffers import NoOpenBuffers
from flemma.adapters.supervisor import Supervisor
from flemma.app.commands.invocation import Invocation
from flemma.app.commands.settings import SettingsCommands
from flemma.app.commands.table import CommandTable
from flemma.app.services import Services
from flemma.app.session import ChatSession
from flemma.app.workspace import Workspace
from flemma.ports.editor import Page
from tests.unit.app.memory_buffer import MemoryBuffer
from tests.unit.app.store_support import ToldScreen


@dataclass
class KeptPages:
    """Keeps the pages that were shown; implements :class:`flemma.ports.editor.Pages`."""

    pages: list[Page] = field(default_factory=list[Page])
    updates: int = 0
    on_screen: bool = True
    answers: list[int | None] = field(default_factory=list[int | None])
    asked: list[tuple[str, Sequence[str]]] = field(default_factory=list[tuple[str, Sequence[str]]])

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the last page."""
        return self.pages[-1].lines

    def show(self, page: Page) -> None:
        """Keep a page."""
        self.pages.append(page)

    async def update(self, page: Page) -> bool:
        """Keep a page, if it is on the screen."""
        self.updates += 1
        if self.on_screen:
            self.pages.append(page)
        return self.on_screen

    async def choose(self, prompt: str, items: Sequence[str]) -> int | None:
        """Answer what was prepared."""
        self.asked.append((prompt, items))
        return self.answers.pop(0)


@dataclass
class OpenedChat:
    """The parts of a front end with one chat."""

    services: Services
    workspace: Workspace
    session: ChatSession
    screen: ToldScreen
    pages: KeptPages
    commands: SettingsCommands

    async def run(self, name: str, arguments: str = "", line: int = 0) -> None:
        """Run a command in the chat."""
        table = CommandTable(self.commands.definitions(), self.screen)
        await table.run(Invocation(name, arguments, self.session, line))

    @property
    def told(self) -> list[str]:
        """What the user was told."""
        return [message for message, _ in self.screen.told]


@asynccontextmanager
async def opened_chat(
    text: str = "@You:\nHi\n", options: Mapping[str, Any] | None = None
) -> AsyncIterator[OpenedChat]:
    """Open a chat; nothing is ever sent."""
    screen = ToldScreen()
    tasks = Supervisor(screen.notify)
    front = FrontEnd(screen, tasks, NoOpenBuffers(), "/", options or {})
    services = compose(front).services
    workspace = Workspace(services)
    session = workspace.open(MemoryBuffer(text))
    pages = KeptPages()
    try:
        commands = SettingsCommands(services, workspace, pages)
        yield OpenedChat(services, workspace, session, screen, pages, commands)
    finally:
        await workspace.close(session.buffer.id)
        await tasks.stop(1)

"""Builds the host for one editor, and names the handler of each message."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flemma.adapters.composition import Composition, FrontEnd, apply_setup, compose
from flemma.adapters.late import late
from flemma.adapters.nvim.connection import Connection
from flemma.adapters.nvim.jobs_display import NvimJobsDisplay
from flemma.adapters.nvim.lua import Lua
from flemma.adapters.nvim.open_buffers import NvimOpenBuffers
from flemma.adapters.nvim.pages import NvimPages
from flemma.adapters.nvim.registrations import Registrations
from flemma.adapters.nvim.screen import NvimScreen
from flemma.adapters.python_modules import PythonModules
from flemma.adapters.supervisor import Supervisor
from flemma.app.workspace import Workspace
from flemma.host.chats import Chats
from flemma.host.idle import load_in_idle_moment
from flemma.host.logs import HostLog
from flemma.host.messages import Messages
from flemma.host.settings_watch import SettingsWatch
from flemma.ports.editor import Level

if TYPE_CHECKING:
    from flemma.host.actions import Actions

Handler = Callable[[Mapping[str, Any]], None]
Answer = Callable[[Mapping[str, Any]], Any]


class HostParts:
    """Everything the dispatcher hands messages to."""

    def __init__(
        self,
        lua: Lua,
        composition: Composition,
        chats: Chats,
        messages: Messages,
        modules: PythonModules,
    ) -> None:
        self.lua = lua
        self._composition = composition
        self._chats = chats
        self._modules = modules
        self._messages = messages
        self.handlers: Mapping[str, Handler] = messages.handlers()
        self.answers: Mapping[str, Answer] = messages.answers()

    def started(self) -> None:
        """The handshake is done: tell Lua what it needs, load the rest when idle."""
        self._messages.started()
        self._modules.start()
        load_in_idle_moment(self._composition.services, self._messages.tell_commands)

    def end(self) -> None:
        """End every process that was started."""
        self._composition.end()

    def lines_event(
        self, bufnr: int, tick: int | None, first: int, last: int, lines: Sequence[str]
    ) -> None:
        """Lines of a buffer changed."""
        buffer = self._chats.buffer(bufnr)
        if buffer is not None:
            buffer.lines_event(tick, first, last, lines)

    def tick_event(self, bufnr: int, tick: int) -> None:
        """The changedtick of a buffer moved without a change."""
        buffer = self._chats.buffer(bufnr)
        if buffer is not None:
            buffer.tick_event(tick)

    def detached(self, bufnr: int) -> None:
        """Neovim stopped sending changes of a buffer: it is reloaded, or gone."""
        self._chats.detached(bufnr)


def build_host(connection: Connection, start: Mapping[str, Any]) -> HostParts:
    """Build the host from the handshake of Lua."""
    lua = Lua(connection)
    log_file = HostLog(str(start["log_path"]), start.get("options") or {}, lua)
    screen = NvimScreen(lua)
    tasks = Supervisor(lambda text: screen.notify(text, Level.ERROR))
    registrations = Registrations(lua)
    options = registrations.with_functions(start.get("options") or {})
    composition = compose(
        FrontEnd(
            screen=screen,
            tasks=tasks,
            buffers=NvimOpenBuffers(lua),
            working_directory=str(start.get("cwd") or "/"),
            options=options,
        )
    )
    services = composition.services
    registrations.connect(services)
    modules = PythonModules(services, start.get("lua_modules") or ())
    workspace = Workspace(services)
    pages = NvimPages(lua)

    def make_actions() -> "Actions":
        from flemma.host.actions import Actions

        return Actions(lua, services, workspace, pages, log_file)

    actions = late(make_actions)
    watch = SettingsWatch(lua, services, workspace, actions)
    chats = Chats(workspace, lua, connection, screen, watch)

    def set_options(changed: Mapping[str, Any], lua_modules: Sequence[str]) -> None:
        apply_setup(services.settings, registrations.with_functions(changed), screen)
        modules.load(lua_modules)
        watch.setup_written()
        screen.event("config:updated", {})

    messages = Messages(
        lua=lua,
        services=services,
        chats=chats,
        actions=actions,
        watch=watch,
        registrations=registrations,
        pages=pages,
        set_options=set_options,
    )
    jobs = NvimJobsDisplay(lua, workspace)
    screen.listeners += [chats.follow, watch.follow, messages.follow, jobs.follow]
    return HostParts(lua, composition, chats, messages, modules)

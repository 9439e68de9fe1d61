"""Python code of users at work: loads what `tools.modules` names, puts each thing in its place.

Loading happens in threads and counts as a tool source, so that a send waits for it, and gives it up
after `tools.default_timeout` seconds (spec: tools, "Async tool definitions").
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from flemma import extensions
from flemma.adapters.python_loading import load_entry_points, load_module
from flemma.adapters.python_sandbox import PythonSandbox, called
from flemma.adapters.python_tools import python_tool
from flemma.adapters.threads import in_own_thread
from flemma.app.services import Services
from flemma.app.store import StoreError
from flemma.approval.resolvers import ApprovalContext, Resolver
from flemma.config.frontmatter.result import FrontmatterContext
from flemma.errors import FlemmaError
from flemma.extensions import Kind, Registration
from flemma.ports.editor import Level
from flemma.tools.definition import ToolDefinition
from flemma.tools.registration import SourceDefinition, definition_of

log = logging.getLogger(__name__)

ENTRY_POINTS = "entry points"


class PythonModules:
    """Loads modules, and takes what they register."""

    def __init__(self, services: Services, lua_modules: Sequence[str] = ()) -> None:
        self._services = services
        self._lua_modules = lua_modules
        self._loop = asyncio.get_running_loop()
        self._loaded: set[str] = set()

    def start(self) -> None:
        """Take everything Python code registers, now and later, and load what there is to load."""
        extensions.connect(self._heard)
        self._begin(ENTRY_POINTS, self._load_entry_points())
        self.load(self._lua_modules)

    def load(self, lua_modules: Sequence[str]) -> None:
        """Load what `tools.modules` names and nobody loaded yet; ``lua_modules`` are not ours."""
        for name in self._services.settings.shared().config.tools.modules:
            if name not in lua_modules:
                self._load_once(name)

    def _load_once(self, name: str) -> None:
        if name not in self._loaded:
            self._loaded.add(name)
            self._begin(f"module {name}", self._load(name))

    def _begin(self, source: str, work: Coroutine[Any, Any, None]) -> None:
        timeout = self._services.settings.shared().config.tools.default_timeout
        self._services.tool_sources.begin(source, timeout)

        async def run() -> None:
            try:
                await work
            finally:
                self._services.tool_sources.finish(source)

        self._services.tasks.spawn(run(), f"loading of {source}")

    async def _load(self, name: str) -> None:
        directory = self._services.working_directory
        try:
            await in_own_thread(load_module, name, directory, name=f"module {name}")
        except Exception as error:  # noqa: BLE001 - code of the user may raise anything
            self._failed(name, error)

    async def _load_entry_points(self) -> None:
        for name, error in (await in_own_thread(load_entry_points, name=ENTRY_POINTS)).items():
            self._failed(name, error)

    def _failed(self, name: str, error: Exception) -> None:
        log.error("module %s could not be loaded", name, exc_info=error)
        reason = str(error)
        if not isinstance(error, FlemmaError):
            reason = f"{type(error).__name__}: {error}"
        self._services.screen.notify(
            f"Module '{name}' could not be loaded: {reason}", Level.ERROR, once=True
        )

    def _heard(self, entry: Registration) -> None:
        """Take a registration, from whatever thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._apply, entry)

    def _apply(self, entry: Registration) -> None:
        takers: Mapping[Kind, Callable[[Registration], None]] = {
            Kind.TOOL: self._tool,
            Kind.SOURCE: self._source,
            Kind.MODULE: lambda entry: self._load_once(entry.name),
            Kind.RESOLVER: self._resolver,
            Kind.FRONTMATTER: self._frontmatter,
            Kind.SANDBOX: self._sandbox,
            Kind.PROVIDER: self._provider,
            Kind.BACKUP: self._backup,
        }
        try:
            if entry.value is None:
                self._take_back(entry)
            else:
                takers[entry.kind](entry)
        except (FlemmaError, ValueError, TypeError) as error:
            text = f"{entry.kind} '{entry.name}' of {entry.origin} was not registered: {error}"
            self._services.screen.notify(text, Level.ERROR)

    def _take_back(self, entry: Registration) -> None:
        match entry.kind:
            case Kind.TOOL:
                self._services.tools.unregister(entry.name)
            case Kind.RESOLVER:
                self._services.resolvers.unregister(entry.name)
            case Kind.FRONTMATTER:
                self._services.settings.unregister_language(entry.name)
            case Kind.SANDBOX:
                self._services.sandboxes.unregister(entry.name)
            case _:
                log.warning("cannot unregister %s %s", entry.kind, entry.name)

    def _tool(self, entry: Registration) -> None:
        definition: ToolDefinition = entry.value
        for warning in self._services.tools.register(python_tool(definition, entry.origin)):
            self._services.screen.notify(warning, Level.WARN)

    def _source(self, entry: Registration) -> None:
        definition: SourceDefinition = entry.value
        default = self._services.settings.shared().config.tools.default_timeout
        self._services.tool_sources.begin(entry.name, float(definition.timeout or default))
        self._services.tasks.spawn(self._resolve(entry, definition), f"tool source {entry.name}")

    async def _resolve(self, entry: Registration, definition: SourceDefinition) -> None:
        def register(name: str, fields: Mapping[str, Any] | None = None, **more: Any) -> None:
            tool = definition_of(name, {**(fields or {}), **more})
            self._heard(Registration(Kind.TOOL, name, tool, entry.origin))

        def done(error: object = None) -> None:
            reason = None if error is None else str(error)
            finish = partial(self._services.tool_sources.finish, entry.name, reason)
            self._loop.call_soon_threadsafe(finish)

        try:
            await called(definition.resolve, register, done, name=f"tool source {entry.name}")
        except Exception as error:
            # What it throws counts as `done(error)`.
            log.info("tool source %s raised", entry.name, exc_info=error)
            done(str(error) or type(error).__name__)

    def _resolver(self, entry: Registration) -> None:
        fields: Mapping[str, Any] = entry.value
        function: Callable[..., Any] = fields["resolve"]

        def resolve(tool: str, tool_input: Mapping[str, Any], context: ApprovalContext) -> Any:
            arguments = (tool, dict(tool_input), context.public())
            return called(function, *arguments, name=f"resolver {entry.name}")

        self._services.resolvers.register(
            Resolver(entry.name, resolve, int(fields["priority"]), str(fields["description"]))
        )

    def _frontmatter(self, entry: Registration) -> None:
        def evaluate(code: str, context: FrontmatterContext) -> Any:
            names = {key: value for key, value in context.globals.items() if not callable(value)}
            return called(entry.value, code, names, name=f"frontmatter {entry.name}")

        self._services.settings.register_language(entry.name, evaluate)

    def _sandbox(self, entry: Registration) -> None:
        self._services.sandboxes.register(PythonSandbox(entry.name, entry.value))

    def _provider(self, entry: Registration) -> None:
        providers = self._services.providers
        providers.register(entry.value, entry.origin)
        self._services.settings.providers_known(providers.names())

    def _backup(self, entry: Registration) -> None:
        async def backup(path: str) -> None:
            try:
                await called(entry.value, path, name=f"backup {entry.name}")
            except Exception as error:
                raise StoreError(str(error)) from error

        self._services.backups.register(entry.name, backup)

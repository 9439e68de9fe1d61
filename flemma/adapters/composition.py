"""The composition root of both front ends: builds the adapters and hands them to the use cases."""

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flemma
from flemma.adapters.clock import SystemClock
from flemma.adapters.files import LocalFiles
from flemma.adapters.ids import RandomIds
from flemma.adapters.late import late
from flemma.adapters.processes import SystemProcesses
from flemma.adapters.spools import DiskSpools
from flemma.app.services import Services
from flemma.app.settings import SettingsStore
from flemma.app.tool_sources import ToolSources
from flemma.approval.chain import ResolverChain
from flemma.config.layers import Layer
from flemma.config.setup import read_setup, setup_notice
from flemma.ports.clock import Clock
from flemma.ports.credentials import Credentials
from flemma.ports.editor import Level, Screen
from flemma.ports.files import OpenBuffers
from flemma.ports.http import Http
from flemma.ports.tasks import Tasks
from flemma.providers.registry import ProviderRegistry
from flemma.tools.builtin import BUILTINS
from flemma.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from flemma.app.sandboxes import Sandboxes
    from flemma.app.store import Backups
    from flemma.app.template_reading import TemplateReader
    from flemma.app.usage import UsageLedger


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """What differs between an editor and a command line."""

    screen: Screen
    tasks: Tasks
    buffers: OpenBuffers
    working_directory: str
    options: Mapping[str, Any]
    """The options of `setup()`."""


@dataclass(frozen=True, slots=True)
class Composition:
    """The services, and what must be ended with them."""

    services: Services
    processes: SystemProcesses

    def end(self) -> None:
        """End every process that was started; quick enough for quitting."""
        self.processes.kill_all()


def compose(front: FrontEnd) -> Composition:
    """Build the services for a front end. Loads nothing that the first paint does not need."""
    clock = SystemClock()
    files = LocalFiles()
    processes = SystemProcesses()
    tools = ToolRegistry()
    tools.register_late(BUILTINS)
    sources = ToolSources(clock, front.screen, front.tasks)
    settings = SettingsStore(tools, loading=lambda: sources.loading)
    settings.tools_changed()
    tools.subscribe(settings.tools_changed)
    providers = ProviderRegistry.with_builtins()
    settings.providers_known(providers.names())
    environment = dict(os.environ)
    apply_setup(settings, front.options, front.screen)
    services = Services(
        clock=clock,
        ids=RandomIds(),
        tasks=front.tasks,
        screen=front.screen,
        files=files,
        spools=DiskSpools(),
        buffers=front.buffers,
        processes=processes,
        http=late(lambda: _http(clock)),
        credentials=late(lambda: _credentials(services)),
        tools=tools,
        tool_sources=sources,
        providers=providers,
        resolvers=ResolverChain(settings.shared().config.tools.require_approval),
        sandboxes=late(lambda: _sandboxes(services)),
        settings=settings,
        usage=late(_usage),
        backups=late(lambda: _backups(services)),
        render=lambda source, variables: _render(source, variables, clock),
        template_reader=late(lambda: _template_reader(services)),
        environment=environment,
        working_directory=front.working_directory,
        jitter=random.random,
    )
    return Composition(services, processes)


# What needs these parts also needs time; the first paint of a chat needs none of them. So each
# imports its modules when it is made.


def _http(clock: Clock) -> Http:
    from flemma.adapters.http import HttpxTransport, SchemeHttp

    return SchemeHttp(HttpxTransport(f"flemma/{flemma.__version__}"), clock)


def _credentials(services: Services) -> Credentials:
    from flemma.adapters.credentials.chain import default_chain

    gcloud = services.settings.shared().config.secrets.gcloud
    return default_chain(
        services.environment, services.processes, services.clock, gcloud_path=gcloud.path
    )


def _sandboxes(services: Services) -> "Sandboxes":
    from flemma.adapters.sandbox.bubblewrap import BubblewrapBackend, BubblewrapOptions
    from flemma.app.sandboxes import Sandboxes

    sandboxes = Sandboxes(services.files)
    bwrap = services.settings.shared().config.sandbox.backends.bwrap
    options = BubblewrapOptions(bwrap.path, tuple(bwrap.extra_args))
    sandboxes.register(BubblewrapBackend(services.processes, options))
    return sandboxes


def _usage() -> "UsageLedger":
    from flemma.app.usage import UsageLedger

    return UsageLedger()


def _backups(services: Services) -> "Backups":
    from flemma.app.store import Backups

    return Backups(services.files)


def _render(source: str, variables: Mapping[str, Any], clock: Clock) -> str:
    from flemma.templating.text import render_text

    return render_text(source, variables, now=clock.now(), pid=os.getpid())


def _template_reader(services: Services) -> "TemplateReader":
    from flemma.adapters.surroundings import PersonalitySource
    from flemma.adapters.template_files import DiskTemplateFiles
    from flemma.app.template_reading import TemplateReader

    source = PersonalitySource(services.clock, services.tools)
    return TemplateReader(
        files=DiskTemplateFiles(),
        clock=services.clock,
        place=services.place,
        personalities=lambda path, buffer_id, names: source.personalities(
            services.place(path), buffer_id, names
        ),
        pid=os.getpid(),
    )


def apply_setup(settings: SettingsStore, options: Mapping[str, Any], screen: Screen) -> None:
    """Write the options of `setup()` to their layer; every bad one is told once."""
    operations, errors = read_setup(options, settings.known)
    settings.set_layer(Layer.SETUP, operations)
    problems = (*errors, *settings.shared().errors)
    notice = setup_notice(problems)
    if notice is not None:
        screen.notify(notice, Level.ERROR, once=True)

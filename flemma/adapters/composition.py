"""The composition root of both front ends: builds the adapters and hands them to the use cases."""

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flemma
from flemma.adapters.clock import SystemClock
from flemma.adapters.credentials.chain import default_chain
from flemma.adapters.files import LocalFiles
from flemma.adapters.http import HttpxTransport, SchemeHttp
from flemma.adapters.ids import RandomIds
from flemma.adapters.processes import SystemProcesses
from flemma.adapters.sandbox.bubblewrap import BubblewrapBackend, BubblewrapOptions
from flemma.adapters.spools import DiskSpools
from flemma.adapters.surroundings import PersonalitySource
from flemma.adapters.template_files import DiskTemplateFiles
from flemma.app.sandboxes import Sandboxes
from flemma.app.services import Services
from flemma.app.settings import SettingsStore
from flemma.app.store import Backups
from flemma.app.template_reading import TemplateReader
from flemma.app.tool_sources import ToolSources
from flemma.app.usage import UsageLedger
from flemma.approval.chain import ResolverChain
from flemma.config.layers import Layer
from flemma.config.setup import read_setup, setup_notice
from flemma.ports.editor import Level, Screen
from flemma.ports.files import OpenBuffers
from flemma.ports.tasks import Tasks
from flemma.providers.registry import ProviderRegistry
from flemma.templating.text import render_text
from flemma.tools.builtin import builtin_definitions
from flemma.tools.registry import ToolRegistry


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
    for definition in builtin_definitions():
        tools.register(definition)
    sources = ToolSources(clock, front.screen, front.tasks)
    settings = SettingsStore(tools, loading=lambda: sources.loading)
    settings.tools_changed()
    tools.subscribe(settings.tools_changed)
    providers = ProviderRegistry.with_builtins()
    settings.providers_known(providers.names())
    environment = dict(os.environ)
    personalities = PersonalitySource(clock, tools)

    def render(source: str, variables: Mapping[str, Any]) -> str:
        return render_text(source, variables, now=clock.now(), pid=os.getpid())

    apply_setup(settings, front.options, front.screen)
    shared = settings.shared().config
    sandboxes = Sandboxes(files)
    bwrap = shared.sandbox.backends.bwrap
    sandboxes.register(
        BubblewrapBackend(processes, BubblewrapOptions(bwrap.path, tuple(bwrap.extra_args)))
    )
    services = Services(
        clock=clock,
        ids=RandomIds(),
        tasks=front.tasks,
        screen=front.screen,
        files=files,
        spools=DiskSpools(),
        buffers=front.buffers,
        processes=processes,
        http=SchemeHttp(HttpxTransport(f"flemma/{flemma.__version__}"), clock),
        credentials=default_chain(
            environment, processes, clock, gcloud_path=shared.secrets.gcloud.path
        ),
        tools=tools,
        tool_sources=sources,
        providers=providers,
        resolvers=ResolverChain(shared.tools.require_approval),
        sandboxes=sandboxes,
        settings=settings,
        usage=UsageLedger(),
        backups=Backups(files),
        render=render,
        template_reader=TemplateReader(
            files=DiskTemplateFiles(),
            clock=clock,
            place=lambda path: services.place(path),
            personalities=lambda path, buffer_id, names: personalities.personalities(
                services.place(path), buffer_id, names
            ),
            pid=os.getpid(),
        ),
        environment=environment,
        working_directory=front.working_directory,
        jitter=random.random,
    )
    return Composition(services, processes)


def apply_setup(settings: SettingsStore, options: Mapping[str, Any], screen: Screen) -> None:
    """Write the options of `setup()` to their layer; every bad one is told once."""
    operations, errors = read_setup(options, settings.known)
    settings.set_layer(Layer.SETUP, operations)
    problems = (*errors, *settings.shared().errors)
    notice = setup_notice(problems)
    if notice is not None:
        screen.notify(notice, Level.ERROR, once=True)

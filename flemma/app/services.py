"""What the use cases work with: ports and registries, built by the composition root."""

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flemma.app.settings import SettingsStore
from flemma.app.tool_sources import ToolSources
from flemma.approval.chain import ResolverChain
from flemma.conversation.references import Place
from flemma.ports.clock import Clock
from flemma.ports.credentials import Credentials
from flemma.ports.editor import Screen
from flemma.ports.files import Files, OpenBuffers
from flemma.ports.http import Http
from flemma.ports.ids import Ids
from flemma.ports.processes import Processes
from flemma.ports.spools import Spools
from flemma.ports.tasks import Tasks
from flemma.providers.registry import ProviderRegistry
from flemma.tools.registry import ToolRegistry

if TYPE_CHECKING:
    # The composition root makes these late, so that a host need not import them to start.
    from flemma.app.sandboxes import Sandboxes
    from flemma.app.store import Backups
    from flemma.app.store_paths import Render
    from flemma.app.template_reading import TemplateReader
    from flemma.app.usage import UsageLedger


@dataclass(slots=True)
class Services:
    """One set for the whole process."""

    clock: Clock
    ids: Ids
    tasks: Tasks
    screen: Screen
    files: Files
    spools: Spools
    buffers: OpenBuffers
    processes: Processes
    http: Http
    credentials: Credentials
    tools: ToolRegistry
    tool_sources: ToolSources
    providers: ProviderRegistry
    resolvers: ResolverChain
    sandboxes: "Sandboxes"
    settings: SettingsStore
    usage: "UsageLedger"
    backups: "Backups"
    render: "Render"
    """Renders path templates in the standard templating environment."""
    template_reader: "TemplateReader"
    environment: Mapping[str, str]
    working_directory: str
    """The editor's working directory when the host started."""
    jitter: Callable[[], float]
    """Returns a random number from 0 to 1."""

    def place(self, path: str | None) -> Place:
        """Return where a chat lives: the directory of its file, else the working directory."""
        directory = self.working_directory if path is None else posixpath.dirname(path)
        return Place(path, directory, self.environment.get("HOME", "/"))

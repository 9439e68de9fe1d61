"""Builds the execution context of one call (spec: tools, "ExecutionContext")."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flemma.app.jobs import Jobs
from flemma.app.sandboxes import Sandboxes, SandboxOptions
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.app.store import ResultStore
from flemma.app.store_paths import (
    StoreKey,
    StoreOptions,
    StoreSite,
    expand_environment,
    normalise,
)
from flemma.chat.pairing import CallKey
from flemma.conversation.references import Place
from flemma.ports.editor import ChatBuffer
from flemma.ports.sandbox import SandboxBackend, SandboxPolicy
from flemma.tools.context import ToolContext
from flemma.tools.sandbox_policy import PathVariables

BUFFER_PATH = "urn:flemma:buffer:path"
CURRENT_DIRECTORY = "urn:flemma:cwd"
STORE_VARIABLE = "FLEMMA_TOOLS_STORE_PATH"


def expand_cwd(value: object, place: Place, editor_cwd: str, environment: Mapping[str, str]) -> str:
    """Return the directory that a `tools.<name>.cwd` option names (spec: behaviour 2.12)."""
    if not isinstance(value, str) or not value or value == CURRENT_DIRECTORY:
        return editor_cwd
    if value == BUFFER_PATH:
        return place.directory
    expanded = expand_environment(value, environment)
    return normalise(expanded if expanded.startswith("/") else f"{place.directory}/{expanded}")


class CallPaths:
    """`ctx.path`."""

    def __init__(self, place: Place, store_directory: str | None) -> None:
        self._place = place
        self._store_directory = store_directory

    def resolve(self, path: str) -> str:
        """Return an absolute path; ``~/`` and ``$FLEMMA_TOOLS_STORE_PATH/`` expand."""
        for prefix in (f"${STORE_VARIABLE}/", f"${{{STORE_VARIABLE}}}/"):
            if self._store_directory and path.startswith(prefix):
                return normalise(f"{self._store_directory}/{path.removeprefix(prefix)}")
        if path == "~" or path.startswith("~/"):
            return normalise(self._place.home + path[1:])
        if path.startswith("/"):
            return path
        return normalise(f"{self._place.directory}/{path}")


class CallSandbox:
    """`ctx.sandbox`: the policy of the buffer."""

    def __init__(self, sandboxes: Sandboxes, options: SandboxOptions) -> None:
        self._sandboxes = sandboxes
        self._options = options

    async def is_path_writable(self, path: str) -> bool:
        """Tell whether the sandbox policy of the buffer allows writing ``path``."""
        return self._sandboxes.is_path_writable(self._options, path)

    async def wrap_command(self, argv: Sequence[str]) -> Sequence[str]:
        """Return ``argv`` confined. Raises :class:`flemma.errors.SandboxUnavailable`."""
        return await self._sandboxes.wrap(self._options, argv)

    async def confinement(self) -> tuple[SandboxBackend, SandboxPolicy] | None:
        """Return backend and policy. Raises :class:`flemma.errors.SandboxUnavailable`."""
        return await self._sandboxes.confinement(self._options)


class CallContexts:
    """Makes contexts for the calls of one buffer, from its settings at that moment."""

    def __init__(self, services: Services, buffer: ChatBuffer, jobs: Jobs) -> None:
        self._services = services
        self._buffer = buffer
        self._jobs = jobs

    def store(self, settings: BufferSettings) -> ResultStore:
        """Return the result store of the buffer."""
        options = settings.config.tools.store
        services = self._services
        site = StoreSite(
            StoreOptions(options.path_format, options.unnamed_path_format),
            self._buffer.path,
            self._buffer.id,
            services.place(self._buffer.path).directory,
            services.environment,
            services.render,
        )
        backup = None if options.backup is False else services.backups.find(options.backup)
        return ResultStore(site, services.files, services.spools, services.screen, backup)

    def sandbox_options(self, settings: BufferSettings) -> SandboxOptions:
        """Return the sandbox policy of the buffer."""
        sandbox = settings.config.sandbox
        place = self._services.place(self._buffer.path)
        variables = PathVariables(
            cwd=self._services.working_directory,
            home=place.home,
            buffer_directory=place.dirname,
            store_directory=self.store(settings).directory,
            environment=self._services.environment,
        )
        policy = sandbox.policy
        return SandboxOptions(
            variables,
            enabled=sandbox.enabled,
            backend=sandbox.backend,
            rw_paths=tuple(policy.rw_paths),
            network=policy.network,
            allow_privileged=policy.allow_privileged,
        )

    def sandbox(self, settings: BufferSettings) -> CallSandbox:
        """Return the sandbox of the buffer as a call sees it."""
        return CallSandbox(self._services.sandboxes, self.sandbox_options(settings))

    def context(self, key: CallKey, store_key: StoreKey, settings: BufferSettings) -> ToolContext:
        """Return the context of one call; ``store_key`` names its tool and its store files."""
        tool_name = store_key.tool_name
        services = self._services
        place = services.place(self._buffer.path)
        store = self.store(settings)
        table = settings.resolved.tool_table(tool_name)
        return ToolContext(
            bufnr=self._buffer.id,
            tool_id=key.id,
            tool_name=tool_name,
            cwd=expand_cwd(
                (table or {}).get("cwd"), place, services.working_directory, services.environment
            ),
            timeout=settings.config.tools.default_timeout,
            dirname=place.dirname,
            filename=place.filename,
            path=CallPaths(place, store.directory),
            sandbox=self.sandbox(settings),
            store=store.for_call(store_key),
            files=services.files,
            buffers=services.buffers,
            processes=services.processes,
            config=table,
            get_parsed_document=lambda: self._buffer.document,
            job_status=self._job_status(),
            environment={STORE_VARIABLE: store.directory} if store.directory else {},
        )

    def _job_status(self) -> Callable[[str], Mapping[str, Any]]:
        return lambda job_id: self._jobs.status(
            job_id, self._buffer.document, self._services.clock.monotonic()
        )

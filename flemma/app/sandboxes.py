"""Which sandbox a command gets, if any (spec: behaviour 13.1; cases K-01, K-07)."""

from collections.abc import Sequence
from dataclasses import dataclass

from flemma.errors import SandboxUnavailable
from flemma.ports.files import FileKind, Files
from flemma.ports.sandbox import SandboxBackend, SandboxPolicy
from flemma.tools.sandbox_policy import (
    PathVariables,
    expand_paths,
    is_writable,
    writable_roots,
)

AUTO = "auto"
REQUIRED = "required"
NOT_SANDBOXED = (
    "Tool execution is not sandboxed — no compatible backend found. Run :Flemma sandbox:status for "
    "details, or set sandbox.enabled = false to disable."
)
"""Shown on entering a chat when a sandbox is required and there is none."""


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """`sandbox` of the merged configuration of one buffer, and what its paths stand for."""

    variables: PathVariables
    enabled: bool = True
    backend: str | None = AUTO
    rw_paths: tuple[str, ...] = ()
    network: bool = True
    allow_privileged: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    """The backend for a buffer. Without one ``reason`` says why; ``refuses`` whether commands must
    not run then."""

    enabled: bool
    backend: SandboxBackend | None = None
    reason: str | None = None
    refuses: bool = False

    @property
    def active(self) -> bool:
        """Whether commands are confined."""
        return self.backend is not None


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """What `:Flemma sandbox:status` shows."""

    resolution: Resolution
    configured: str | None
    override: bool | None
    policy: SandboxPolicy
    backends: tuple[tuple[str, int, str | None], ...]
    """Name, priority and why it is not available (None: it is), best first."""


class Sandboxes:
    """All backends, the session's override, and the decision for each command."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._backends: dict[str, SandboxBackend] = {}
        self._reasons: dict[str, str | None] = {}
        self._override: bool | None = None

    def register(self, backend: SandboxBackend) -> None:
        """Add or replace a backend; what was found out before is forgotten."""
        self._backends[backend.name] = backend
        self._reasons.clear()

    def unregister(self, name: str) -> bool:
        """Remove a backend; tell whether it was there."""
        self._reasons.clear()
        return self._backends.pop(name, None) is not None

    async def enable(self, options: SandboxOptions) -> str:
        """Switch confinement on for the session, whatever the configuration says.

        Returns the message for the user. Raises :class:`SandboxUnavailable` and changes nothing
        when there is no backend.
        """
        resolution = await self._select(options.backend)
        if resolution.backend is None:
            raise SandboxUnavailable(f"Cannot enable sandbox: {resolution.reason}")
        self._override = True
        return "Sandbox enabled"

    def disable(self) -> str:
        """Switch confinement off for the session; return the message for the user."""
        self._override = False
        return "Sandbox disabled"

    def is_enabled(self, options: SandboxOptions) -> bool:
        """Tell whether confinement is wanted: the session's word, else the configuration's."""
        return options.enabled if self._override is None else self._override

    async def resolve(self, options: SandboxOptions) -> Resolution:
        """Choose the backend for a buffer. Off is off: no backend is even probed (K-07)."""
        if not self.is_enabled(options):
            return Resolution(enabled=False)
        return await self._select(options.backend)

    async def wrap(self, options: SandboxOptions, argv: Sequence[str]) -> Sequence[str]:
        """Return ``argv`` confined, or unchanged when the sandbox is off or, with ``auto``, when
        there is none.

        Raises :class:`SandboxUnavailable` when a backend was named or required and cannot be had.
        """
        confinement = await self.confinement(options)
        if confinement is None:
            return argv
        backend, policy = confinement
        return await backend.wrap(policy, argv)

    async def confinement(
        self, options: SandboxOptions
    ) -> tuple[SandboxBackend, SandboxPolicy] | None:
        """Return the backend and the policy for commands of a buffer, None when they run freely.

        Raises :class:`SandboxUnavailable` as :meth:`wrap` does.
        """
        resolution = await self.resolve(options)
        if resolution.backend is not None:
            return resolution.backend, self.policy(options)
        if resolution.refuses:
            raise SandboxUnavailable(resolution.reason or "", backend=options.backend)
        return None

    def policy(self, options: SandboxOptions) -> SandboxPolicy:
        """Return the policy with real, existing paths."""
        paths = expand_paths(options.rw_paths, options.variables)
        roots = writable_roots(paths, self._files.real_path, self._exists)
        return SandboxPolicy(roots, options.network, options.allow_privileged)

    def is_path_writable(self, options: SandboxOptions, path: str) -> bool:
        """Tell whether the policy allows writing ``path``; checked even without a backend.

        A directory of the policy that does not exist yet may be made: the store is one.
        """
        if not self.is_enabled(options):
            return True
        paths = expand_paths(options.rw_paths, options.variables)
        roots = writable_roots(paths, self._files.real_path, lambda path: True)
        return is_writable(self._files.real_path(path), roots)

    async def warning(self, options: SandboxOptions) -> str | None:
        """Return what to tell on entering a chat: its required sandbox is missing."""
        if options.backend != REQUIRED or not self.is_enabled(options):
            return None
        return None if (await self._select(options.backend)).active else NOT_SANDBOXED

    async def status(self, options: SandboxOptions) -> SandboxStatus:
        """Return everything about the sandbox of a buffer, all backends probed."""
        return SandboxStatus(
            resolution=await self.resolve(options),
            configured=options.backend,
            override=self._override,
            policy=self.policy(options),
            backends=tuple(
                [(one.name, one.priority, await self._reason(one)) for one in self._by_priority()]
            ),
        )

    async def probe(self, backend: str | None) -> None:
        """Find out ahead of the first command what `sandbox.backend` comes to."""
        await self._select(backend)

    async def _select(self, backend: str | None) -> Resolution:
        match backend:
            case None | "":
                reason = "No sandbox backend configured"
                return Resolution(enabled=True, reason=reason, refuses=True)
            case "auto" | "required" as how:
                return await self._first_available(refuses=how == REQUIRED)
            case name:
                return await self._named(name)

    async def _first_available(self, *, refuses: bool) -> Resolution:
        reasons: list[str] = []
        for backend in self._by_priority():
            reason = await self._reason(backend)
            if reason is None:
                return Resolution(enabled=True, backend=backend)
            reasons.append(f"{backend.name}: {reason}")
        listed = f" ({'; '.join(reasons)})" if reasons else ""
        reason = f"No sandbox backend available{listed}"
        return Resolution(enabled=True, reason=reason, refuses=refuses)

    async def _named(self, name: str) -> Resolution:
        backend = self._backends.get(name)
        if backend is None:
            reason = f"Unknown sandbox backend: {name}"
            return Resolution(enabled=True, reason=reason, refuses=True)
        reason = await self._reason(backend)
        if reason is not None:
            return Resolution(enabled=True, reason=reason, refuses=True)
        return Resolution(enabled=True, backend=backend)

    async def _reason(self, backend: SandboxBackend) -> str | None:
        if backend.name in self._reasons:
            return self._reasons[backend.name]
        reason = await backend.available()
        if self._backends.get(backend.name) is backend:
            self._reasons[backend.name] = reason
        return reason

    def _by_priority(self) -> list[SandboxBackend]:
        return sorted(self._backends.values(), key=lambda one: (-one.priority, one.name))

    def _exists(self, path: str) -> bool:
        return self._files.kind(path) is not FileKind.MISSING

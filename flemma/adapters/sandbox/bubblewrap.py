"""Confinement by bubblewrap (spec: behaviour 13.2; cases K-01, K-05, K-06).

The whole file system is visible read-only, so tools under the home directory work and a directory
that may not be written can still be the working directory; nothing is created on disk.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from flemma.errors import ProcessError, SandboxUnavailable
from flemma.ports.processes import Processes, ProcessSpec
from flemma.ports.sandbox import SandboxPolicy

_PROBE_TIMEOUT = 10.0
_PROBE_OUTPUT = 4096

_NO_NAMESPACES = (
    "The system does not allow unprivileged user namespaces. On Ubuntu 24.04 and later give bwrap "
    "an AppArmor profile with 'userns', or set kernel.apparmor_restrict_unprivileged_userns=0; on "
    "older Debian set kernel.unprivileged_userns_clone=1; in a container allow nested namespaces "
    "(seccomp, AppArmor)."
)
_REMEDIES = (
    (("RTM_NEWADDR", "loopback"), "Set sandbox.policy.network = true: no network namespace."),
    (("mount proc", "mount /proc", "/newroot/proc"), "The container masks /proc; unmask it."),
    (
        ("namespace", "uid map", "gid map", "Operation not permitted", "Permission denied"),
        _NO_NAMESPACES,
    ),
)
_OFF = "To work without confinement set sandbox.enabled = false."


@dataclass(frozen=True, slots=True)
class BubblewrapOptions:
    """`sandbox.backends.bwrap`."""

    path: str = "bwrap"
    extra_args: tuple[str, ...] = field(default=())


class BubblewrapBackend:
    """Runs commands in bubblewrap. Each way of calling it is probed once, by really running it."""

    name = "bwrap"
    priority = 100

    def __init__(
        self,
        processes: Processes,
        options: BubblewrapOptions | None = None,
        *,
        platform: str = sys.platform,
    ) -> None:
        self._processes = processes
        self._options = options or BubblewrapOptions()
        self._platform = platform
        self._probed: dict[SandboxPolicy, str | None] = {}

    async def available(self) -> str | None:
        """Return None when a confined program ran, else the reason with its remedy."""
        return await self._probe(SandboxPolicy(rw_paths=()))

    async def wrap(self, policy: SandboxPolicy, argv: Sequence[str]) -> Sequence[str]:
        """Return the bubblewrap command line for ``argv``.

        Raises :class:`SandboxUnavailable` when this machine cannot do what ``policy`` asks, such as
        cutting off the network.
        """
        bare = SandboxPolicy((), policy.network, policy.allow_privileged)
        if (reason := await self._probe(bare)) is not None:
            raise SandboxUnavailable(reason, backend=self.name)
        return self._command(policy, argv)

    def _command(self, policy: SandboxPolicy, argv: Sequence[str]) -> list[str]:
        binds = [part for path in policy.rw_paths for part in ("--bind", path, path)]
        return [
            self._options.path,
            *("--ro-bind", "/", "/"),
            *binds,
            *("--dev", "/dev", "--proc", "/proc"),
            *(() if policy.allow_privileged else ("--unshare-user",)),
            *("--unshare-pid", "--unshare-uts", "--unshare-ipc"),
            "--share-net" if policy.network else "--unshare-net",
            *("--die-with-parent", "--new-session"),
            *self._options.extra_args,
            *argv,
        ]

    async def _probe(self, policy: SandboxPolicy) -> str | None:
        if policy not in self._probed:
            self._probed[policy] = await self._reason(policy)
        return self._probed[policy]

    async def _reason(self, policy: SandboxPolicy) -> str | None:
        if not self._platform.startswith("linux"):
            return (
                "Bubblewrap sandbox requires Linux (user namespaces). "
                "No sandbox backend is available for this platform."
            )
        path = self._options.path
        if self._processes.which(path) is None:
            return (
                f"bubblewrap (bwrap) not found at '{path}'. Install it (e.g. apt install "
                "bubblewrap) or set sandbox.backends.bwrap.path."
            )
        return await self._run_probe(policy)

    async def _run_probe(self, policy: SandboxPolicy) -> str | None:
        output = bytearray()
        shell = self._processes.which("sh") or "/bin/sh"
        spec = ProcessSpec(
            self._command(policy, (shell, "-c", "exit 0")),
            cwd="/",
            timeout=_PROBE_TIMEOUT,
            output_limit=_PROBE_OUTPUT,
        )
        try:
            outcome = await self._processes.run(spec, output.extend)
        except ProcessError as error:
            return f"bubblewrap (bwrap) could not be started: {error.message}. {_OFF}"
        if outcome.exit_code == 0:
            return None
        said = output.decode("utf-8", "replace").strip()
        if not said:
            ended = outcome.ended_by or f"exit code {outcome.exit_code}"
            said = f"a trial run ended with {ended}"
        return f"bubblewrap is installed but cannot confine commands here: {said}. {_remedy(said)}"


def _remedy(said: str) -> str:
    for signs, remedy in _REMEDIES:
        if any(sign in said for sign in signs):
            return f"{remedy} {_OFF}"
    return _OFF

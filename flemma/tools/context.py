"""The execution context: the stable contract that tool code is written against."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from flemma.chat.document import Document
from flemma.ports.files import Files, OpenBuffers
from flemma.ports.processes import Processes
from flemma.ports.sandbox import SandboxBackend, SandboxPolicy


class PathResolver(Protocol):
    """`ctx.path`."""

    def resolve(self, path: str) -> str:
        """Return an absolute path: relative ones start at the chat file's directory (else the
        working directory); ``~/`` and ``$FLEMMA_TOOLS_STORE_PATH/`` expand."""
        ...


class SandboxAccess(Protocol):
    """`ctx.sandbox`."""

    async def is_path_writable(self, path: str) -> bool:
        """Tell whether the sandbox policy of the buffer allows writing ``path``."""
        ...

    async def wrap_command(self, argv: Sequence[str]) -> Sequence[str]:
        """Return ``argv`` confined by the policy of the buffer (unchanged when the sandbox is
        off). Raises :class:`flemma.errors.SandboxUnavailable`."""
        ...

    async def confinement(self) -> "tuple[SandboxBackend, SandboxPolicy] | None":
        """Return the backend that confines commands of the buffer and its policy, None when they
        run freely. Raises :class:`flemma.errors.SandboxUnavailable`."""
        ...


class OutputStore(Protocol):
    """Where the full output of this call goes when it has to be truncated."""

    @property
    def directory(self) -> str | None:
        """Store directory of the conversation (may not exist yet), None if it has none."""
        ...

    @property
    def path(self) -> str | None:
        """File for the full output of this call, None if it cannot be computed."""
        ...

    async def write(self, text: str) -> str | None:
        """Write the full output (backing up an earlier one); return the path, or None after
        warning the user."""
        ...

    async def open_spool(self) -> "Spool | None":
        """Open the store file for output that is written while it arrives (gigabytes)."""
        ...


class Spool(Protocol):
    """A store file being written. It becomes a real store file only when committed.

    What fails raises :class:`flemma.errors.FlemmaError`, and the user has been told.
    """

    def write(self, data: bytes) -> None:
        """Append bytes."""
        ...

    async def commit(self) -> str:
        """Put it at its final path (backing up an earlier one) and return the path."""
        ...

    def discard(self) -> None:
        """Remove it."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Everything a tool may use (spec: tools, "ExecutionContext")."""

    bufnr: int
    tool_id: str
    tool_name: str
    cwd: str
    timeout: float
    """Default timeout in seconds (`tools.default_timeout`)."""
    dirname: str | None
    """Directory of the chat file (`__dirname`), None for an unnamed buffer."""
    filename: str | None
    path: PathResolver
    sandbox: SandboxAccess
    store: OutputStore
    files: Files
    buffers: OpenBuffers
    processes: Processes
    config: Mapping[str, Any] | None
    """A copy of `tools.<name>` of the merged configuration, None if there is none."""
    get_parsed_document: Callable[[], Document]
    job_status: Callable[[str], Mapping[str, Any]]
    """Answer of `flemma.jobs.status` for a job id (spec: behaviour 7.6)."""
    environment: Mapping[str, str]
    """Variables for commands, `FLEMMA_TOOLS_STORE_PATH` among them."""

    def get_config(self) -> Mapping[str, Any] | None:
        """Return the copy of `tools.<name>`."""
        return self.config

"""Confinement of commands and of writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What a confined command may do. Paths are absolute, real, existing, without duplicates."""

    rw_paths: tuple[str, ...]
    network: bool = True
    allow_privileged: bool = False


class SandboxBackend(Protocol):
    """One way to confine commands, such as bubblewrap."""

    @property
    def name(self) -> str:
        """Name used in `sandbox.backend`."""
        ...

    @property
    def priority(self) -> int:
        """Higher is tried first."""
        ...

    async def available(self) -> str | None:
        """Return None when a real probe ran, else the reason with its remedy. Cached."""
        ...

    async def wrap(self, policy: SandboxPolicy, argv: Sequence[str]) -> Sequence[str]:
        """Return the argument list that runs ``argv`` confined."""
        ...

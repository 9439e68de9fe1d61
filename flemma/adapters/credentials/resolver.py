"""What a place for credentials looks like to the chain that asks them."""

from dataclasses import dataclass
from typing import Protocol

from flemma.ports.credentials import CredentialRequest


@dataclass(frozen=True, slots=True)
class Found:
    """A secret. ``lifetime`` is in seconds, None when it does not expire."""

    secret: str
    lifetime: float | None = None


@dataclass(frozen=True, slots=True)
class NotFound:
    """Why there is none here, for the user."""

    reason: str


class Resolver(Protocol):
    """One place to look."""

    @property
    def name(self) -> str:
        """Name shown in diagnostics."""
        ...

    @property
    def priority(self) -> int:
        """Higher is asked first."""
        ...

    async def resolve(self, request: CredentialRequest) -> Found | NotFound | None:
        """Look for a secret; None when this place does not deal with such requests."""
        ...

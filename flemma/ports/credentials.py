"""Keys and tokens."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CredentialRequest:
    """A credential that a provider needs (spec: behaviour 13.3)."""

    kind: str
    """``api_key`` or ``access_token``."""
    service: str
    description: str
    aliases: tuple[str, ...] = ()
    """Further environment variables, tried after ``<SERVICE>_<KIND>``."""


class Credentials(Protocol):
    """Finds credentials; remembers them for the life of the process."""

    async def get(self, request: CredentialRequest) -> str:
        """Return the secret. Raises :class:`flemma.errors.CredentialError` naming every place
        that was tried."""
        ...

    def invalidate(self, request: CredentialRequest) -> None:
        """Forget one secret, after the service refused it."""
        ...

    def invalidate_all(self) -> None:
        """Forget all secrets."""
        ...

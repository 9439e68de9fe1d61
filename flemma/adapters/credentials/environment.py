"""Credentials in environment variables (spec: behaviour 13.3)."""

from collections.abc import Mapping

from flemma.adapters.credentials.resolver import Found, NotFound
from flemma.ports.credentials import CredentialRequest


class EnvironmentResolver:
    """``<SERVICE>_<KIND>``, then the aliases; an empty variable counts as unset."""

    name = "environment"
    priority = 100

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    async def resolve(self, request: CredentialRequest) -> Found | NotFound:
        """Look the variables up."""
        first = f"{request.service}_{request.kind}".upper().replace("-", "_")
        for variable in (first, *request.aliases):
            value = self._environment.get(variable, "").strip()
            if value:
                return Found(value)
        tried = f" (also tried: {', '.join(request.aliases)})" if request.aliases else ""
        return NotFound(f"{first} not set{tried}")

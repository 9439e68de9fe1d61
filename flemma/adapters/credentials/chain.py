"""All places for credentials in order, and the memory of what was found."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flemma.adapters.credentials.environment import EnvironmentResolver
from flemma.adapters.credentials.gcloud import GcloudResolver
from flemma.adapters.credentials.key_stores import (
    KeychainResolver,
    KeyringResolver,
    SecretToolResolver,
)
from flemma.adapters.credentials.resolver import Found, NotFound, Resolver
from flemma.errors import CredentialError
from flemma.ports.clock import Clock
from flemma.ports.credentials import CredentialRequest
from flemma.ports.processes import Processes


@dataclass(frozen=True, slots=True)
class _Remembered:
    secret: str
    until: float | None


class CredentialChain:
    """Asks resolvers by priority; the first that has a secret wins."""

    def __init__(self, resolvers: Sequence[Resolver], clock: Clock) -> None:
        self._resolvers = sorted(resolvers, key=lambda resolver: -resolver.priority)
        self._clock = clock
        self._remembered: dict[str, _Remembered] = {}
        # One question at a time for each secret, so that a key store asks the user once.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def add(self, resolver: Resolver) -> None:
        """Add a place to look (registered in Lua, say)."""
        self._resolvers = sorted([*self._resolvers, resolver], key=lambda place: -place.priority)

    async def get(self, request: CredentialRequest) -> str:
        """Return the secret. Raises :class:`CredentialError` with one line per place."""
        found = await self._look_up(request)
        if isinstance(found, str):
            return found
        raise CredentialError(
            "\n".join([f"No {request.description or _fallback(request)} found:", *found]),
            service=request.service,
        )

    async def find(self, request: CredentialRequest) -> str | None:
        """Return the secret, or None."""
        found = await self._look_up(request)
        return found if isinstance(found, str) else None

    async def _look_up(self, request: CredentialRequest) -> str | list[str]:
        """Return the secret, or why each place had none."""
        key = _key(request)
        async with self._locks[key]:
            remembered = self._remembered.get(key)
            if remembered is not None and self._is_good(remembered):
                return remembered.secret
            reasons: list[str] = []
            for resolver in self._resolvers:
                match await resolver.resolve(request):
                    case Found(secret, lifetime):
                        until = None if lifetime is None else self._clock.monotonic() + lifetime
                        self._remembered[key] = _Remembered(secret, until)
                        return secret
                    case NotFound(reason):
                        reasons.append(f"  [{resolver.name}] {reason}")
                    case None:
                        continue
            return reasons

    def _is_good(self, remembered: _Remembered) -> bool:
        return remembered.until is None or self._clock.monotonic() < remembered.until

    def invalidate(self, request: CredentialRequest) -> None:
        """Forget one secret, after the service refused it."""
        self._remembered.pop(_key(request), None)

    def invalidate_all(self) -> None:
        """Forget all secrets."""
        self._remembered.clear()


def _key(request: CredentialRequest) -> str:
    return f"{request.kind}:{request.service}"


def _fallback(request: CredentialRequest) -> str:
    return f"{request.kind} for {request.service}"


def default_chain(
    environment: Mapping[str, str],
    processes: Processes,
    clock: Clock,
    gcloud_path: str = "gcloud",
    platform: str = sys.platform,
) -> CredentialChain:
    """Return the chain of all built-in places (spec: behaviour 13.3)."""
    chain = CredentialChain(
        (
            EnvironmentResolver(environment),
            SecretToolResolver(processes, platform),
            KeychainResolver(processes, platform),
            KeyringResolver(),
        ),
        clock,
    )
    chain.add(GcloudResolver(processes, chain.find, gcloud_path))
    return chain

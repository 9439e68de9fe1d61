"""HTTP, streaming."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A POST, ready to send. ``secret_headers`` names the headers that logs must mask."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    connect_timeout: float = 10.0
    """Seconds until the connection must stand."""
    read_timeout: float = 600.0
    """Seconds of silence between two chunks."""
    secret_headers: frozenset[str] = frozenset({"authorization", "x-api-key"})


class HttpResponse(Protocol):
    """A response whose body is read chunk by chunk."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield decoded body bytes as they arrive."""
        ...


class Http(Protocol):
    """Sends requests. Failures are :class:`flemma.errors.ProviderError` (network or timeout)."""

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        """Send and give the response as soon as its headers are there; leaving closes it."""
        ...

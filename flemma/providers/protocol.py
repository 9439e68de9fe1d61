"""What a provider is: credentials, a request builder and a stream decoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flemma.conversation.events import StreamEvent
from flemma.conversation.messages import Conversation
from flemma.errors import ProviderError
from flemma.ports.credentials import CredentialRequest
from flemma.ports.http import HttpRequest


@dataclass(frozen=True, slots=True)
class WireTool:
    """A tool as sent: wire-encoded name, JSON Schema with harness parameters injected."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """Resolved request parameters: general ones overlaid by `parameters.<provider>`."""

    model: str
    max_tokens: int
    temperature: float | None = None
    timeout: float = 600.0
    connect_timeout: float = 10.0
    cache_retention: str = "short"
    thinking: str | int | None = "high"
    """A level (`minimal` to `max`), a token budget, or None for off."""
    foreign_thinking: str = "preserve"
    """`preserve` or `drop` thinking that this provider did not sign."""
    drop_mismatched_thinking: bool = False
    """Ask the server to drop thinking whose prefix was edited (providers 1.5)."""
    specific: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The merged `parameters.<provider>` table."""


class StreamDecoder(Protocol):
    """Turns response bytes into stream events; any chunking gives the same events."""

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take the next bytes of a 2xx response body."""
        ...

    def finish(self) -> Sequence[StreamEvent]:
        """Take the end of the body: always ends in `Finished` or `Failed` overall."""
        ...


class Provider(Protocol):
    """One wire format."""

    @property
    def name(self) -> str:
        """Name used in `provider`."""
        ...

    @property
    def display_name(self) -> str:
        """Name spoken in messages."""
        ...

    @property
    def default_model(self) -> str:
        """Model used when none is configured."""
        ...

    def credential(self) -> CredentialRequest | None:
        """Return what must be resolved before a request, None if nothing is."""
        ...

    def build(
        self,
        conversation: Conversation,
        parameters: Parameters,
        tools: Sequence[WireTool],
        secret: str | None,
        environment: Mapping[str, str],
    ) -> HttpRequest:
        """Build the request, byte-stable for equal input. Raises `ProviderError` of kind
        `invalid_request` for what the service is known to refuse and cannot be repaired."""
        ...

    def decoder(self, content_type: str) -> StreamDecoder:
        """Return a new decoder for one 2xx response."""
        ...

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Classify a response that is not 2xx."""
        ...

    def warnings(self, parameters: Parameters) -> tuple[str, ...]:
        """Return what of the parameters cannot be had from this model, one sentence each."""
        ...

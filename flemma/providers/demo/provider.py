"""The demo provider: Anthropic's format, answered by a script inside this process."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from flemma.conversation.messages import Conversation
from flemma.errors import ProviderError
from flemma.models.catalogue import Model
from flemma.ports.credentials import CredentialRequest
from flemma.ports.http import HttpRequest
from flemma.providers.anthropic.errors import classify_response
from flemma.providers.anthropic.request import TRAILING_KEYS, build_body
from flemma.providers.anthropic.stream import AnthropicDecoder
from flemma.providers.protocol import Parameters, StreamDecoder, WireTool
from flemma.providers.wire_json import encode_body

SCHEME = "demo:"
PACKAGED = "tour.yaml"


class DemoProvider:
    """Plays a script: no network, no key, no cost."""

    @property
    def name(self) -> str:
        """Name used in `provider`."""
        return "demo"

    @property
    def display_name(self) -> str:
        """Name spoken in messages."""
        return "Demo"

    @property
    def default_model(self) -> str:
        """The packaged tour; the name means nothing else."""
        return "tour"

    def credential(self) -> CredentialRequest | None:
        """Nothing is needed."""
        return None

    def build(
        self,
        conversation: Conversation,
        parameters: Parameters,
        tools: Sequence[WireTool],
        secret: str | None,
        environment: Mapping[str, str],
    ) -> HttpRequest:
        """Build a request for the demo transport; `parameters.demo.script` is an absolute path."""
        del secret, environment
        model = Model(self.name, parameters.model, prefill=False)
        body = build_body(conversation, parameters, tools, model, self.name)
        return HttpRequest(
            url=script_url(parameters.specific.get("script")),
            headers={"content-type": "application/json"},
            body=encode_body(body.fields, TRAILING_KEYS),
            connect_timeout=parameters.connect_timeout,
            read_timeout=parameters.timeout,
        )

    def decoder(self, content_type: str) -> StreamDecoder:
        """Return a new decoder."""
        del content_type
        return AnthropicDecoder(self.name, self.display_name)

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Classify an injected error status."""
        return classify_response(status, headers, body)

    def warnings(self, parameters: Parameters) -> tuple[str, ...]:
        """A script takes every parameter."""
        del parameters
        return ()


def script_url(path: object) -> str:
    """Return the address of a script; anything but a path means the packaged tour."""
    return SCHEME + (quote(path) if isinstance(path, str) else "")


def script_path(url: str) -> str | None:
    """Return the path in a script's address, or None for the packaged tour."""
    return unquote(url.removeprefix(SCHEME)) or None

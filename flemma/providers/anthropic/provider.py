"""The Anthropic provider: headers and address around the body, the decoder, the errors."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from flemma.conversation.messages import Conversation
from flemma.errors import ProviderError
from flemma.models.catalogue import describe
from flemma.models.thinking import plan_thinking
from flemma.ports.credentials import CredentialRequest
from flemma.ports.http import HttpRequest
from flemma.providers.anthropic.errors import classify_response
from flemma.providers.anthropic.limits import check_attachments, check_size
from flemma.providers.anthropic.request import TRAILING_KEYS, build_body
from flemma.providers.anthropic.stream import AnthropicDecoder
from flemma.providers.protocol import Parameters, StreamDecoder, WireTool
from flemma.providers.wire_json import encode_body

DEFAULT_BASE = "https://api.anthropic.com"
VERSION = "2023-06-01"
"""The older of the two live versions: it works with every model and with compatible servers, and
old models still take a temperature under it. Newer models get none (`Model.sampling`)."""
BINDING_BETA = "thinking-binding-controls-2026-08-01"


class AnthropicProvider:
    """Claude models, and servers that speak the same format."""

    @property
    def name(self) -> str:
        """Name used in `provider`."""
        return "anthropic"

    @property
    def display_name(self) -> str:
        """Name spoken in messages."""
        return "Anthropic"

    @property
    def default_model(self) -> str:
        """Model used when none is configured."""
        return "claude-sonnet-4-6"

    def credential(self) -> CredentialRequest | None:
        """Ask for ``ANTHROPIC_API_KEY``, or the bearer token ``ANTHROPIC_AUTH_TOKEN``."""
        return CredentialRequest(
            kind="api_key",
            service="anthropic",
            description="Anthropic API key",
            aliases=("ANTHROPIC_AUTH_TOKEN",),
        )

    def build(
        self,
        conversation: Conversation,
        parameters: Parameters,
        tools: Sequence[WireTool],
        secret: str | None,
        environment: Mapping[str, str],
    ) -> HttpRequest:
        """Build the request.

        ``environment`` gives `ANTHROPIC_BASE_URL`, `ANTHROPIC_CUSTOM_HEADERS` and tells a bearer
        token from a key; `base_url` and `betas` of `parameters.anthropic` win over it. Raises
        :class:`ProviderError` for what is known to be refused, naming it.
        """
        model = describe(self.name, parameters.model, declared(parameters))
        check_attachments(conversation, model)
        body = build_body(conversation, parameters, tools, model, self.name)
        data = encode_body(body.fields, TRAILING_KEYS)
        check_size(data, conversation)
        betas = [*_strings(parameters.specific.get("betas"))]
        if body.binds_thinking:
            betas.append(BINDING_BETA)
        headers = _headers(secret, environment, betas)
        return HttpRequest(
            url=f"{_base(parameters, environment)}/v1/messages",
            headers=headers,
            body=data,
            connect_timeout=parameters.connect_timeout,
            read_timeout=parameters.timeout,
            secret_headers=frozenset({"authorization", "x-api-key", *custom_headers(environment)}),
        )

    def decoder(self, content_type: str) -> StreamDecoder:
        """Return a new decoder. It looks at the body itself, whatever ``content_type`` says:
        proxies get it wrong both ways."""
        del content_type
        return AnthropicDecoder(self.name, self.display_name)

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Classify a response that is not 2xx."""
        return classify_response(status, headers, body)

    def warnings(self, parameters: Parameters) -> tuple[str, ...]:
        """Return what of the parameters cannot be had from this model, one sentence each."""
        model = describe(self.name, parameters.model, declared(parameters))
        plan = plan_thinking(parameters.thinking, parameters.specific, model, parameters.max_tokens)
        if parameters.temperature is None or (model.sampling and not plan.thinks):
            return plan.warnings
        reason = "with thinking" if model.sampling else f"by {model.name}"
        return (*plan.warnings, f"temperature is not accepted {reason}; leaving it out.")


def declared(parameters: Parameters) -> Mapping[str, Any] | None:
    """Return what the user declares about the model in `parameters.<provider>.models.<model>`."""
    models = parameters.specific.get("models")
    if not isinstance(models, Mapping):
        return None
    facts = cast("Mapping[str, object]", models).get(parameters.model)
    return cast("Mapping[str, Any]", facts) if isinstance(facts, Mapping) else None


def _base(parameters: Parameters, environment: Mapping[str, str]) -> str:
    configured = parameters.specific.get("base_url")
    base = configured if isinstance(configured, str) and configured else None
    base = base or environment.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE
    return base.rstrip("/").removesuffix("/v1")


def _strings(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    return [item for item in cast("Sequence[object]", value) if isinstance(item, str) and item]


def _headers(
    secret: str | None, environment: Mapping[str, str], betas: Sequence[str]
) -> dict[str, str]:
    custom = custom_headers(environment)
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "anthropic-version": VERSION,
    }
    if secret:
        headers |= _authentication(secret.strip(), environment)
    named = [*custom.pop("anthropic-beta", "").split(","), *betas]
    headers |= custom
    unique = dict.fromkeys(beta.strip() for beta in named if beta.strip())
    if unique:
        headers["anthropic-beta"] = ",".join(unique)
    return headers


def _authentication(secret: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Send an API key as such; the token variable and OAuth tokens only ever as bearer."""
    is_token = not environment.get("ANTHROPIC_API_KEY") and (
        secret == environment.get("ANTHROPIC_AUTH_TOKEN", "").strip()
    )
    if is_token or secret.startswith("sk-ant-oat"):
        return {"authorization": f"Bearer {secret}"}
    return {"x-api-key": secret}


def custom_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `ANTHROPIC_CUSTOM_HEADERS` (`Name: value` lines), names in lower case."""
    headers: dict[str, str] = {}
    for line in environment.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip():
            headers[name.strip().lower()] = value.strip()
    return headers

# ruff: noqa: FBT003 - the first argument of `option` is the default
"""`parameters.*`: what is sent along with a request."""

import re
from typing import Any, Literal

from flemma.config.options import Tables, declared, discovered, option, section

Level = Literal["minimal", "low", "medium", "high", "max"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def token_amount(value: int | str) -> str | None:
    """Refuse strings that are no percentage, and numbers below one."""
    if isinstance(value, str):
        number = re.fullmatch(r"(\d{1,3})%", value)
        if number and 1 <= int(number[1]) <= 100:
            return None
        return f"expected a number of tokens or a percentage such as '50%', got '{value}'"
    return None if value >= 1 else f"expected at least 1 token, got {value}"


@declared
class Thinking:
    """How much the model thinks."""

    level: Level | int | Literal[False] = option(
        "high",
        "How much to think: a level, a number of tokens, or false for not at all.",
        minimum=0,
        example='"medium"',
    )
    foreign: Literal["preserve", "drop"] = option(
        "preserve",
        "Thinking that another provider or model signed: send its text along, or leave it out.",
    )


@declared
class ThinkingOverride:
    """Thinking for one provider only; what is nil follows the general value."""

    level: Level | int | Literal[False] | None = option(
        None, "How much to think with this provider.", minimum=0
    )
    foreign: Literal["preserve", "drop"] | None = option(
        None, "What to do with the thinking of others, with this provider."
    )


@declared
class ProviderParameters:
    """What every provider's subtree may hold; it wins over the general parameters.

    What the user declares about a model wins over the catalogue (case S-21).
    """

    max_tokens: int | str | None = option(
        None, "Output limit with this provider.", check=token_amount, pattern=r"^\d{1,3}%$"
    )
    temperature: float | None = option(
        None, "Sampling temperature with this provider.", minimum=0, maximum=2
    )
    timeout: float | None = option(None, "Seconds a request may take.", minimum=1)
    connect_timeout: float | None = option(None, "Seconds to wait for a connection.", minimum=1)
    cache_retention: Literal["short", "long", "none"] | None = option(
        None, "Prompt caching with this provider."
    )
    thinking: ThinkingOverride = section(ThinkingOverride(), "Thinking with this provider.")
    base_url: str | None = option(
        None,
        "Address of the service, for gateways and self-hosted servers.",
        example='"https://gateway.example/v1"',
    )
    context_window: int | None = option(
        None,
        "Input tokens the model takes; wins over what the model list says.",
        minimum=1,
    )
    max_output_tokens: int | None = option(
        None, "Output tokens the model can write; wins over what the model list says.", minimum=1
    )


@declared
class AnthropicParameters(ProviderParameters):
    """`parameters.anthropic`."""

    thinking_budget: int | None = option(
        None,
        "Tokens to think with; wins over `thinking`. Values below 1024 are raised to it.",
        minimum=0,
        example="20000",
    )
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = option(
        None, "Effort of models that choose their own thinking; wins over `thinking`."
    )
    betas: tuple[str, ...] = option((), "Names for the `anthropic-beta` header.")


@declared
class OpenAIExperimental:
    """`parameters.openai.experimental`."""

    phase: bool = option(True, "Keep the phase labels of messages (commentary, final answer).")


@declared
class OpenAIParameters(ProviderParameters):
    """`parameters.openai`."""

    reasoning: Effort | None = option(None, "Reasoning effort; wins over `thinking`.")
    experimental: OpenAIExperimental = section(OpenAIExperimental(), "Behaviour that may change.")


@declared
class VertexParameters(ProviderParameters):
    """`parameters.vertex`."""

    project_id: str | None = option(None, "Google Cloud project.", example='"my-project"')
    location: str = option("global", "Google Cloud region.")
    thinking_budget: int | None = option(
        None, "Tokens to think with; wins over `thinking`.", minimum=0
    )


@declared
class MoonshotParameters(ProviderParameters):
    """`parameters.moonshot`."""

    prompt_cache_key: str | None = option(None, "Key that ties requests to one prompt cache.")


@declared
class DemoParameters(ProviderParameters):
    """`parameters.demo`: the scripted model that needs no network."""

    script: str | None = option(
        None,
        "YAML file with what the scripted model says; nil plays the guided tour.",
        example='"./replay.yaml"',
    )


@declared
class Parameters:
    """`parameters`."""

    max_tokens: int | str = option(
        "50%",
        "Output limit: tokens, or a percentage of what the model can write.",
        check=token_amount,
        pattern=r"^\d{1,3}%$",
    )
    temperature: float | None = option(
        None, "Sampling temperature; not sent when nil.", minimum=0, maximum=2, example="0.3"
    )
    timeout: float = option(600, "Seconds a request may take.", minimum=1)
    connect_timeout: float = option(10, "Seconds to wait for a connection.", minimum=1)
    cache_retention: Literal["short", "long", "none"] = option(
        "short", "How long the provider keeps the prompt cached; none turns caching off."
    )
    thinking: Thinking = section(Thinking(), "How much the model thinks.")
    anthropic: AnthropicParameters = section(AnthropicParameters(), "Only for Anthropic.")
    openai: OpenAIParameters = section(
        OpenAIParameters(), "Known, but not used: there is no provider `openai` yet."
    )
    vertex: VertexParameters = section(
        VertexParameters(), "Known, but not used: there is no provider `vertex` yet."
    )
    moonshot: MoonshotParameters = section(
        MoonshotParameters(), "Known, but not used: there is no provider `moonshot` yet."
    )
    demo: DemoParameters = section(DemoParameters(), "Only for the scripted demo provider.")
    registered: Tables = discovered("`parameters.<provider>` of providers that are registered.")


def provider_table(parameters: "Parameters", provider: str) -> dict[str, Any]:
    """Return what is set for ``provider``: its section, or its registered subtree."""
    if provider in parameters.registered:
        return dict(parameters.registered[provider])
    return as_table(getattr(parameters, provider, None))


def as_table(parameters: object) -> dict[str, Any]:
    """Return the values of ``parameters`` that are set, nested sections as tables."""
    found: dict[str, Any] = {}
    for name in getattr(parameters, "__dataclass_fields__", ()):
        value = getattr(parameters, name)
        if hasattr(value, "__dataclass_fields__"):
            value = as_table(value)
        if value is not None and value not in ({}, ()):
            found[name] = value
    return found

"""Providers by name."""

import pytest

from flemma.errors import ConfigError
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.registry import BUILTINS, ProviderRegistry


def test_the_built_in_providers_are_there() -> None:
    assert ProviderRegistry.with_builtins().names() == ["anthropic", "demo"]
    assert ProviderRegistry.with_builtins().get("anthropic").default_model == "claude-sonnet-4-6"


@pytest.mark.parametrize("name", BUILTINS)
def test_a_built_in_provider_is_called_what_it_is_registered_as(name: str) -> None:
    registry = ProviderRegistry.with_builtins()
    assert registry.get(name).name == name
    assert registry.get(name) is registry.get(name), "made once"


def test_an_unknown_name_is_answered_with_the_nearest_and_all() -> None:
    with pytest.raises(ConfigError) as caught:
        ProviderRegistry.with_builtins().get("antropic")
    assert caught.value.message == (
        "Unknown provider 'antropic'. Did you mean 'anthropic'? Known providers: anthropic, demo."
    )


def test_a_name_taken_twice_names_both_origins() -> None:
    registry = ProviderRegistry.with_builtins()
    with pytest.raises(ConfigError, match=r"by builtin and by my\.module"):
        registry.register(AnthropicProvider(), "my.module")


def test_anthropic_asks_for_its_key_and_knows_the_token_variable() -> None:
    request = AnthropicProvider().credential()
    assert request is not None
    assert (request.kind, request.service) == ("api_key", "anthropic")
    assert request.aliases == ("ANTHROPIC_AUTH_TOKEN",)

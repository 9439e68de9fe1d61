"""Providers by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from flemma.errors import ConfigError
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.demo.provider import DemoProvider
from flemma.providers.protocol import Provider
from flemma.text.suggest import closest


def builtin_providers() -> Sequence[Provider]:
    """Return the providers that come with Flemma."""
    return (AnthropicProvider(), DemoProvider())


@dataclass(frozen=True, slots=True)
class _Entry:
    provider: Provider
    origin: str


class ProviderRegistry:
    """Holds one provider per name."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    @classmethod
    def with_builtins(cls) -> "ProviderRegistry":
        """Return a registry of the built-in providers."""
        registry = cls()
        for provider in builtin_providers():
            registry.register(provider, "builtin")
        return registry

    def register(self, provider: Provider, origin: str) -> None:
        """Add ``provider``; ``origin`` says where it was registered (a module, say).

        Raises :class:`flemma.errors.ConfigError` naming both origins when the name is taken.
        """
        taken = self._entries.get(provider.name)
        if taken is not None:
            raise ConfigError(
                f"Provider '{provider.name}' is registered twice: by {taken.origin} and by "
                f"{origin}. Rename one of them.",
                path="providers",
            )
        self._entries[provider.name] = _Entry(provider, origin)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._entries)

    def get(self, name: str) -> Provider:
        """Return the provider called ``name``.

        Raises :class:`flemma.errors.ConfigError` with the nearest name and all names.
        """
        entry = self._entries.get(name)
        if entry is not None:
            return entry.provider
        near = closest(name, self._entries)
        hint = f" Did you mean '{near}'?" if near else ""
        raise ConfigError(
            f"Unknown provider '{name}'.{hint} Known providers: {', '.join(self.names())}.",
            path="provider",
        )

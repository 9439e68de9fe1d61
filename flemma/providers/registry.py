"""Providers by name. The built-in ones are imported when they are first asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flemma.errors import ConfigError
from flemma.text.suggest import closest

if TYPE_CHECKING:
    from flemma.providers.protocol import Provider


# Settings and completion need no more than the names; what a provider is made of, its wire format
# and decoder, would take a fifth of the time in which the host starts.


def _anthropic() -> "Provider":
    from flemma.providers.anthropic.provider import AnthropicProvider

    return AnthropicProvider()


def _demo() -> "Provider":
    from flemma.providers.demo.provider import DemoProvider

    return DemoProvider()


BUILTINS: "Mapping[str, Callable[[], Provider]]" = {"anthropic": _anthropic, "demo": _demo}
"""What makes each provider that comes with Flemma."""


@dataclass(slots=True)
class _Entry:
    origin: str
    make: "Callable[[], Provider]"
    made: "Provider | None" = None

    @property
    def provider(self) -> "Provider":
        if self.made is None:
            self.made = self.make()
        return self.made


class ProviderRegistry:
    """Holds one provider per name."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    @classmethod
    def with_builtins(cls) -> "ProviderRegistry":
        """Return a registry of the built-in providers."""
        registry = cls()
        for name, make in BUILTINS.items():
            registry._entries[name] = _Entry("builtin", make)
        return registry

    def register(self, provider: "Provider", origin: str) -> None:
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
        self._entries[provider.name] = _Entry(origin, lambda: provider)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._entries)

    def get(self, name: str) -> "Provider":
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

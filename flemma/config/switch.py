"""The arguments of `:Flemma switch`, and what they write to RUNTIME (spec: behaviour 12.11)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flemma.config.catalogue import Catalogue
from flemma.config.default_preset import MODEL, PROVIDER, parameter_path, preset_operations
from flemma.config.layers import Layer, Operation
from flemma.config.modeline import Argument, parse_arguments
from flemma.config.presets import Preset, Presets, split_model
from flemma.config.setup import read_values
from flemma.errors import ConfigError
from flemma.text.suggest import closest


@dataclass(frozen=True, slots=True)
class Switch:
    """What to switch to. A parameter that is None is cleared (`temperature=`)."""

    preset: Preset | None
    provider: str | None
    model: str | None
    parameters: tuple[tuple[str, Argument], ...]
    warnings: tuple[str, ...] = ()


def parse_switch(text: str, presets: Presets, providers: Sequence[str]) -> Switch:
    """Read `$preset [model] [key=value…]`, `provider [model] […]` or `provider/model […]`.

    Raises :class:`ConfigError` for a preset or provider that does not exist, and when neither is
    given.
    """
    arguments = parse_arguments(text)
    words = arguments.positionals
    if words and words[0].startswith("$"):
        return _from_preset(words, arguments.keywords, presets)
    provider, model, extra = split_model(words)
    if provider is None:
        raise ConfigError("switch expects a provider or a $preset", path="provider")
    if provider not in providers:
        listed = ", ".join(sorted(providers))
        raise ConfigError(
            f"Unknown provider '{provider}'. Supported providers are: {listed}", path="provider"
        )
    if model is None and extra:
        model, extra = extra[0], extra[1:]
    return Switch(None, provider, model, arguments.keywords, _extra(extra, ""))


def _from_preset(
    words: Sequence[str], keywords: tuple[tuple[str, Argument], ...], presets: Presets
) -> Switch:
    name, *rest = words
    preset = presets.get(name)
    if preset is None:
        suggestion = closest(name, presets)
        hint = f" — did you mean '{suggestion}'?" if suggestion else ""
        raise ConfigError(f"Unknown preset '{name}'{hint}", path="presets")
    model = rest[0] if rest else preset.model
    return Switch(
        preset, preset.provider, model, keywords, _extra(rest[1:], f" for preset '{name}'")
    )


def _extra(words: Sequence[str], where: str) -> tuple[str, ...]:
    if not words:
        return ()
    return (f"Ignoring extra positional arguments{where}: {', '.join(words)}",)


def switch_operations(
    switch: Switch, current_provider: str, known: Catalogue
) -> tuple[tuple[Operation, ...], tuple[ConfigError, ...]]:
    """Return what to append to the log of RUNTIME.

    A switch always names the model: without one, an earlier choice is cleared so that the
    provider's default holds. Parameters of the command win over those of the preset.
    """
    operations: tuple[Operation, ...] = ()
    errors: tuple[ConfigError, ...] = ()
    if switch.preset is not None:
        preset = switch.preset
        if preset.selects_model or switch.model is not None:
            preset = replace(preset, model=switch.model)
        operations, errors = preset_operations(preset, known, Layer.RUNTIME)
    values: list[tuple[tuple[str, ...], object]] = []
    if switch.preset is None:
        values += [(PROVIDER, switch.provider), (MODEL, switch.model)]
    provider = switch.provider or current_provider
    values += [(parameter_path(key, provider, known), value) for key, value in switch.parameters]
    written, problems = read_values(values, Layer.RUNTIME, known)
    return (*operations, *written), (*errors, *problems)


def switchable(presets: Presets) -> list[str]:
    """Return the presets that completion offers: those that choose a provider."""
    return sorted(preset.name for preset in presets.values() if preset.provider is not None)

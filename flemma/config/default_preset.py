"""`model = "$preset"`: a preset as the default model (spec: behaviour 9.8)."""

from collections.abc import Sequence

from flemma.config.catalogue import Catalogue
from flemma.config.layers import Layer, Layers, Op, Operation
from flemma.config.presets import Preset, Presets, is_preset_name
from flemma.config.writer import Writer, setup_message
from flemma.errors import ConfigError

MODEL = ("model",)
PROVIDER = ("provider",)

Expanded = tuple[Layers, tuple[ConfigError, ...]]


def expand_model(layers: Layers, presets: Presets, known: Catalogue) -> Expanded:
    """Write out the preset that the winning `model` names, at the layer that names it.

    What that layer says explicitly wins over the preset. A missing preset, or one of another
    provider than the layer (or one above) asks for, leaves no model: the error says why.
    """
    winner = _winner(layers, MODEL)
    if winner is None or not is_preset_name(winner[1].value):
        return layers, ()
    layer, operation = winner
    name = str(operation.value)
    preset = presets.get(name)
    if preset is None:
        message = f"Default preset '{name}' not found. Provider not initialized."
        return _without(layers, layer, operation), (_error(message, layer, operation),)
    provider = _explicit_provider(layers, layer)
    if provider and preset.provider and provider != preset.provider:
        message = (
            f"Explicit provider '{provider}' conflicts with preset '{name}' "
            f"(provider: '{preset.provider}'). Provider not initialized."
        )
        return _without(layers, layer, operation), (_error(message, layer, operation),)
    written, errors = preset_operations(preset, known, layer)
    rest = tuple(other for other in layers.log(layer) if other is not operation)
    return layers.with_log(layer, (*written, *rest)), errors


def preset_operations(
    preset: Preset, known: Catalogue, layer: Layer
) -> tuple[tuple[Operation, ...], tuple[ConfigError, ...]]:
    """Return what a preset writes: provider, model, parameters, approval and tools."""
    writer = Writer(known)
    if preset.selects_model:
        if preset.provider:
            writer.assign(PROVIDER, preset.provider)
        writer.assign(MODEL, preset.model)
    for key, value in preset.parameters.items():
        writer.assign(parameter_path(key, preset.provider, known), value)
    if preset.auto_approve is not None:
        writer.assign(("tools", "auto_approve"), list(preset.auto_approve))
    if preset.tools is not None:
        writer.assign(("tools",), list(preset.tools))
    errors = tuple(
        ConfigError(
            f"Preset '{preset.name}': {setup_message(problem)}",
            path=f"presets.{preset.name}",
            layer=layer.name.lower(),
        )
        for problem in writer.problems
    )
    return tuple(writer.operations), errors


def parameter_path(key: str, provider: str | None, known: Catalogue) -> tuple[str, ...]:
    """Return where parameter ``key`` of a preset or command goes.

    General ones go to `parameters.<key>`, those only a provider knows to its subtree; a dotted key
    is taken as it stands.
    """
    segments = tuple(key.split("."))
    general = ("parameters", *segments)
    if provider is None or segments[0] in known.items[("parameters",)].children:
        return general
    return ("parameters", provider, *segments)


def _winner(layers: Layers, path: tuple[str, ...]) -> tuple[Layer, Operation] | None:
    found: tuple[Layer, Operation] | None = None
    for entry in layers.entries_at(path):
        found = (entry.layer, entry.operation)
    return found


def _explicit_provider(layers: Layers, layer: Layer) -> str | None:
    found: str | None = None
    for entry in layers.entries_at(PROVIDER):
        if entry.layer >= layer and isinstance(entry.operation.value, str):
            found = entry.operation.value
    return found


def _without(layers: Layers, layer: Layer, operation: Operation) -> Layers:
    """Put "no model" in place of ``operation``."""
    log: Sequence[Operation] = layers.log(layer)
    nothing = Operation(Op.SET, MODEL, None, operation.line)
    return layers.with_log(layer, (nothing if other is operation else other for other in log))


def _error(message: str, layer: Layer, operation: Operation) -> ConfigError:
    return ConfigError(message, path="model", layer=layer.name.lower(), line=operation.line)

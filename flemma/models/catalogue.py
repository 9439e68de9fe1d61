"""The catalogue: what is known about the models of each provider.

The data is one TOML file per provider beside this module. What the user declares about a model wins
over it (case S-21).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any

from flemma.errors import ConfigError
from flemma.text.suggest import closest


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per million tokens. A missing cache price counts as the input price."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None


@dataclass(frozen=True, slots=True)
class Surcharge:
    """All prices are multiplied by ``factor`` when the prompt has more than ``above`` tokens."""

    above: int
    factor: float


@dataclass(frozen=True, slots=True)
class Model:
    """One model. Token counts; None where it is not known."""

    provider: str
    name: str
    max_output: int | None = None
    min_output: int = 1
    context: int | None = None
    min_cacheable: int = 0
    """Shorter prompts are not cached."""
    pdf_pages: int | None = None
    thinking_forms: tuple[str, ...] = ()
    """``adaptive`` and ``budget``, preferred first."""
    thinking_off: str = "omit"
    """``omit``, ``disabled``, ``between_tools``, or ``never`` when it cannot be turned off."""
    efforts: tuple[str, ...] = ()
    """Accepted efforts, lowest first."""
    off_effort_limit: str | None = None
    bound_thinking: bool = False
    """Whether signatures are bound to everything before them (spec: providers 1.5)."""
    sampling: bool = False
    """Whether it takes a temperature (when it does not think)."""
    prefill: bool = True
    """Whether the last message may be the assistant's."""
    prices: Prices | None = None
    surcharge: Surcharge | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The models of one provider."""

    provider: str
    default_model: str
    models: Mapping[str, Model]

    def find(self, name: str) -> Model | None:
        """Return the model called ``name``; a date or ``-latest`` behind it is ignored."""
        bare = name.removeprefix(f"{self.provider}/")
        exact = self.models.get(bare)
        if exact is not None:
            return exact
        stem, dash, suffix = bare.rpartition("-")
        dated = suffix == "latest" or (suffix.isdecimal() and len(suffix) == 8)
        found = self.models.get(stem) if dash and dated else None
        return replace(found, name=bare) if found else None


_DECLARABLE = frozenset(field.name for field in fields(Model)) - {"provider", "name"}


def _model(provider: str, name: str, values: Mapping[str, Any]) -> Model:
    made = dict(values)
    for key in ("thinking_forms", "efforts"):
        if key in made:
            made[key] = tuple(made[key])
    if isinstance(made.get("prices"), Mapping):
        made["prices"] = Prices(**made["prices"])
    if isinstance(made.get("surcharge"), Mapping):
        made["surcharge"] = Surcharge(**made["surcharge"])
    return Model(provider, name, **made)


@cache
def catalogue(provider: str) -> Catalogue | None:
    """Return the catalogue of ``provider``, or None when there is none (any model goes then)."""
    source = files("flemma.models") / "data" / f"{provider}.toml"
    if not source.is_file():
        return None
    data = tomllib.loads(source.read_text(encoding="utf-8"))
    defaults: Mapping[str, Any] = data["defaults"]
    models = {
        name: _model(provider, name, {**defaults, **values})
        for name, values in data["models"].items()
    }
    return Catalogue(provider, data["default_model"], models)


def describe(provider: str, name: str, declared: Mapping[str, Any] | None = None) -> Model:
    """Return what is known about a model; ``declared`` is what the user says about it and wins.

    An unknown model has None for what is not known. Raises :class:`flemma.errors.ConfigError` for
    a declared fact that does not exist.
    """
    known = catalogue(provider)
    found = known.find(name) if known else None
    model = found or Model(provider, name)
    if not declared:
        return model
    for key in declared:
        if key not in _DECLARABLE:
            near = closest(key, _DECLARABLE)
            hint = f" -- did you mean '{near}'?" if near else ""
            raise ConfigError(
                f"Unknown model fact '{key}' for model '{name}'{hint}", path=f"models.{name}.{key}"
            )
    stated = _model(provider, name, declared)
    return replace(model, **{key: getattr(stated, key) for key in declared})


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to use, and the warning that explains it when it is not the one asked for."""

    name: str
    warning: str | None = None


def choose(provider: str, name: str | None, default: str, *, accept_any: bool = False) -> Choice:
    """Choose the model (spec: behaviour 11.1): the default when none is named or it is unknown.

    With ``accept_any`` (the user declared the model, or set another server) every name is taken;
    so it is for a provider without a catalogue.
    """
    if not name:
        return Choice(default)
    known = catalogue(provider)
    if known is None or accept_any or known.find(name):
        return Choice(name)
    return Choice(
        default,
        f"Model '{name}' is not valid for provider '{provider}'. Using default: '{default}'.",
    )

"""Resolves what is sent along with a request: general parameters, provider's own on top."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flemma.config.schema import Config
from flemma.config.sections.parameters import as_table, provider_table
from flemma.models.catalogue import Model, choose, describe
from flemma.models.limits import resolve_max_tokens
from flemma.providers.protocol import Parameters, Provider

DECLARED = {"context_window": "context", "max_output_tokens": "max_output"}
"""Options that state a fact about the model, and the fact in the catalogue (case S-21)."""


@dataclass(frozen=True, slots=True)
class ResolvedParameters:
    """Parameters for one request, the model they are for, and warnings for the user."""

    parameters: Parameters
    model: Model
    warnings: tuple[str, ...]


def resolve_parameters(config: Config, provider: Provider, base: str) -> ResolvedParameters:
    """Resolve the parameters of ``provider`` (spec: tools, "Per-buffer parameter overrides").

    ``base`` is the directory that a relative demo script starts from.
    """
    specific = provider_table(config.parameters, provider.name)
    merged = {**as_table(config.parameters), **specific}
    facts = {fact: specific[key] for key, fact in DECLARED.items() if key in specific}
    accept_any = bool(facts or specific.get("base_url"))
    choice = choose(provider.name, config.model, provider.default_model, accept_any=accept_any)
    model = describe(provider.name, choice.name, facts or None)
    limit = resolve_max_tokens(merged.get("max_tokens"), model)
    level, foreign = _thinking(config, specific)
    if facts:
        specific = {**specific, "models": {choice.name: facts}}
    script: object = specific.get("script")
    if isinstance(script, str):
        specific = {**specific, "script": _absolute(script, base)}
    parameters = Parameters(
        model=choice.name,
        max_tokens=limit.tokens,
        temperature=merged.get("temperature"),
        timeout=float(merged.get("timeout", 600)),
        connect_timeout=float(merged.get("connect_timeout", 10)),
        cache_retention=str(merged.get("cache_retention", "short")),
        thinking=level,
        foreign_thinking=foreign,
        specific=specific,
    )
    found = (choice.warning, limit.warning, *provider.warnings(parameters))
    return ResolvedParameters(parameters, model, tuple(text for text in found if text))


def _thinking(config: Config, specific: Mapping[str, Any]) -> tuple[str | int | None, str]:
    general = config.parameters.thinking
    own: Mapping[str, Any] = specific.get("thinking") or {}
    level = own.get("level", general.level)
    foreign = str(own.get("foreign", general.foreign))
    return (None if level is False or level == 0 else level), foreign


def _absolute(path: str, base: str) -> str:
    return path if path.startswith(("/", "~")) else f"{base}/{path}"

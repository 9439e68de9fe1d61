"""The languages a frontmatter may be written in."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, TypeAlias

from flemma.config.frontmatter.data import from_data, too_large
from flemma.config.frontmatter.result import (
    MAX_BYTES,
    FrontmatterContext,
    FrontmatterResult,
    failed,
)
from flemma.errors import ConfigError, FlemmaError

Evaluator: TypeAlias = Callable[
    [str, FrontmatterContext],
    "FrontmatterResult | Mapping[str, Any] | Awaitable[Mapping[str, Any]]",
]
"""Evaluates a block. A language of a user may return a mapping, read like a JSON document (with the
key `flemma`), or an awaitable of one. It may raise; the text becomes the diagnostic."""

Evaluation: TypeAlias = "FrontmatterResult | Awaitable[Mapping[str, Any]]"
"""An awaitable is only ever the answer of a registered language: await it, then call
:func:`from_mapping`."""


def _lua(code: str, context: FrontmatterContext) -> FrontmatterResult:
    from flemma.config.frontmatter.lua_language import evaluate_lua

    return evaluate_lua(code, context)


def _yaml(code: str, context: FrontmatterContext) -> FrontmatterResult:
    from flemma.config.frontmatter.yaml_language import evaluate_yaml

    return evaluate_yaml(code, context)


def _json(code: str, context: FrontmatterContext) -> FrontmatterResult:
    from flemma.config.frontmatter.json_language import evaluate_json

    return evaluate_json(code, context)


BUILTIN: Mapping[str, Evaluator] = {"lua": _lua, "yaml": _yaml, "json": _json}
"""Interpreters and parsers load on first use."""


@dataclass(slots=True)
class FrontmatterLanguages:
    """All languages by name, in lower case."""

    _evaluators: dict[str, Evaluator] = field(default_factory=lambda: dict(BUILTIN))

    def register(self, name: str, evaluator: Evaluator) -> None:
        """Add a language, in place of one of the same name.

        Raises :class:`ConfigError` when the name could not stand behind a fence.
        """
        if not name.isalnum():
            raise ConfigError(
                f"A frontmatter language is named by letters and digits, not '{name}'",
                path="frontmatter",
            )
        self._evaluators[name.lower()] = evaluator

    def unregister(self, name: str) -> bool:
        """Remove a language; tell whether it was there."""
        return self._evaluators.pop(name.lower(), None) is not None

    def names(self) -> list[str]:
        """Return the names of all languages, sorted."""
        return sorted(self._evaluators)

    def evaluate(self, language: str, code: str, context: FrontmatterContext) -> Evaluation:
        """Evaluate a block from scratch. Never raises: what goes wrong is in the failures."""
        evaluator = self._evaluators.get(language.lower())
        if evaluator is None:
            return failed(f"Unsupported frontmatter language: {language}")
        refusal = too_large(code, MAX_BYTES)
        if refusal is not None:
            return refusal
        try:
            outcome = evaluator(code, context)
        except Exception as error:  # noqa: BLE001 - whatever a language raises is a diagnostic
            return failed(_text(error), cause=error)
        if isinstance(outcome, FrontmatterResult) or isawaitable(outcome):
            return outcome
        return from_mapping(outcome, context)


def from_mapping(data: object, context: FrontmatterContext) -> FrontmatterResult:
    """Read what a registered language returned."""
    return from_data(data, context, lambda _path: None)


def _text(error: Exception) -> str:
    return error.message if isinstance(error, FlemmaError) else str(error) or type(error).__name__

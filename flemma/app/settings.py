"""The settings of one buffer: the shared layers, and the frontmatter on top.

Evaluated anew before each send and when the block changed; a block that cannot be understood leaves
the last good settings in force and refuses the send (spec: behaviour 1.2).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from itertools import count
from typing import Any

from flemma.chat.document import Document
from flemma.chat.nodes import Diagnostic, Frontmatter, Severity
from flemma.config.auto_approve import ApprovalPolicy, approval_policy
from flemma.config.catalogue import Catalogue, catalogue
from flemma.config.default_preset import MODEL
from flemma.config.frontmatter.languages import Evaluator, FrontmatterLanguages, from_mapping
from flemma.config.frontmatter.result import (
    Failure,
    FrontmatterContext,
    FrontmatterResult,
    apply_frontmatter,
    failed,
)
from flemma.config.layers import Layer, Layers, Operation
from flemma.config.options import dotted
from flemma.config.presets import unknown_tools
from flemma.config.resolve import Resolved, resolve
from flemma.config.schema import Config
from flemma.config.setup import setup_notice, unregistered
from flemma.config.tool_selection import selected_tools, selection_errors
from flemma.errors import ConfigError
from flemma.tools.registry import ToolRegistry

TOOLS = ("tools",)
FRONTMATTER = Layer.FRONTMATTER.name.lower()

LANGUAGE_SECONDS = 10
"""Longest time a registered language may think about a block."""


@dataclass(frozen=True, slots=True)
class BufferSettings:
    """Everything a buffer is configured to."""

    resolved: Resolved
    policy: ApprovalPolicy
    variables: Mapping[str, Any]
    """Variables of the frontmatter, for templates."""
    diagnostics: tuple[Diagnostic, ...]
    """Problems of the frontmatter, and a model that cannot be had; lines are absolute."""
    tool_names: tuple[str, ...]
    """Tools offered to the model."""

    @property
    def config(self) -> Config:
        """The merged options."""
        return self.resolved.config

    @property
    def blocks_send(self) -> bool:
        """Whether a problem refuses a send.

        Problems of the shared layers do not: they were told when they were written. The model is
        the exception, for nothing may go to another one than was asked for.
        """
        return any(problem.severity is Severity.ERROR for problem in self.diagnostics)


@dataclass(slots=True)
class _Evaluated:
    """The last evaluation of a buffer's block."""

    frontmatter: Frontmatter | None
    result: FrontmatterResult
    good: FrontmatterResult
    revision: int


@dataclass(slots=True)
class SettingsStore:
    """The layers shared by all buffers, and the last evaluation of each buffer."""

    tools: ToolRegistry
    languages: FrontmatterLanguages = field(default_factory=FrontmatterLanguages)
    layers: Layers = field(default_factory=Layers)
    known: Catalogue = field(default_factory=catalogue)
    loading: Callable[[], bool] = lambda: False
    """Whether tools are still being registered."""
    _revision: int = 0
    _listeners: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _evaluated: dict[int, _Evaluated] = field(default_factory=dict[int, _Evaluated])
    _numbers: Iterator[int] = field(default_factory=count)
    _latest: dict[int, int] = field(default_factory=dict[int, int])

    def set_layer(self, layer: Layer, operations: Sequence[Operation]) -> None:
        """Replace the log of a shared layer."""
        self.layers = self.layers.with_log(layer, operations)
        self._changed()

    def extend_layer(self, layer: Layer, operations: Sequence[Operation]) -> None:
        """Write to a shared layer."""
        self.layers = self.layers.extended(layer, operations)
        self._changed()

    def tools_changed(self) -> None:
        """Tools came or went: their names may stand in options now."""
        self.known = self.known.with_registered(TOOLS, self.tools.names())
        self._changed()

    def providers_known(self, names: Sequence[str]) -> None:
        """These providers are registered: `parameters.<name>` is known."""
        self.known = self.known.with_registered(("parameters",), names)
        self._changed()

    def register_language(self, name: str, evaluator: Evaluator) -> None:
        """Add a frontmatter language. Raises :class:`ConfigError` for an impossible name."""
        self.languages.register(name, evaluator)
        self._changed()

    def unregister_language(self, name: str) -> bool:
        """Remove a frontmatter language; tell whether it was there."""
        was_there = self.languages.unregister(name)
        self._changed()
        return was_there

    def check_setup(self) -> str | None:
        """Return what the options of `setup()` name that nobody registered.

        To be called once everything is registered. The entries stay where they are: what they are
        for may be registered later.
        """
        _, errors = unregistered(self.layers.setup, self.known, Layer.SETUP)
        resolved = resolve(self.layers, self.known)
        named = (
            *errors,
            *selection_errors(resolved.layers, self.tools.names()),
            *unknown_tools(resolved.presets, self.tools.names()),
        )
        return setup_notice(named)

    def forget(self, buffer_id: int) -> None:
        """The buffer is gone."""
        self._evaluated.pop(buffer_id, None)
        self._latest.pop(buffer_id, None)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after every change of what all buffers share."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        self._revision += 1
        for listener in self._listeners:
            listener()

    def shared(self) -> Resolved:
        """Return the options without any frontmatter."""
        return resolve(self.layers, self.known)

    async def evaluate(
        self, buffer_id: int, document: Document, names: Mapping[str, Any]
    ) -> BufferSettings:
        """Evaluate the frontmatter from scratch; ``names`` are what code in it may use."""
        number = self._latest[buffer_id] = next(self._numbers)
        revision = self._revision
        frontmatter = document.frontmatter
        result = FrontmatterResult()
        if frontmatter is not None:
            result = await self._run(frontmatter, names)
        good = self._last_good(buffer_id) if result.unusable else result
        if self._latest.get(buffer_id) == number:
            # Otherwise a newer text was evaluated while a registered language thought.
            self._evaluated[buffer_id] = _Evaluated(frontmatter, result, good, revision)
        return self._settings(result, good)

    async def refresh(
        self, buffer_id: int, document: Document, names: Mapping[str, Any]
    ) -> BufferSettings:
        """Return the settings, evaluating only if the block or a layer changed."""
        last = self._evaluated.get(buffer_id)
        if last is None or last.frontmatter != document.frontmatter:
            return await self.evaluate(buffer_id, document, names)
        if last.revision != self._revision and last.frontmatter is not None:
            return await self.evaluate(buffer_id, document, names)
        return self.current(buffer_id)

    def current(self, buffer_id: int) -> BufferSettings:
        """Return the settings as of the last evaluation."""
        last = self._evaluated.get(buffer_id)
        if last is None:
            return self._settings(FrontmatterResult(), FrontmatterResult())
        return self._settings(last.result, last.good)

    async def _run(self, frontmatter: Frontmatter, names: Mapping[str, Any]) -> FrontmatterResult:
        context = FrontmatterContext(
            self.layers, self.known, names, self._selected(self.shared().layers)
        )
        outcome = self.languages.evaluate(frontmatter.language, frontmatter.code, context)
        if isinstance(outcome, FrontmatterResult):
            return outcome
        if not isawaitable(outcome):
            return from_mapping(outcome, context)
        try:
            return from_mapping(await _answer(outcome), context)
        except TimeoutError:
            message = f"'{frontmatter.language}' gave no answer within {LANGUAGE_SECONDS} seconds"
            return failed(message)
        except Exception as error:  # noqa: BLE001 - a registered language may raise anything
            return failed(str(error) or type(error).__name__, cause=error)

    def _last_good(self, buffer_id: int) -> FrontmatterResult:
        last = self._evaluated.get(buffer_id)
        return last.good if last else FrontmatterResult()

    def _settings(self, result: FrontmatterResult, good: FrontmatterResult) -> BufferSettings:
        layers = apply_frontmatter(self.layers, good)
        resolved = resolve(layers, self.known)
        problems = [_diagnostic(failure) for failure in result.failures]
        problems += [
            Diagnostic("config", Severity.ERROR, error.message, error.line or 0)
            for error in (*resolved.errors, *self._selection_errors(resolved.layers))
            if (error.layer == FRONTMATTER and good is result) or error.path == dotted(MODEL)
        ]
        return BufferSettings(
            resolved=resolved,
            policy=approval_policy(resolved),
            variables=good.variables,
            diagnostics=tuple(problems),
            tool_names=self._selected(resolved.layers),
        )

    def _selection_errors(self, layers: Layers) -> tuple[ConfigError, ...]:
        """While tool sources are loading, a name may still turn up (spec: behaviour 9.7)."""
        return () if self.loading() else selection_errors(layers, self.tools.names())

    def _selected(self, layers: Layers) -> tuple[str, ...]:
        return selected_tools(layers, self.tools.names(), self.tools.enabled_names())


async def _answer(outcome: Awaitable[Mapping[str, Any]]) -> Mapping[str, Any]:
    async with asyncio.timeout(LANGUAGE_SECONDS):
        return await outcome


def _diagnostic(failure: Failure) -> Diagnostic:
    return Diagnostic("frontmatter", Severity(failure.severity), failure.message, failure.line or 0)

"""Short ways to layers and blocks for the tests of this package."""

from collections.abc import Mapping
from typing import Any

from flemma.config.frontmatter.languages import FrontmatterLanguages
from flemma.config.frontmatter.result import (
    FrontmatterContext,
    FrontmatterResult,
    apply_frontmatter,
)
from flemma.config.layers import Layer, Layers, Op, Operation
from flemma.config.options import Path
from flemma.config.resolve import Resolved, resolve
from flemma.config.setup import read_setup

TOOLS = ("bash", "edit", "find", "flemma.jobs.status", "grep", "ls", "read", "write")


def op(name: str, path: str, value: object, line: int | None = None) -> Operation:
    return Operation(Op(name), tuple(path.split(".")), value, line)


def setup(options: Mapping[str, object]) -> Layers:
    """Layers with ``options`` in SETUP, which must hold no mistake."""
    operations, errors = read_setup(options)
    assert [error.message for error in errors] == []
    return Layers(setup=operations)


def setup_errors(options: Mapping[str, object]) -> list[str]:
    return [error.message for error in read_setup(options)[1]]


def evaluate(
    code: str, language: str = "lua", layers: Layers | None = None, **names: Any
) -> FrontmatterResult:
    context = FrontmatterContext(layers or Layers(), globals=names, tools=TOOLS)
    outcome = FrontmatterLanguages().evaluate(language, code, context)
    assert isinstance(outcome, FrontmatterResult)
    return outcome


def buffer(code: str, language: str = "lua", layers: Layers | None = None) -> Resolved:
    """The options of a buffer with this frontmatter, which must hold no mistake."""
    result = evaluate(code, language, layers)
    assert messages(result) == []
    return resolve(apply_frontmatter(layers or Layers(), result))


def messages(result: FrontmatterResult) -> list[str]:
    return [failure.message for failure in result.failures]


def path(text: str) -> Path:
    return tuple(text.split("."))


def written(layer: Layer, *operations: Operation) -> Layers:
    return Layers().with_log(layer, operations)

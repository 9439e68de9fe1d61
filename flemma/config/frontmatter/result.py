"""What evaluating a frontmatter needs and gives (spec: behaviour 1.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from flemma.config.catalogue import Catalogue, catalogue
from flemma.config.layers import Layer, Layers, Op, Operation
from flemma.config.options import Path
from flemma.config.resolve import resolve
from flemma.config.writer import Writer

MAX_BYTES = 256 * 1024
"""Longest block that is evaluated."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A problem of the block; ``line`` is 1-based inside it (the fence is line 0).

    A validation failure is a setting that was left out while the others hold; any other error means
    that the block as a whole was not understood, and the last good result stays in force.
    """

    message: str
    line: int | None = None
    severity: Literal["error", "warning"] = "error"
    validation: bool = False
    cause: BaseException | None = None
    """The structured error behind it, such as that of a failing include."""


@dataclass(frozen=True, slots=True)
class FrontmatterContext:
    """What a block may see."""

    layers: Layers = field(default_factory=Layers)
    """The layers below; a frontmatter in them is ignored."""
    catalogue: Catalogue = field(default_factory=catalogue)
    globals: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Names for code languages: plain data, and functions such as `include`."""
    tools: tuple[str, ...] = ()
    """Tools in force below the frontmatter, for reading `flemma.opt.tools`."""

    def read(self, path: Path, operations: tuple[Operation, ...]) -> object:
        """Return the value of an option as the block sees it after writing ``operations``."""
        layers = self.layers.with_log(Layer.FRONTMATTER, operations)
        path = self.catalogue.canonical(path)
        if path == ("tools",):
            start = Operation(Op.SET, path, list(self.tools))
            layers = Layers(defaults=(start,), frontmatter=operations)
            return list(resolve(layers, self.catalogue).config.tools.names or ())
        return resolve(layers, self.catalogue).value(path)


@dataclass(frozen=True, slots=True)
class FrontmatterResult:
    """Outcome of a block. ``variables`` go to the templates: plain data, or functions."""

    variables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    operations: tuple[Operation, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def blocks_send(self) -> bool:
        """Whether a send has to be refused."""
        return any(failure.severity == "error" for failure in self.failures)

    @property
    def unusable(self) -> bool:
        """Whether the block was not understood, so that the last good result stays in force."""
        return any(
            failure.severity == "error" and not failure.validation for failure in self.failures
        )


def failed(
    message: str, line: int | None = None, cause: BaseException | None = None
) -> FrontmatterResult:
    """Return the result of a block that could not be evaluated."""
    return FrontmatterResult(failures=(Failure(message, line, cause=cause),))


def written(
    writer: Writer, variables: Mapping[str, Any], failures: tuple[Failure, ...]
) -> FrontmatterResult:
    """Return a result with what ``writer`` collected."""
    return FrontmatterResult(variables, tuple(writer.operations), failures)


def apply_frontmatter(layers: Layers, result: FrontmatterResult | None) -> Layers:
    """Return ``layers`` with the settings of ``result`` on top; None clears the layer.

    Nothing else lets a file change settings: a rule about what a foreign file may do belongs here.
    """
    return layers.with_log(Layer.FRONTMATTER, result.operations if result else ())

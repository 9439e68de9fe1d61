"""How an option is declared: a field of a frozen dataclass with a default and its documentation.

The declarations in :mod:`flemma.config.sections` are the single source of every option; the
catalogue, the checks, the documentation page, the Lua annotations and the JSON Schema are all
derived from them. They are plain dataclasses because the host has a quarter of a second to start:
importing pydantic and building its models alone takes longer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar, cast, dataclass_transform

Path: TypeAlias = tuple[str, ...]
"""An option's canonical place, one word a segment (names of tools may hold dots)."""

Check: TypeAlias = Callable[[Any], str | None]
"""Extra condition on a value of the right type: returns what is wrong, or None."""


class PolicyFunction(Protocol):
    """A function given as a value, such as an `auto_approve` policy.

    May be a plain or a coroutine function; functions of Lua arrive wrapped by the host (setup) or
    by the frontmatter evaluator. Raises whatever the user's code raises.
    """

    def __call__(self, *arguments: Any) -> Any:
        """Call it; the result may be awaitable."""
        ...


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is known about an option besides its name, type and default."""

    doc: str
    minimum: float | None = None
    maximum: float | None = None
    check: Check | None = None
    pattern: str | None = None
    """Shape of a string value, for the JSON Schema; ``check`` enforces it."""
    example: str | None = None
    """A Lua value, for the documentation."""
    default_note: str | None = None
    """Shown in place of a default that is computed."""
    own_list: bool = False
    """The list lives at the path of the section itself (`tools = { "bash" }`)."""
    discover: bool = False
    """Holds the subtrees of things that are registered while running (`tools.<tool>`)."""


Class = TypeVar("Class")


@dataclass_transform(frozen_default=True)
def declared(section: type[Class]) -> type[Class]:
    """Make a frozen dataclass of options; without the methods nobody calls, to import quickly."""
    return dataclass(frozen=True, slots=True, repr=False, eq=False, match_args=False)(section)


def option(default: Any, doc: str, **details: Any) -> Any:
    """Declare an option; ``details`` are the fields of :class:`Declaration`."""
    metadata = {"option": Declaration(doc, **details)}
    if isinstance(default, dict):
        attributes = cast("dict[str, Any]", default)
        return field(default_factory=lambda: dict(attributes), metadata=metadata)
    return field(default=default, metadata=metadata)


def table(doc: str, **details: Any) -> Any:
    """Declare an open table of named values, empty by default; it merges name by name."""
    return field(default_factory=dict[str, Any], metadata={"option": Declaration(doc, **details)})


def section(default: Any, doc: str) -> Any:
    """Declare a group of options; ``default`` is an instance of its dataclass."""
    return field(default=default, metadata={"option": Declaration(doc)})


def discovered(doc: str) -> Any:
    """Declare where the subtrees of registered things go."""
    return table(doc, discover=True)


def dotted(path: Path) -> str:
    """Return ``path`` as users write it."""
    return ".".join(path)


Tables: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Discovered subtrees by name."""

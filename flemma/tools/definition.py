"""What a tool is: its definition, its result, and the preview of a call."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from flemma.chat.nodes import JsonValue
from flemma.schema.nodes import Node

if TYPE_CHECKING:
    from flemma.tools.context import ToolContext

ToolInput: TypeAlias = Mapping[str, JsonValue]

BUILTIN = "builtin"
"""Origin of the tools that come with Flemma."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Outcome of a call. A failed call has an ``error`` and may have partial ``output``.

    ``output`` is text, or a structure that is written as JSON. ``full_output_path`` names a file
    that holds the whole output when ``output`` was truncated; ``untruncated`` holds it in memory.
    ``truncated`` says that the tool minded the limits itself, so that nobody else cuts the output.
    ``incomplete`` says that ``output`` was cut and the whole could not be kept anywhere.
    """

    success: bool
    output: JsonValue = None
    error: str | None = None
    full_output_path: str | None = None
    untruncated: str | None = None
    truncated: bool = False
    incomplete: bool = False

    @classmethod
    def ok(cls, output: JsonValue) -> "ToolResult":
        """Return a success."""
        return cls(success=True, output=output)

    @classmethod
    def failure(
        cls, error: str, output: JsonValue = None, *, full_output_path: str | None = None
    ) -> "ToolResult":
        """Return an error the model reads, with the output so far."""
        return cls(success=False, output=output, error=error, full_output_path=full_output_path)


@dataclass(frozen=True, slots=True)
class ToolPreview:
    """One line about a call: the raw detail, and the model's stated intent.

    A detail in several parts is joined with two spaces.
    """

    detail: str | tuple[str, ...] | list[str] | None = None
    label: str | None = None
    highlight: str | None = None
    """Treesitter language of the detail."""


Execute: TypeAlias = "Callable[[ToolInput, ToolContext], ToolResult | Awaitable[ToolResult]]"
FormatPreview: TypeAlias = Callable[[ToolInput], "ToolPreview | str"]
RemotePreview: TypeAlias = Callable[[ToolInput], Awaitable["ToolPreview | str"]]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool a model can call (spec: tools, "Registering custom tools").

    ``asynchronous`` tools show a spinner, can be cancelled and moved to the background. ``execute``
    may be a plain function or a coroutine function in either case; cancelling the awaiting task
    must end the work.
    """

    name: str
    description: str
    input_schema: Node | Mapping[str, Any]
    execute: Execute
    strict: bool = False
    asynchronous: bool = False
    enabled: bool = True
    capabilities: frozenset[str] = frozenset()
    format_preview: FormatPreview | None = None
    remote_preview: RemotePreview | None = None
    """A format that has to be asked for (in Lua); the generic one is shown until it answers."""
    output_schema: Mapping[str, Any] | None = None
    personalities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    origin: str = BUILTIN
    """Where it was registered: ``builtin``, a module path, ``lua``, an MCP server."""

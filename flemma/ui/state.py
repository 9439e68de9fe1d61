"""What a view depends on beside the text: what runs, and a few options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from flemma.chat.nodes import ToolUse


class Preview(Protocol):
    """The summary of a tool call, such as :class:`flemma.tools.previews.PreviewText`."""

    @property
    def name(self) -> str:
        """Name of the tool."""
        ...

    @property
    def detail(self) -> str | None:
        """The raw technical part."""
        ...

    @property
    def label(self) -> str | None:
        """What the model says it wants."""
        ...

    @property
    def block(self) -> Sequence[str]:
        """Lines of the form for narrow windows; empty when there is none."""
        ...

    @property
    def highlight(self) -> str | None:
        """Treesitter language of detail and block."""
        ...


PreviewOf: TypeAlias = Callable[[ToolUse], Preview]


@dataclass(frozen=True, slots=True)
class RunState:
    """What is going on around a chat. Times are Unix seconds."""

    executing: Mapping[str, float] = field(default_factory=dict[str, float])
    """Running tool calls by tool use id, with the time they started."""
    finished: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Calls that ended a moment ago, with whether they succeeded."""
    jobs: Mapping[str, float] = field(default_factory=dict[str, float])
    """Running background jobs by job id, with the time they started."""
    previews: Mapping[str, Preview] = field(default_factory=dict[str, Preview])
    """Previews that had to be asked for, by tool use id. `PreviewOf` returns them; here they make
    that the calls are drawn again when the answer came."""


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Options that decide what is drawn; how it looks is Lua's business."""

    rulers: bool = True
    show_spinner: bool = True
    close_thinking: bool = True
    close_tool_use: bool = True
    close_tool_result: bool = True
    close_frontmatter: bool = False


FINISHED_SHOWN = 1.5
"""Seconds that the outcome of a call is shown (spec: behaviour 12.5)."""

"""The seam between building a conversation and evaluating its templates.

Templates stand above the conversation in the rows of the house, so the builder knows this protocol
only; :class:`flemma.templating.evaluation.Evaluation` fulfils it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from flemma.chat.nodes import (
    Aborted,
    Code,
    Diagnostic,
    Expression,
    FileReference,
    JobResult,
    Segment,
    Thinking,
    ToolResult,
    ToolUse,
)
from flemma.conversation.messages import DocumentPart, ImagePart, TextPart

Carried: TypeAlias = ToolResult | JobResult | ToolUse | Thinking | Aborted
"""Segments that pass through a template as they are."""

RenderedItem: TypeAlias = str | TextPart | ImagePart | DocumentPart | Carried
"""Text of the message, text of a file, an image, a document, or a segment passed through."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What became of a run of segments; lines of diagnostics are relative to the message."""

    items: tuple[RenderedItem, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    failed: bool = False
    """Whether a statement failed; ``items`` is empty then."""


class Templates(Protocol):
    """Evaluates the messages of one document, in document order."""

    def render(self, segments: Sequence[Segment], *, in_tool_result: bool = False) -> Rendered:
        """Evaluate segments as one template. Names set in a message are known in later ones; what
        a tool result sets is not."""
        ...

    @property
    def used_files(self) -> Mapping[str, str]:
        """Absolute path to SHA-256 of each file included so far."""
        ...


def is_evaluated(segment: Segment) -> bool:
    """Tell whether a segment means more than it says."""
    return isinstance(segment, Expression | Code | FileReference)


def as_written(segment: Segment) -> RenderedItem:
    """Return a template segment as its text and any other one as it is."""
    match segment:
        case Expression(raw=raw) | Code(raw=raw) | FileReference(raw=raw):
            return raw
        case ToolResult() | JobResult() | ToolUse() | Thinking() | Aborted():
            return segment
        case _:
            return segment.text

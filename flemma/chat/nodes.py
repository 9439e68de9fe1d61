"""The nodes of a `.chat` document: frozen, slotted, positions relative to their message.

Lines are 0-based. A segment's ``start`` and ``end`` count from the marker line of its message
(the marker itself is line 0), ``end`` is inclusive. An edit above a message therefore moves the
message, not its segments; :meth:`flemma.chat.document.Document.start_of` gives the absolute line
of a message.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

ModelineValue: TypeAlias = "bool | int | float | str | list[ModelineValue] | None"


class Status(StrEnum):
    """Suffix of a tool result header. All but ``error`` are placeholders still to be resolved."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    DENIED = "denied"
    ABORTED = "aborted"
    ERROR = "error"


class Severity(StrEnum):
    """How bad a diagnostic is: an error blocks a send, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem in the document; ``line`` is relative to the message when it belongs to one.

    ``type`` is the family shown before the message: ``frontmatter``, ``message``, ``tool_use``,
    ``tool_result``, ``job_result``, ``expression``, ``template``, ``file``, ``config``.
    """

    type: str
    severity: Severity
    message: str
    line: int = 0
    column: int | None = None
    role: str | None = None
    reference: str | None = None
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meta:
    """What a header suffix holds besides the status, in order; it survives every rewrite."""

    positionals: tuple[ModelineValue, ...] = ()
    keywords: tuple[tuple[str, ModelineValue], ...] = ()
    raw: tuple[str, ...] = ()
    """The tokens as they were written, without the status token."""

    def get(self, key: str) -> ModelineValue:
        """Return the last value of keyword ``key``, or None."""
        found: ModelineValue = None
        for name, value in self.keywords:
            if name == key:
                found = value
        return found


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text; lines joined by newlines."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Expression:
    """``{{ code }}``; ``raw`` is the text as written, ``column`` the 0-based character column."""

    code: str
    raw: str
    start: int
    end: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """``{% code %}``: a template statement."""

    code: str
    raw: str
    start: int
    end: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class FileReference:
    """``@./path;type=mime``: a file to attach. ``path`` is decoded; ``raw`` is as written."""

    path: str
    mime: str | None
    raw: str
    start: int
    end: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block of an assistant message, text verbatim."""

    text: str
    provider: str | None
    signature: str | None
    redacted: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call of the model. ``input`` still holds the harness parameters."""

    id: str
    name: str
    input: Mapping[str, JsonValue]
    start: int
    end: int
    error: str | None = None
    """Why the body could not be parsed (``input`` is empty then), else None."""
    raw_body: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result, or the placeholder for the result, of one tool use."""

    tool_use_id: str
    status: Status | None
    meta: Meta | None
    content: str
    start: int
    end: int
    fence_start: int
    """Line of the opening fence; the content starts one below."""
    segments: tuple["Text | Expression | Code | FileReference", ...] = ()
    """Template parts of ``content``, for tools with ``emits_template``."""

    @property
    def job_id(self) -> str | None:
        """The job this result is a placeholder of, from ``job=`` in the suffix."""
        value = self.meta.get("job") if self.meta else None
        return value if isinstance(value, str) else None

    @property
    def is_placeholder(self) -> bool:
        """Whether the tool use still counts as unresolved."""
        return self.status is not None and self.status is not Status.ERROR


@dataclass(frozen=True, slots=True)
class JobResult:
    """The delivered result of a background job."""

    job_id: str
    status: Status | None
    meta: Meta | None
    content: str
    start: int
    end: int
    fence_start: int


@dataclass(frozen=True, slots=True)
class Aborted:
    """``<!-- flemma:aborted: message -->`` in an assistant message."""

    message: str
    start: int
    end: int


Segment: TypeAlias = (
    Text | Expression | Code | FileReference | Thinking | ToolUse | ToolResult | JobResult | Aborted
)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The fenced settings block at the top of a file."""

    language: str
    code: str
    line_count: int
    """Lines of the block, both fences included."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines ``first`` to ``last`` (exclusive, 0-based) were replaced by ``lines``."""

    first: int
    last: int
    lines: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ReplaceLines:
    """Edit: put ``lines`` in place of lines ``first`` up to ``last`` (absolute, exclusive)."""

    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AppendText:
    """Edit: put ``text`` at the end of absolute line ``line``; newlines in it make new lines."""

    line: int
    text: str


Edit: TypeAlias = ReplaceLines | AppendText

"""Short chats for the tests, and the lines that give parsers trouble."""

from collections.abc import Sequence

from flemma.chat.document import Document
from flemma.chat.nodes import Diagnostic, Frontmatter, Segment
from flemma.chat.parser import parse

NASTY_LINES = (
    "@You:",
    "@Assistant:",
    "@System: ",
    "@Foo:\r",
    "@You: inline",
    "```",
    "````",
    "```lua",
    "```x``` y",
    "`",
    "``",
    "~~~",
    "**Tool Use:** `read` (`id`)",
    "**Tool Result:** `id` (pending x=1)",
    "**Tool Result:** `id`",
    "**Job Result:** `job_a`",
    "<thinking>",
    '<thinking anthropic:signature="s">',
    '<thinking vertex:signature="s" />',
    "<thinking redacted>",
    "</thinking>",
    " </thinking>",
    "<!-- flemma:aborted: gone -->",
    "",
    "  ",
    "text {{ name }} more",
    "{{ open",
    "}}",
    "{% if x %}",
    "see @./a.md.",
    '{"a": 1}',
    "{bad",
    "x\r",
    "a\u2028b\u0085c",
    "\ud83d",
    "\U0001f600 é",
)

Shape = tuple[
    Frontmatter | None,
    list[tuple[int, str, int, int, tuple[Segment, ...], tuple[Diagnostic, ...]]],
]


def shape(document: Document) -> Shape:
    """Return everything a document knows, for comparing two of them."""
    return document.frontmatter, [
        (start, m.role, m.line_count, m.content_end, m.segments, m.diagnostics)
        for start, m in zip(document.starts, document.messages, strict=True)
    ]


def chat(*lines: str) -> Document:
    """Parse a chat of these lines."""
    return parse("\n".join(lines))


def tool_use(tool_use_id: str, name: str = "read", body: str = "{}") -> Sequence[str]:
    """Return the lines of a tool use."""
    return (f"**Tool Use:** `{name}` (`{tool_use_id}`)", "```json", body, "```")


def tool_result(tool_use_id: str, suffix: str = "", *content: str) -> Sequence[str]:
    """Return the lines of a tool result; ``suffix`` without its parentheses."""
    written = f" ({suffix})" if suffix else ""
    return (f"**Tool Result:** `{tool_use_id}`{written}", "```", *content, "```")

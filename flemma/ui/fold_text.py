"""The words of closed folds (spec: behaviour 12.2). Lua cuts them to the window and adds the count.

Line breaks stay in: Lua shows them as the sign the user chose for them.
"""

import re

from flemma.chat.message import Message
from flemma.chat.nodes import (
    Aborted,
    Code,
    Expression,
    FileReference,
    JobResult,
    Status,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from flemma.ui.state import Preview

Chunk = list[str]
"""``[text, highlight group]``"""

PREVIEW_LINES = 10
PREVIEW_CHARACTERS = 400
"""More than a window is wide; the rest need not cross the wire."""

SEPARATOR = " — "
_BLANKS = re.compile(r"[ \t]+")
_SHOWN_STATUS = frozenset({Status.ERROR, Status.REJECTED, Status.DENIED, Status.ABORTED})


def content_preview(text: str) -> str:
    """Return the first lines, trimmed, blanks collapsed, for one line of a fold."""
    # Twice the limit, because trimming makes it shorter.
    lines = text[: 2 * PREVIEW_CHARACTERS].strip().split("\n")[:PREVIEW_LINES]
    joined = "\n".join(_BLANKS.sub(" ", line.strip()) for line in lines)
    return joined[:PREVIEW_CHARACTERS]


def call_chunks(preview: Preview) -> list[Chunk]:
    """Return ``detail — label`` of a call, each part in its own colour."""
    chunks: list[Chunk] = []
    if preview.detail:
        chunks.append([content_preview(preview.detail), "FlemmaToolDetail"])
    if preview.label:
        if chunks:
            chunks.append([SEPARATOR, "FlemmaToolDetail"])
        chunks.append([content_preview(preview.label), "FlemmaToolLabel"])
    return chunks


def use_head(name: str) -> list[Chunk]:
    """Return the head of a folded tool use."""
    return [
        ["⬡ ", "FlemmaToolIcon"],
        ["Tool Use: ", "FlemmaToolUseTitle"],
        [name, "FlemmaToolName"],
        [": ", "FlemmaToolUseTitle"],
    ]


def result_head(title: str, name: str, status: Status | None) -> list[Chunk]:
    """Return the head of a folded result."""
    head = [
        ["⬢ ", "FlemmaToolIcon"],
        [f"{title}: ", "FlemmaToolResultTitle"],
        [name, "FlemmaToolName"],
        [": ", "FlemmaToolResultTitle"],
    ]
    if status in _SHOWN_STATUS:
        head.append([f"({status}) ", f"FlemmaToolResult{str(status).capitalize()}"])
    return head


def result_chunks(content: str, label: str | None) -> list[Chunk]:
    """Return ``content — label`` of a result."""
    chunks: list[Chunk] = []
    if preview := content_preview(content):
        chunks.append([preview, "FlemmaFoldPreview"])
    if label:
        if chunks:
            chunks.append([SEPARATOR, "FlemmaFoldPreview"])
        chunks.append([label, "FlemmaToolLabel"])
    return chunks


def thinking_parts(thinking: Thinking) -> tuple[list[Chunk], list[list[Chunk]], list[Chunk]]:
    """Return head, entries and tail of a folded thinking block."""
    tag = "FlemmaThinkingTag"
    if thinking.redacted:
        return [["<thinking redacted>", tag]], [], []
    provider = f" {thinking.provider}" if thinking.provider else ""
    preview = content_preview(thinking.text)
    if not preview:
        return [[f"<thinking{provider}/>", tag]], [], []
    entry: list[Chunk] = [[preview, "FlemmaThinkingFoldPreview"]]
    return [[f"<thinking{provider}> ", tag]], [entry], [[" </thinking>", tag]]


def text_entries(message: Message) -> list[tuple[str, ToolUse | ToolResult | JobResult | None]]:
    """Return the parts of a folded message in order: merged text, and the tool blocks as nodes."""
    entries: list[tuple[str, ToolUse | ToolResult | JobResult | None]] = []
    merged = ""
    for segment in message.segments:
        match segment:
            case Text(text=text):
                merged += text
            case Expression(raw=raw) | Code(raw=raw) | FileReference(raw=raw):
                merged += raw
            case ToolUse() | ToolResult() | JobResult():
                if preview := content_preview(merged):
                    entries.append((preview, None))
                merged = ""
                entries.append(("", segment))
            case Thinking() | Aborted():
                continue
        if len(entries) >= PREVIEW_LINES * 2:
            break
    if preview := content_preview(merged):
        entries.append((preview, None))
    return entries

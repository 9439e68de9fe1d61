"""The `ls` tool: list a directory (spec: behaviour 4.7)."""

import asyncio
from collections import deque
from dataclasses import dataclass

from flemma import schema as s
from flemma.ports.files import FileKind, Files
from flemma.text.sizes import counted
from flemma.text.truncate import truncate_head
from flemma.tools.builtin.label import label_field
from flemma.tools.builtin.locations import given_count, given_text, locate
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

DEFAULT_LIMIT = 500
DEEPEST = 10
_MOST = 100_000
"""Entries that are looked at; beyond, the count is a lower bound."""


def definition() -> ToolDefinition:
    """Return the tool."""
    return ToolDefinition(
        name="ls",
        description=(
            "List a directory, hidden files included. Directories come first and end in '/'; "
            "entries of deeper levels are paths relative to the directory. Links are not followed."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "path": s.string().describe("Directory to list, relative or absolute"),
                "max_depth": s.number()
                .nullable()
                .describe("Levels of directories to list (default: 1, most: 10)"),
                "limit": s.number().nullable().describe("Most entries to return (default: 500)"),
            }
        ).strict(),
        execute=_execute,
        strict=True,
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "List directories",
                "guidelines": ["Use ls to see how a directory is laid out."],
            }
        },
    )


@dataclass(slots=True)
class _Listing:
    """What was collected: entries with their kind, how many more, what could not be read."""

    entries: list[tuple[bool, str]]
    left_out: int = 0
    complete: bool = True
    unreadable: tuple[str, ...] = ()


async def _execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
    path = given_text(tool_input, "path")
    if not path:
        return ToolResult.failure("No path provided")
    directory = locate(context, path)
    if (problem := _not_a_directory(context.files.kind(directory), path)) is not None:
        return ToolResult.failure(problem)
    depth = given_count(tool_input, "max_depth", 1, DEEPEST)
    limit = given_count(tool_input, "limit", DEFAULT_LIMIT, _MOST)
    try:
        async with asyncio.timeout(context.timeout):
            listing = await _collect(context.files, directory, depth, limit)
    except TimeoutError:
        return ToolResult.failure(f"Listing timed out after {counted(context.timeout, 'second')}.")
    except OSError as error:
        return ToolResult.failure(f"Cannot list directory: {path}: {error.strerror or error}")
    return ToolResult.ok(_text(listing, depth))


async def _collect(files: Files, directory: str, depth: int, limit: int) -> _Listing:
    """Go level by level, so that a limit cuts the deepest entries. Links are not descended, which
    ends every loop (case E-30). Raises `OSError` when the directory itself cannot be listed."""
    listing = _Listing([])
    seen = 0
    pending: deque[tuple[str, int]] = deque([("", 1)])
    while pending:
        prefix, level = pending.popleft()
        try:
            entries = await files.list(f"{directory}/{prefix}".rstrip("/") or "/")
        except OSError:
            if not prefix:
                raise
            listing.unreadable = (*listing.unreadable, prefix)
            continue
        for entry in sorted(entries, key=lambda entry: (not entry.is_directory, entry.name)):
            seen += 1
            if len(listing.entries) < limit:
                shown = f"{prefix}{entry.name}/" if entry.is_directory else prefix + entry.name
                listing.entries.append((not entry.is_directory, shown))
            if entry.is_directory and not entry.is_link and level < depth:
                pending.append((f"{prefix}{entry.name}/", level + 1))
        if seen >= _MOST and pending:
            listing.complete = False
            break
    listing.left_out = seen - len(listing.entries)
    return listing


def _text(listing: _Listing, depth: int) -> str:
    cut = truncate_head("\n".join(shown for _, shown in sorted(listing.entries)))
    total = len(listing.entries)
    shown = cut.output_lines if cut.truncated else total
    note = f"{shown} entry" if shown == 1 else f"{shown} entries"
    notes = [f"[{note}, depth={depth}]" if depth > 1 else f"[{note}]"]
    more = listing.left_out + total - shown
    if more or not listing.complete:
        notes.append(f"[{'' if listing.complete else 'at least '}{more} more not listed]")
    if listing.unreadable:
        notes.append(f"[not readable: {', '.join(listing.unreadable[:5])}]")
    body = f"{cut.content}\n\n" if total else ""
    return body + "\n".join(notes)


def _not_a_directory(kind: FileKind, path: str) -> str | None:
    match kind:
        case FileKind.DIRECTORY:
            return None
        case FileKind.MISSING:
            return f"Directory not found: {path}"
        case FileKind.FILE:
            return f"Not a directory: {path} (it is a file; use read to see its content)"
        case FileKind.OTHER:
            return f"Not a directory: {path} (a device, pipe or socket)"


def _preview(tool_input: ToolInput) -> ToolPreview:
    depth = given_count(tool_input, "max_depth", 1, DEEPEST)
    return ToolPreview(
        detail=(given_text(tool_input, "path"), f"depth={depth}" if depth > 1 else ""),
        label=given_text(tool_input, "label") or None,
    )

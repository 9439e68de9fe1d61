"""The `edit` tool: replace a text that stands in a file once (behaviour 4.4)."""

import asyncio
from dataclasses import dataclass

from flemma import schema as s
from flemma.errors import BufferChanged, EditorError
from flemma.text.lines import adopt_endings, dominant_ending, to_newlines
from flemma.text.sizes import format_size
from flemma.tools.builtin.inputs import text_input
from flemma.tools.builtin.label import label_field
from flemma.tools.builtin.loading import (
    FileTooLargeError,
    LoadedText,
    NotTextError,
    find_file,
    load,
    loaded_buffer,
    not_a_file,
)
from flemma.tools.builtin.matching import Matches, Tolerance, Unix, find_matches, line_number
from flemma.tools.builtin.nearest import nearest_hint
from flemma.tools.builtin.path_locks import path_lock
from flemma.tools.builtin.saving import Saved, SaveError, save_to_buffer, save_to_disk
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

_ATTEMPTS = 5
_MOST_PLACES = 20

_LOOKALIKE_NOTE = (
    " It was found only by taking look-alike characters (curly quotes, dashes, special spaces, "
    "full-width forms) for plain ones."
)


def definition() -> ToolDefinition:
    """Return the tool."""
    return ToolDefinition(
        name="edit",
        description=(
            "Replace a piece of a text file. oldText must stand in the file exactly once, white "
            "space and line breaks included; take in lines around it to make it unique. Encoding "
            "and line endings of the file are kept."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "path": s.string().describe("File to change, relative or absolute"),
                "oldText": s.string().describe("The text to replace, exactly as in the file"),
                "newText": s.string().describe("What to put there; empty to delete"),
            }
        ).strict(),
        execute=_execute,
        strict=True,
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "Change parts of files",
                "guidelines": ["Use edit for changes within a file; oldText has to match exactly."],
            }
        },
    )


@dataclass(frozen=True, slots=True)
class _Edit:
    shown_path: str
    path: str
    old: str
    new: str


class _RefusedError(Exception):
    """The edit cannot be made; the message is for the model."""


async def _execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
    path = text_input(tool_input, "path")
    old = text_input(tool_input, "oldText")
    new = text_input(tool_input, "newText")
    if not path:
        return ToolResult.failure("No path provided")
    if not old:
        return ToolResult.failure("No oldText provided")
    if new is None:
        return ToolResult.failure("No newText provided")
    edit = _Edit(path, find_file(context, path), old, new)
    if not await context.sandbox.is_path_writable(edit.path):
        return ToolResult.failure(
            f"Sandbox: edit denied – path is outside writable directories: {path}"
        )
    try:
        async with path_lock(context, edit.path):
            return ToolResult.ok(await _apply(edit, context))
    except _RefusedError as refusal:
        return ToolResult.failure(str(refusal))


async def _apply(edit: _Edit, context: ToolContext) -> str:
    """Return the sentence of success. Raises :class:`_RefusedError`."""
    for _ in range(_ATTEMPTS):
        loaded = await _load(edit, context)
        matches = find_matches(loaded.text, edit.old)
        if len(matches.places) != 1:
            raise _RefusedError(await asyncio.to_thread(_no_single_match, edit, loaded, matches))
        changed = _changed(loaded.text, edit, matches)
        if changed == loaded.text:
            raise _RefusedError(
                f"No changes made to {edit.shown_path}. The replacement produced identical content."
            )
        try:
            saved = await _save(edit, context, loaded, changed)
        except BufferChanged:
            continue  # the user typed: find the place again
        except SaveError as error:
            raise _RefusedError(f"Cannot write file: {error}") from error
        note = _LOOKALIKE_NOTE if matches.tolerance is Tolerance.LOOKALIKES else ""
        unsaved = f" {saved.note}." if saved.note else ""
        return f"Successfully replaced text in {edit.shown_path}.{note}{unsaved}"
    raise _RefusedError(f"Cannot write file: {edit.shown_path} keeps changing in the editor")


async def _load(edit: _Edit, context: ToolContext) -> LoadedText:
    problem = not_a_file(context.files.kind(edit.path), edit.shown_path)
    if problem and await loaded_buffer(context, edit.path) is None:
        raise _RefusedError(problem)
    try:
        return await load(context, edit.path)
    except NotTextError as error:
        raise _RefusedError(f"Cannot read file: {edit.shown_path} is not a text file") from error
    except FileTooLargeError as error:
        size = format_size(error.size)
        raise _RefusedError(
            f"Cannot read file: {edit.shown_path} has {size}. Use bash, e.g. with sed."
        ) from error
    except (OSError, EditorError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.message
        raise _RefusedError(f"Cannot read file: {reason}") from error


async def _save(edit: _Edit, context: ToolContext, loaded: LoadedText, changed: str) -> Saved:
    if loaded.buffer is not None:
        return await save_to_buffer(context, edit.path, changed, loaded.buffer)
    return await save_to_disk(context, edit.path, changed, loaded.encoding)


def _changed(text: str, edit: _Edit, matches: Matches) -> str:
    """Put the new text in, its line endings those of the place or else of the file."""
    ((start, end),) = matches.places
    region = text[start:end]
    literal = "\r" not in text or (matches.tolerance is Tolerance.NONE and "\r" in edit.old)
    if literal:
        return text[:start] + edit.new + text[end:]
    ending = dominant_ending(region if "\n" in region or "\r" in region else text)
    return text[:start] + adopt_endings(to_newlines(edit.new), region, ending) + text[end:]


def _no_single_match(edit: _Edit, loaded: LoadedText, matches: Matches) -> str:
    if not matches.places:
        problem = (
            f"Could not find the exact text in {edit.shown_path}. The old text must match exactly "
            "including all whitespace and newlines."
        )
        hint = nearest_hint(Unix(loaded.text).text, to_newlines(edit.old))
        return f"{problem}\n\n{hint}" if hint else problem
    count = len(matches.places)
    places = [str(line_number(loaded.text, start)) for start, _ in matches.places[:_MOST_PLACES]]
    more = f" and {count - _MOST_PLACES} more" if count > _MOST_PLACES else ""
    return (
        f"Found {count} occurrences of the text in {edit.shown_path}. The text must be unique. "
        "Please provide more context to make it unique.\n\n"
        f"They begin on lines {', '.join(places)}{more}."
    )


def _preview(tool_input: ToolInput) -> ToolPreview:
    return ToolPreview(detail=text_input(tool_input, "path"), label=text_input(tool_input, "label"))

"""What tools of users return, as the rest of Flemma takes it."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from flemma.tools.definition import ToolPreview, ToolResult

NO_RESULT = "Tool returned no result"


def result_of(returned: object) -> ToolResult:
    """Return the result of ``{success, output, error}`` or of a :class:`ToolResult`."""
    if isinstance(returned, ToolResult):
        return returned
    if not isinstance(returned, Mapping):
        return ToolResult.failure(NO_RESULT)
    table = cast("Mapping[str, Any]", returned)
    if table.get("success"):
        return ToolResult.ok(table.get("output"))
    error = table.get("error")
    return ToolResult.failure("" if error is None else str(error), table.get("output"))


def preview_of(returned: object) -> ToolPreview | str:
    """Return what a `format_preview` gave: text, or ``{label, detail, highlight = {lang}}``."""
    if isinstance(returned, ToolPreview):
        return returned
    if returned is None or returned == []:
        # An empty table of Lua cannot be told from an empty list.
        return ""
    if not isinstance(returned, Mapping):
        return str(returned)
    table = cast("Mapping[str, Any]", returned)
    highlight: Mapping[str, Any] = table.get("highlight") or {}
    return ToolPreview(_detail(table.get("detail")), table.get("label"), highlight.get("lang"))


def _detail(detail: object) -> str | tuple[str, ...] | None:
    if detail is None or isinstance(detail, str):
        return detail
    if isinstance(detail, list | tuple):
        return tuple(map(str, cast("Sequence[Any]", detail)))
    return str(detail)

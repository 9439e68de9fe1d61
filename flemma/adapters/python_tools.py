"""Tools written in Python by users: called with the same context as those in Lua."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from flemma.adapters.custom_tools import settle
from flemma.adapters.threads import in_own_thread
from flemma.tools.context import ToolContext
from flemma.tools.custom_context import CustomContext
from flemma.tools.custom_results import preview_of
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

PREVIEW_COLUMNS = 200
"""What a preview function may count on; what it returns is fitted to the window anyway."""


def python_tool(definition: ToolDefinition, origin: str) -> ToolDefinition:
    """Return ``definition`` as the host runs it: `execute` gets a :class:`CustomContext`."""
    preview = definition.format_preview
    return replace(
        definition,
        execute=_executor(definition.execute, definition.name),
        format_preview=None,
        remote_preview=None if preview is None else _previewer(preview, definition.name),
        origin=origin,
    )


def _executor(
    function: Callable[..., Any], name: str
) -> Callable[[ToolInput, ToolContext], Awaitable[ToolResult]]:
    async def execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
        values = dict(tool_input)
        if inspect.iscoroutinefunction(function):
            custom = CustomContext(context, _awaited_by_the_tool)
            return await settle(await function(values, custom), custom, context)
        custom = CustomContext(context, _blocking(asyncio.get_running_loop()))
        returned = await in_own_thread(function, values, custom, name=f"tool {name}")
        if inspect.isawaitable(returned):
            returned = await returned
        return await settle(returned, custom, context)

    return execute


def _awaited_by_the_tool(awaitable: Awaitable[Any]) -> Awaitable[Any]:
    return awaitable


def _blocking(loop: asyncio.AbstractEventLoop) -> Callable[[Awaitable[Any]], Any]:
    """Return what waits, in the thread of a tool, for something that the loop does."""

    async def result(awaitable: Awaitable[Any]) -> Any:
        return await awaitable

    return lambda awaitable: asyncio.run_coroutine_threadsafe(result(awaitable), loop).result()


def _previewer(
    function: Callable[..., Any], name: str
) -> Callable[[ToolInput], Awaitable[ToolPreview | str]]:
    takes_width = _positional(function) > 1

    async def ask(tool_input: ToolInput) -> ToolPreview | str:
        arguments = (dict(tool_input), PREVIEW_COLUMNS) if takes_width else (dict(tool_input),)
        return preview_of(await in_own_thread(function, *arguments, name=f"preview of {name}"))

    return ask


def _positional(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in kinds for each in parameters)

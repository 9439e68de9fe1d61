"""Calls one tool: nothing a tool does escapes as an exception (case B-04)."""

import asyncio
import inspect
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flemma.chat.nodes import JsonValue
from flemma.errors import FlemmaError, Interrupted
from flemma.schema import check_arguments, to_json_schema
from flemma.tools.context import ToolContext
from flemma.tools.definition import BUILTIN, ToolDefinition, ToolResult

log = logging.getLogger(__name__)

ABORTED = "User aborted tool execution."
NO_RESULT = "Tool returned no result"


async def invoke(
    definition: ToolDefinition, tool_input: Mapping[str, JsonValue], context: ToolContext
) -> ToolResult:
    """Check the input, run the tool, and return what it returned or why it could not.

    Only cancellation is raised. A plain function runs in a thread, so that a slow one holds up
    neither a stream nor the editor.
    """
    checked = check_arguments(_enforced_schema(definition), tool_input)
    if checked.problems:
        problems = "\n".join(f"- {problem}" for problem in checked.problems)
        return ToolResult.failure(
            f"Invalid input for tool '{definition.name}', it was not run:\n{problems}"
        )
    try:
        returned = await _execute(definition, checked.value, context)
    except Interrupted as interrupted:
        raise asyncio.CancelledError from interrupted
    except FlemmaError as error:
        return ToolResult.failure(str(error))
    except Exception as error:  # a tool may raise anything; the model is told, the log has it all
        log.exception("tool %s (%s) raised", definition.name, context.tool_id)
        return ToolResult.failure(f"{type(error).__name__}: {error}")
    if not isinstance(returned, ToolResult):
        return ToolResult.failure(NO_RESULT)
    # Each built-in tool cuts its output in its own way, with a notice that fits.
    return replace(returned, truncated=True) if definition.origin == BUILTIN else returned


def _enforced_schema(definition: ToolDefinition) -> Mapping[str, Any]:
    """Built-in tools answer for missing parameters themselves (spec: behaviour 4.1 to 4.7): each
    has its own sentence, and a forgotten label is not worth a failed call."""
    schema = to_json_schema(definition.input_schema)
    return {**schema, "required": []} if definition.origin == BUILTIN else schema


async def _execute(
    definition: ToolDefinition, tool_input: Mapping[str, JsonValue], context: ToolContext
) -> Any:
    if inspect.iscoroutinefunction(definition.execute):
        return await definition.execute(tool_input, context)
    returned = await asyncio.to_thread(definition.execute, tool_input, context)
    if inspect.isawaitable(returned):
        return await returned
    return returned

"""What Lua and Python tools have in common once they ran."""

from dataclasses import replace

from flemma.tools.context import ToolContext
from flemma.tools.custom_context import CustomContext
from flemma.tools.custom_results import result_of
from flemma.tools.definition import ToolResult


async def settle(returned: object, custom: CustomContext, context: ToolContext) -> ToolResult:
    """Return the result of a call; whole outputs that the tool cut are put into the store."""
    result = result_of(returned)
    path = result.full_output_path
    for text in custom.overflows:
        path = await context.store.write(text) or path
    return replace(result, full_output_path=path, truncated=result.truncated or custom.truncated)

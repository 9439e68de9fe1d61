"""The `flemma.jobs.status` tool: ask about a background job (spec: behaviour 4.8 and 7.6)."""

from flemma import schema as s
from flemma.tools.builtin.locations import given_text
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult


def definition() -> ToolDefinition:
    """Return the tool."""
    return ToolDefinition(
        name="flemma.jobs.status",
        description=(
            "Tell how a background job stands. There is no need to poll: the result of a job is "
            "delivered on its own when it ends. Use this only when what you do next depends on "
            "whether the job still runs."
        ),
        input_schema=s.object(
            {"job_id": s.string().describe("ID of the job, as its placeholder result gives it")}
        ).strict(),
        execute=_execute,
        strict=True,
        capabilities=frozenset({"disables_background", "disables_save_to"}),
        format_preview=_preview,
    )


def _execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
    job_id = given_text(tool_input, "job_id")
    if not job_id:
        return ToolResult.failure("No job ID provided")
    return ToolResult.ok(dict(context.job_status(job_id)))


def _preview(tool_input: ToolInput) -> ToolPreview:
    return ToolPreview(detail=given_text(tool_input, "job_id") or None)

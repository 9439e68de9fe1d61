"""Indicators at the end of tool headers, and previews inside empty placeholders."""

from flemma.chat.nodes import Status, ToolResult
from flemma.ui.payloads import Mark
from flemma.ui.scene import Scene
from flemma.ui.state import FINISHED_SHOWN, Preview, RunState


def indicator(scene: Scene, row: int, tool_use_id: str, result: ToolResult | None) -> Mark | None:
    """Return the indicator of a call at header ``row`` (spec: behaviour 12.5), or None."""
    run = scene.run
    job_id = result.job_id if result is not None else None
    started = run.executing.get(tool_use_id)
    if started is None and job_id is not None:
        started = run.jobs.get(job_id)
    if started is not None:
        return {
            "kind": "status",
            "row": row,
            "text": "Executing…",
            "group": "FlemmaToolExecuting",
            "spinner": scene.options.show_spinner,
            "started": started,
        }
    if (succeeded := run.finished.get(tool_use_id)) is not None:
        return {
            "kind": "status",
            "row": row,
            "text": "✔ Complete" if succeeded else "⚠ Failed",
            "group": "FlemmaToolSuccess" if succeeded else "FlemmaToolError",
            "expires": FINISHED_SHOWN,
        }
    if result is not None and result.status is Status.PENDING:
        return {"kind": "status", "row": row, "text": "⏸ Pending", "group": "FlemmaToolPending"}
    return None


def wants_preview(result: ToolResult, run: RunState) -> bool:
    """Whether the empty fence of ``result`` shows what the call does (spec: behaviour 12.4)."""
    if result.content:
        return False
    return result.is_placeholder or result.tool_use_id in run.executing


def preview_mark(row: int, preview: Preview) -> Mark:
    """Return the virtual line below ``row``."""
    mark: Mark = {"kind": "preview", "row": row, "name": preview.name}
    if preview.detail:
        mark["detail"] = preview.detail
    if preview.label:
        mark["label"] = preview.label
    if preview.block:
        mark["block"] = list(preview.block)
    if preview.highlight:
        mark["language"] = preview.highlight
    return mark


def touched_ids(before: RunState, after: RunState) -> frozenset[str]:
    """Return the ids of calls and jobs that look different after a change of what runs."""
    if before is after:
        return frozenset()
    return frozenset(
        key
        for old, new in (
            (before.executing, after.executing),
            (before.finished, after.finished),
            (before.jobs, after.jobs),
            (before.previews, after.previews),
        )
        if old is not new
        for key in old.keys() | new.keys()
        if old.get(key) != new.get(key)
    )

"""Every change the program makes to a chat: pure functions from a document to edits."""

from flemma.chat.edits.applying import apply_edits, changes_of
from flemma.chat.edits.jobs import (
    JOB_LOST,
    JobDelivery,
    insert_job_results,
    resolve_orphaned_jobs,
)
from flemma.chat.edits.migration import TOOL_NAMES_NOTICE, Migration, migrate
from flemma.chat.edits.response import (
    INTERRUPTED,
    append_aborted,
    append_prompt,
    assistant_opening,
    auto_prompt,
    begin_assistant,
    break_off,
    prompt_above,
    remove_assistant,
)
from flemma.chat.edits.results import (
    ResultText,
    error_text,
    insert_placeholders,
    put_job_placeholder,
    put_result,
    put_results,
    reject_call,
    set_status,
    set_statuses,
)
from flemma.chat.edits.streaming import ResponseText, json_text

__all__ = [
    "INTERRUPTED",
    "JOB_LOST",
    "TOOL_NAMES_NOTICE",
    "JobDelivery",
    "Migration",
    "ResponseText",
    "ResultText",
    "append_aborted",
    "append_prompt",
    "apply_edits",
    "assistant_opening",
    "auto_prompt",
    "begin_assistant",
    "break_off",
    "changes_of",
    "error_text",
    "insert_job_results",
    "insert_placeholders",
    "json_text",
    "migrate",
    "prompt_above",
    "put_job_placeholder",
    "put_result",
    "put_results",
    "reject_call",
    "remove_assistant",
    "resolve_orphaned_jobs",
    "set_status",
    "set_statuses",
]

"""How a run ended: its exit code, and the report of `--json`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from flemma.app.calls import Call, calls_of
from flemma.app.turn import Rest
from flemma.app.usage import RequestRecord
from flemma.chat.document import Document
from flemma.chat.lint import lint
from flemma.chat.nodes import Diagnostic, Text
from flemma.chat.query import last_assistant
from flemma.tools.previews import NEWLINE, preview
from flemma.tools.registry import ToolRegistry

SIGNAL_BASE = 128
"""What a shell adds to the number of the signal that ended a program."""


class ExitCode(IntEnum):
    """Exit codes of `flemma run`; a signal ends it with 128 and its number."""

    FINISHED = 0
    FAILED = 1
    UNUSABLE = 2
    WAITING = 3
    MAX_TURNS = 4


OUTCOMES: Mapping[Rest, ExitCode] = {
    Rest.DONE: ExitCode.FINISHED,
    Rest.FAILED: ExitCode.FAILED,
    Rest.CANCELLED: ExitCode.FAILED,
    Rest.PAUSED: ExitCode.WAITING,
    Rest.STEPPED: ExitCode.WAITING,
    Rest.EXHAUSTED: ExitCode.MAX_TURNS,
}


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run. ``signal`` is the number of the signal that stopped it."""

    code: int
    signal: int | None = None

    @property
    def name(self) -> str:
        """The outcome in the report."""
        return "interrupted" if self.signal else ExitCode(self.code).name.lower()


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that has no result yet."""

    id: str
    name: str
    preview: str


def pending_calls(document: Document, tools: ToolRegistry) -> tuple[PendingCall, ...]:
    """Return the calls that wait, in document order."""
    return tuple(
        _pending(call, tools)
        for call in calls_of(document)
        if call.is_placeholder or not call.has_block
    )


def _pending(call: Call, tools: ToolRegistry) -> PendingCall:
    shown = preview(tools.get(call.name), call.name, call.input).inline
    return PendingCall(call.key.id, call.name, shown.replace("\n", NEWLINE))


def last_reply(document: Document) -> str:
    """Return the text of the last answer, without thinking and calls."""
    last = last_assistant(document)
    if last is None:
        return ""
    texts = [segment.text for segment in last[1].segments if isinstance(segment, Text)]
    return "\n".join(texts).strip()


def report(
    path: str,
    ended: Ended,
    document: Document | None,
    pending: Sequence[PendingCall],
    records: Sequence[RequestRecord],
    notifications: Sequence[Mapping[str, str]],
    problems: Sequence[Diagnostic] = (),
) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    found = [] if document is None else [*problems, *document.diagnostics(), *lint(document)]
    costs = [record.cost for record in records if record.cost is not None]
    return {
        "file": path,
        "outcome": ended.name,
        "exit_code": ended.code,
        "reply": "" if document is None else last_reply(document),
        "pending": [
            {"id": call.id, "name": call.name, "preview": call.preview} for call in pending
        ],
        "turns": len(records),
        "usage": _usage(records),
        "cost": sum(costs) if costs else None,
        "notifications": list(notifications),
        "diagnostics": [_diagnostic(problem) for problem in found],
    }


def _usage(records: Sequence[RequestRecord]) -> dict[str, int]:
    usages = [record.usage for record in records]
    return {
        "input": sum(usage.input for usage in usages),
        "output": sum(usage.output for usage in usages),
        "thinking": sum(usage.thinking for usage in usages),
        "cache_read": sum(usage.cache_read for usage in usages),
        "cache_write": sum(usage.cache_write + usage.cache_write_long for usage in usages),
    }


def _diagnostic(problem: Diagnostic) -> dict[str, Any]:
    return {
        "type": problem.type,
        "severity": str(problem.severity),
        "message": problem.message,
        "line": problem.line + 1,
    }

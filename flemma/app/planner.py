"""The planner: what Ctrl-] does next, as a pure function of the document.

Every rule of the three-phase cycle is here and nowhere else (spec: tools, "Tool approval";
behaviour 2.3 to 2.5). Approval itself is decided before: its verdicts come in as ``decisions``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flemma.app.actions import (
    AcceptContent,
    Action,
    Ending,
    InsertPlaceholder,
    Plan,
    ResolveWithError,
    RunTool,
    Warn,
)
from flemma.app.calls import Call, repeats_a_failure
from flemma.approval.decision import Verdict
from flemma.chat.nodes import Status
from flemma.chat.pairing import CallKey

DENIED = "The tool was denied by a policy."
REJECTED = "This tool has been rejected by the user."
INTERRUPTED = "Response interrupted by the user."

REPEATED = (
    "The model repeats a call that failed twice with the same input: {names}. "
    "Approve or reject it to go on."
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the planner must know beside the calls of the document."""

    decisions: Mapping[CallKey, Verdict]
    """Verdict for each call without a result block."""
    running: frozenset[CallKey] = frozenset()
    """Calls that run in the foreground."""
    limit: int = 2
    """`tools.max_concurrent`; 0 is unlimited."""
    user_initiated: bool = True
    background: frozenset[CallKey] = frozenset()
    """Calls that run as jobs: they neither block nor count, whatever became of their block."""


def plan(calls: tuple[Call, ...], facts: Facts) -> Plan:
    """Return the next pass over the calls of a document, in document order."""
    idle = [call for call in calls if call.key not in facts.running | facts.background]
    missing = [call for call in idle if not call.has_block]
    if missing:
        return _categorise(missing, calls, facts)
    return _process([call for call in idle if call.is_placeholder], facts)


def undecided(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """Return the calls that approval has to be asked about: no block yet, not interrupted."""
    return tuple(call for call in calls if not call.has_block and not call.aborted)


def _categorise(missing: list[Call], calls: tuple[Call, ...], facts: Facts) -> Plan:
    """Phase 1: a placeholder with its status for every call without a block."""
    actions: list[Action] = []
    repeated: list[str] = []
    focus: CallKey | None = None
    for call in missing:
        status = _status(call, facts)
        if status is Status.APPROVED and repeats_a_failure(call, calls):
            status = Status.PENDING
            repeated.append(call.name)
        if status is Status.PENDING and focus is None:
            focus = call.key
        actions.append(InsertPlaceholder(call.key, status))
    if repeated:
        actions.append(Warn(REPEATED.format(names=", ".join(repeated))))
    return Plan(tuple(actions), Ending.AGAIN, focus)


def _status(call: Call, facts: Facts) -> Status:
    if call.aborted:
        return Status.ABORTED
    match facts.decisions.get(call.key, Verdict.REQUIRE_APPROVAL):
        case Verdict.APPROVE:
            return Status.APPROVED
        case Verdict.DENY:
            return Status.DENIED
        case Verdict.REQUIRE_APPROVAL:
            return Status.PENDING


def _process(placeholders: list[Call], facts: Facts) -> Plan:
    """Phase 2: each placeholder by its status, or phase 3 when none is left."""
    actions: list[Action] = []
    settled = False
    waiting: list[Call] = []
    approved: list[Call] = []
    edited = 0
    for call in placeholders:
        match call.status:
            case Status.PENDING if call.content:
                actions.append(AcceptContent(call.key))
            case Status.PENDING:
                waiting.append(call)
            case Status.APPROVED if call.content:
                edited += 1
            case Status.APPROVED:
                approved.append(call)
            case _:
                actions.append(ResolveWithError(call.key, _error_text(call)))
                settled = True
    starting = _within_limit(approved, facts)
    actions.extend(RunTool(call.key) for call in starting)
    actions.extend(_warnings(edited, len(approved) - len(starting), facts, len(starting)))
    focus = waiting[0].key if waiting else None
    ending = _ending(bool(approved), bool(waiting), settled, bool(edited))
    return Plan(tuple(actions), ending, focus)


def _ending(approved: bool, waiting: bool, settled: bool, edited: bool) -> Ending:
    if approved:
        return Ending.WAIT
    if waiting:
        return Ending.PAUSE
    if edited:
        return Ending.STOP
    return Ending.RESOLVED if settled else Ending.SEND


def _error_text(call: Call) -> str:
    match call.status:
        case Status.DENIED:
            return DENIED
        case Status.REJECTED:
            return call.content or REJECTED
        case _:
            return call.abort_message or INTERRUPTED


def _within_limit(approved: list[Call], facts: Facts) -> list[Call]:
    if facts.limit <= 0:
        return approved
    return approved[: max(0, facts.limit - len(facts.running))]


def _warnings(edited: int, queued: int, facts: Facts, starting: int) -> list[Action]:
    warnings: list[Action] = []
    if edited:
        warnings.append(
            Warn(
                f"{edited} tool result(s) have edited content inside an approved tool block — "
                "skipping execution to protect your edits. Remove the (approved) status from "
                "the header to send your content."
            )
        )
    if queued and facts.user_initiated:
        running = len(facts.running) + starting
        warnings.append(
            Warn(
                f"{queued} tool(s) queued — max_concurrent limit reached "
                f"({running}/{facts.limit} running)",
                info=True,
            )
        )
    return warnings

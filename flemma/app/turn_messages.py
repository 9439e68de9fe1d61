"""What the turn engine remembers, what can happen to it, and what it asks for.

:mod:`flemma.app.turn` says which event leads to which commands.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from flemma.app.actions import Plan
from flemma.chat.pairing import CallKey


class Phase(StrEnum):
    """What the turn is busy with."""

    IDLE = "idle"
    PLANNING = "planning"
    REQUESTING = "requesting"


class Rest(StrEnum):
    """Why nothing is under way any more."""

    DONE = "done"
    """The model has answered."""
    PAUSED = "paused"
    """Calls wait for the user."""
    STEPPED = "stepped"
    """Autopilot is off and there is a next step."""
    EXHAUSTED = "exhausted"
    """Autopilot used up its turns."""
    FAILED = "failed"
    """Nothing was sent, or no complete answer came back; the user was told."""
    CANCELLED = "cancelled"
    """The user stopped it."""


class Loop(StrEnum):
    """State of autopilot."""

    IDLE = "idle"
    ARMED = "armed"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class TurnState:
    """Everything the engine remembers between events."""

    phase: Phase = Phase.IDLE
    loop: Loop = Loop.IDLE
    draining: bool = False
    """Whether queued approved calls start by themselves as running ones end."""
    turns: int = 0
    """Requests autopilot sent since the user last did."""
    running: frozenset[CallKey] = frozenset()
    """Foreground calls that run."""
    replan: bool = False
    """Whether a plan is due as soon as the one under way is done."""
    owes_delivery: bool = False
    """Whether results of jobs are queued that nothing under way is certain to take."""
    resuming: bool = False
    """Whether the delay before an automatic continuation runs."""
    user_initiated: bool = False
    """Whether the pass under way began with a key."""
    cancelling: bool = False
    """Whether what is under way was cancelled: its end, however it comes, leads nowhere (S-07)."""


@dataclass(frozen=True, slots=True)
class Autopilot:
    """The autopilot options of the buffer."""

    enabled: bool
    max_turns: int
    resume_delay: float
    """Seconds."""


# Events ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SendPressed:
    """The user asked to go on."""


@dataclass(frozen=True, slots=True)
class SendDirectly:
    """`:Flemma send`: straight to phase 3."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan was made and its edits are in the buffer; ``started`` are the calls now running."""

    plan: Plan
    started: frozenset[CallKey]
    autopilot: Autopilot


@dataclass(frozen=True, slots=True)
class PlanFailed:
    """No plan could be made (broken frontmatter, say); the user was told."""


class Outcome(StrEnum):
    """How a request ended."""

    COMPLETED = "completed"
    CUT = "cut"
    """Completed, but the output limit cut a tool call: the loop stops (case S-09)."""
    ERRORED = "errored"
    CANCELLED = "cancelled"
    NOT_SENT = "not_sent"


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """The request is over and the buffer is written."""

    outcome: Outcome
    has_tool_uses: bool
    autopilot: Autopilot


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The user started one call by hand (Alt-Enter)."""

    key: CallKey


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A foreground call is over, or left the foreground; its result is in the buffer."""

    key: CallKey
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ToolResolved:
    """Alt-Enter turned a rejected or denied call into its error result."""


@dataclass(frozen=True, slots=True)
class JobsDelivered:
    """``count`` results of background jobs were written into the buffer."""

    count: int
    in_loop: bool
    """Whether they were queued while a loop was under way, so that it goes on without delay."""
    autopilot: Autopilot
    resumes: bool = True
    """Whether the conversation may go on by itself: not while the user is writing."""


@dataclass(frozen=True, slots=True)
class JobCompleted:
    """A background job is over; its result is queued."""


@dataclass(frozen=True, slots=True)
class ResumeDue:
    """The delay before an automatic continuation is over."""


@dataclass(frozen=True, slots=True)
class InsertEntered:
    """The user began to type."""


@dataclass(frozen=True, slots=True)
class CancelPressed:
    """The user asked to stop what can be stopped first (spec: behaviour 2.9)."""

    key: CallKey | None
    """The running call to cancel if nothing else is under way, foreground or job."""


@dataclass(frozen=True, slots=True)
class CancelAllPressed:
    """The user asked to stop everything."""


Event: TypeAlias = (
    SendPressed
    | SendDirectly
    | Planned
    | PlanFailed
    | RequestEnded
    | ToolStarted
    | ToolEnded
    | ToolResolved
    | JobsDelivered
    | JobCompleted
    | ResumeDue
    | InsertEntered
    | CancelPressed
    | CancelAllPressed
)


# Commands ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MakePlan:
    """Read settings and approvals, plan, write the plan's edits, start its tools."""

    user_initiated: bool


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Send the conversation."""

    user_initiated: bool


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Stop the request (connecting, streaming or waiting to retry)."""


@dataclass(frozen=True, slots=True)
class CancelPlan:
    """Stop a plan that waits (slow resolver, loading tools, credentials)."""


@dataclass(frozen=True, slots=True)
class CancelTool:
    """Stop one running call or job."""

    key: CallKey


@dataclass(frozen=True, slots=True)
class CancelAllTools:
    """Stop every running call and job of the buffer."""


@dataclass(frozen=True, slots=True)
class DeliverJobs:
    """Write queued job results into the buffer, then report :class:`JobsDelivered`."""

    in_loop: bool
    resumes: bool = True
    """Whether the conversation may go on by itself: not after a request that failed."""


@dataclass(frozen=True, slots=True)
class StartResumeTimer:
    """Start, or start again, the delay before an automatic continuation."""

    seconds: float


@dataclass(frozen=True, slots=True)
class StopResumeTimer:
    """Drop the delay; ``resumed`` tells a continuation from a cancellation."""

    resumed: bool


@dataclass(frozen=True, slots=True)
class MoveToPending:
    """Put the cursor on a pending placeholder."""

    key: CallKey


@dataclass(frozen=True, slots=True)
class Tell:
    """Notify the user."""

    message: str
    level: str = "warn"


@dataclass(frozen=True, slots=True)
class SaveBuffer:
    """Write the buffer if `editing.auto_write` says so."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Nothing is under way any more; who waits for the turn (insert mode, headless) goes on."""

    rest: Rest = Rest.DONE


Command: TypeAlias = (
    MakePlan
    | OpenRequest
    | CancelRequest
    | CancelPlan
    | CancelTool
    | CancelAllTools
    | DeliverJobs
    | StartResumeTimer
    | StopResumeTimer
    | MoveToPending
    | Tell
    | SaveBuffer
    | Settled
)

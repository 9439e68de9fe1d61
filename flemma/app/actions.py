"""What Ctrl-] does next: the planner's actions (spec: tools, "three-phase cycle")."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from flemma.chat.nodes import Status
from flemma.chat.pairing import CallKey


@dataclass(frozen=True, slots=True)
class InsertPlaceholder:
    """Phase 1: put a placeholder with the status that approval decided."""

    key: CallKey
    status: Status


@dataclass(frozen=True, slots=True)
class AcceptContent:
    """Phase 2: the user filled in a pending block; its content becomes the result."""

    key: CallKey


@dataclass(frozen=True, slots=True)
class ResolveWithError:
    """Phase 2: a denied, rejected or aborted call gets the error the model reads."""

    key: CallKey
    message: str


@dataclass(frozen=True, slots=True)
class RunTool:
    """Phase 2: run an approved call."""

    key: CallKey


@dataclass(frozen=True, slots=True)
class Warn:
    """Tell the user something about this pass."""

    message: str
    info: bool = False


class Ending(StrEnum):
    """How a pass ends."""

    AGAIN = "again"
    """Placeholders were written: go on with phase 2 in the next tick."""
    WAIT = "wait"
    """Tools run; their end goes on."""
    PAUSE = "pause"
    """Pending calls need the user."""
    RESOLVED = "resolved"
    """Error results were written; autopilot goes on, else the user presses again."""
    SEND = "send"
    """Phase 3: every call has its result."""
    STOP = "stop"
    """Nothing can be done; a warning said why."""


Action: TypeAlias = InsertPlaceholder | AcceptContent | ResolveWithError | RunTool | Warn


@dataclass(frozen=True, slots=True)
class Plan:
    """The actions of one pass, in order, and how it ends."""

    actions: tuple[Action, ...]
    ending: Ending
    focus: CallKey | None = None
    """Tool use whose placeholder the cursor goes to."""

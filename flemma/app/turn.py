"""The turn engine: `step(state, event) -> (state, commands)`, pure.

One turn runs in a buffer at a time. Events say what happened (a key, a finished plan, the end of a
request or a tool); commands say what to do. :class:`flemma.app.session.ChatSession` performs them
and feeds the results back as events. The rules are those of spec: tools, "Tool approval", and
behaviour 2.2 to 2.9.

Autopilot is ``armed`` while its loop runs, ``paused`` when a pending call waits for the user, else
``idle``.
"""

from dataclasses import replace
from typing import TypeAlias, assert_never

from flemma.app.actions import Ending
from flemma.app.turn_messages import (
    Autopilot,
    CancelAllPressed,
    CancelAllTools,
    CancelPlan,
    CancelPressed,
    CancelRequest,
    CancelTool,
    Command,
    DeliverJobs,
    Event,
    InsertEntered,
    JobCompleted,
    JobsDelivered,
    Loop,
    MakePlan,
    MoveToPending,
    OpenRequest,
    Outcome,
    Phase,
    PlanFailed,
    Planned,
    RequestEnded,
    Rest,
    ResumeDue,
    SaveBuffer,
    SendDirectly,
    SendPressed,
    Settled,
    StartResumeTimer,
    StopResumeTimer,
    Tell,
    ToolEnded,
    ToolResolved,
    ToolStarted,
    TurnState,
)
from flemma.chat.pairing import CallKey

__all__ = [
    "REQUEST_IN_FLIGHT",
    "TOOLS_RUNNING",
    "Autopilot",
    "CancelAllPressed",
    "CancelAllTools",
    "CancelPlan",
    "CancelPressed",
    "CancelRequest",
    "CancelTool",
    "Command",
    "DeliverJobs",
    "Event",
    "InsertEntered",
    "JobCompleted",
    "JobsDelivered",
    "Loop",
    "MakePlan",
    "MoveToPending",
    "OpenRequest",
    "Outcome",
    "Phase",
    "PlanFailed",
    "Planned",
    "RequestEnded",
    "Rest",
    "ResumeDue",
    "SaveBuffer",
    "SendDirectly",
    "SendPressed",
    "Settled",
    "StartResumeTimer",
    "StopResumeTimer",
    "Tell",
    "ToolEnded",
    "ToolResolved",
    "ToolStarted",
    "TurnState",
    "step",
]

Step: TypeAlias = tuple[TurnState, tuple[Command, ...]]

REQUEST_IN_FLIGHT = "A request is already in progress. Use <C-c> to cancel it first."
DROPPED = "Cancelled queued send."
TOOLS_RUNNING = "Cannot send while tool execution is in progress."


def step(state: TurnState, event: Event) -> Step:
    """Return the state after ``event`` and what is to be done."""
    after, commands = _react(state, event)
    return _pay_delivery(after, commands, resumes=not isinstance(event, RequestEnded))


def _pay_delivery(state: TurnState, commands: tuple[Command, ...], *, resumes: bool) -> Step:
    """Results that came while the buffer was busy are delivered as soon as it rests."""
    if any(isinstance(command, DeliverJobs | OpenRequest) for command in commands):
        return replace(state, owes_delivery=False), commands
    if not state.owes_delivery or _is_busy(state) or state.loop is not Loop.IDLE:
        return state, commands
    paid = replace(state, owes_delivery=False)
    return paid, (DeliverJobs(in_loop=False, resumes=resumes), *commands)


def _react(state: TurnState, event: Event) -> Step:  # noqa: C901 - one branch an event, no logic
    match event:
        case SendPressed():
            return _on_send(state)
        case SendDirectly():
            return _on_send_directly(state)
        case Planned():
            return _on_planned(replace(state, phase=Phase.IDLE), event)
        case PlanFailed():
            return _on_plan_failed(state)
        case RequestEnded():
            return _on_request_ended(replace(state, phase=Phase.IDLE), event)
        case ToolStarted(key):
            return replace(state, running=state.running | {key}), ()
        case ToolEnded():
            return _on_tool_ended(state, event)
        case ToolResolved():
            return _resume_paused(state)
        case JobsDelivered():
            return _on_delivered(state, event)
        case JobCompleted():
            return _on_job_completed(state)
        case ResumeDue():
            return _on_resume_due(state)
        case InsertEntered():
            return _drop_resume(state)
        case CancelPressed(key):
            return _on_cancel(state, key)
        case CancelAllPressed():
            return _on_cancel_all(state)
        case _:
            assert_never(event)


def _plan(state: TurnState, *, user_initiated: bool) -> Step:
    planning = replace(state, phase=Phase.PLANNING, replan=False, user_initiated=user_initiated)
    return planning, (MakePlan(user_initiated),)


def _on_send(state: TurnState) -> Step:
    if state.phase is Phase.REQUESTING:
        return state, (Tell(REQUEST_IN_FLIGHT),)
    if state.phase is Phase.PLANNING:
        return state, ()
    return _by_key(state, *_plan(replace(state, resuming=False, turns=0), user_initiated=True))


def _on_send_directly(state: TurnState) -> Step:
    if state.phase is not Phase.IDLE:
        return state, (Tell(REQUEST_IN_FLIGHT),)
    if state.running:
        return state, (Tell(TOOLS_RUNNING),)
    return _by_key(state, *_request(replace(state, resuming=False, turns=0), user_initiated=True))


def _by_key(before: TurnState, after: TurnState, commands: tuple[Command, ...]) -> Step:
    """A send by hand cancels a continuation that was due (spec: behaviour 7.4)."""
    return after, (StopResumeTimer(resumed=False), *commands) if before.resuming else commands


def _request(state: TurnState, *, user_initiated: bool) -> Step:
    requesting = replace(state, phase=Phase.REQUESTING, draining=False)
    return requesting, (OpenRequest(user_initiated),)


def _on_plan_failed(state: TurnState) -> Step:
    idle = replace(state, phase=Phase.IDLE, loop=Loop.IDLE, draining=False, cancelling=False)
    if idle.running:
        return idle, ()
    return idle, (Settled(Rest.CANCELLED if state.cancelling else Rest.FAILED),)


def _on_planned(state: TurnState, event: Planned) -> Step:
    state = replace(state, running=state.running | event.started)
    plan = event.plan
    if state.cancelling:
        return _cancelled_too_late(state, event.started)
    match plan.ending:
        case Ending.AGAIN:
            focus = (MoveToPending(plan.focus),) if plan.focus else ()
            again, commands = _plan(state, user_initiated=state.user_initiated)
            return again, (*focus, *commands)
        case Ending.WAIT:
            loop = Loop.ARMED if event.autopilot.enabled else Loop.IDLE
            waiting = replace(state, loop=loop, draining=True)
            return _replan_if_due(waiting)
        case Ending.PAUSE:
            return _pause(state, event)
        case Ending.RESOLVED:
            if event.autopilot.enabled:
                return _plan(replace(state, loop=Loop.ARMED), user_initiated=False)
            return replace(state, draining=False), (SaveBuffer(), Settled(Rest.STEPPED))
        case Ending.SEND:
            return _send_if_clear(state)
        case Ending.STOP:
            stopped = replace(state, loop=Loop.IDLE, draining=False)
            return stopped, () if state.running else (Settled(Rest.PAUSED),)
        case _:
            assert_never(plan.ending)


def _cancelled_too_late(state: TurnState, started: frozenset[CallKey]) -> Step:
    """The plan was done when it was cancelled: what it started is stopped, nothing follows."""
    stopped = replace(state, loop=Loop.IDLE, draining=False, cancelling=False)
    if stopped.running:
        return stopped, tuple(CancelTool(key) for key in sorted(started, key=str))
    return stopped, (SaveBuffer(), Settled(Rest.CANCELLED))


def _replan_if_due(state: TurnState) -> Step:
    """Plan again when a tool ended while the last plan was being made."""
    if state.replan or not state.running:
        return _plan(state, user_initiated=False)
    return state, ()


def _pause(state: TurnState, event: Planned) -> Step:
    focus = (MoveToPending(event.plan.focus),) if event.plan.focus else ()
    loop = Loop.PAUSED if event.autopilot.enabled else Loop.IDLE
    paused = replace(state, loop=loop, draining=bool(state.running))
    if state.running:
        after, commands = _replan_if_due(paused) if state.replan else (paused, ())
        return after, (*focus, *commands)
    return paused, (*focus, SaveBuffer(), Settled(Rest.PAUSED))


def _send_if_clear(state: TurnState) -> Step:
    if state.running:
        told = (Tell(TOOLS_RUNNING),) if state.user_initiated else ()
        return state, told
    if not state.user_initiated and state.loop is not Loop.ARMED:
        return replace(state, draining=False), (SaveBuffer(), Settled(Rest.STEPPED))
    return _request(state, user_initiated=state.user_initiated)


def _on_request_ended(state: TurnState, event: RequestEnded) -> Step:
    idle = replace(state, loop=Loop.IDLE, draining=False, cancelling=False)
    if state.cancelling:
        return replace(idle, turns=0), (Settled(Rest.CANCELLED),)
    match event.outcome:
        case Outcome.COMPLETED if event.has_tool_uses and event.autopilot.enabled:
            return _next_turn(idle, event.autopilot)
        case Outcome.COMPLETED if not event.has_tool_uses:
            return idle, (DeliverJobs(in_loop=True),)
        case Outcome.COMPLETED:
            return idle, (Settled(Rest.STEPPED),)
        case Outcome.CANCELLED:
            return replace(idle, turns=0), (Settled(Rest.CANCELLED),)
        case _:
            return idle, (Settled(Rest.FAILED),)


def _next_turn(state: TurnState, autopilot: Autopilot) -> Step:
    turns = state.turns + 1
    if turns > autopilot.max_turns:
        text = f"Autopilot stopped — exceeded {autopilot.max_turns} consecutive turns."
        return replace(state, turns=0), (Tell(text), Settled(Rest.EXHAUSTED))
    armed = replace(state, loop=Loop.ARMED, turns=turns)
    return _plan(armed, user_initiated=False)


def _on_tool_ended(state: TurnState, event: ToolEnded) -> Step:
    after = replace(state, running=state.running - {event.key})
    if event.cancelled:
        after = replace(after, loop=Loop.IDLE, draining=False, turns=0)
        if after.phase is not Phase.IDLE:
            return replace(after, cancelling=True), () if after.cancelling else (CancelPlan(),)
        return after, () if after.running else (SaveBuffer(), Settled(Rest.CANCELLED))
    if after.phase is not Phase.IDLE:
        return replace(after, replan=True), ()
    if after.loop is Loop.ARMED or after.draining:
        return _plan(after, user_initiated=False)
    if after.loop is Loop.PAUSED and not after.running:
        return _resume_paused(after)
    return after, () if after.running else (SaveBuffer(), Settled(Rest.STEPPED))


def _resume_paused(state: TurnState) -> Step:
    """A call was settled by hand: a paused loop goes on, an idle one does not."""
    if state.loop is Loop.PAUSED and state.phase is Phase.IDLE:
        return _plan(replace(state, loop=Loop.ARMED), user_initiated=False)
    return state, (SaveBuffer(),)


def _on_delivered(state: TurnState, event: JobsDelivered) -> Step:
    if state.phase is not Phase.IDLE or state.running:
        return state, ()
    if event.count == 0 or not event.autopilot.enabled or not event.resumes:
        rest = Rest.STEPPED if event.count else Rest.DONE
        return replace(state, turns=0), (SaveBuffer(), Settled(rest))
    if event.in_loop:
        return _next_turn(state, event.autopilot)
    return (
        replace(state, resuming=True),
        (SaveBuffer(), StartResumeTimer(event.autopilot.resume_delay)),
    )


def _on_job_completed(state: TurnState) -> Step:
    """A loop under way takes queued results with its next send; an idle buffer gets them now."""
    if _is_busy(state) or state.loop is not Loop.IDLE:
        return replace(state, owes_delivery=True), ()
    return state, (DeliverJobs(in_loop=False),)


def _on_resume_due(state: TurnState) -> Step:
    if not state.resuming:
        return state, ()
    ready = replace(state, resuming=False)
    if ready.phase is not Phase.IDLE or ready.running:
        return ready, (StopResumeTimer(resumed=False),)
    after, commands = _plan(replace(ready, loop=Loop.ARMED), user_initiated=False)
    return after, (StopResumeTimer(resumed=True), *commands)


def _drop_resume(state: TurnState) -> Step:
    if not state.resuming:
        return state, ()
    dropped = replace(state, resuming=False)
    return dropped, (StopResumeTimer(resumed=False), *_rest_of_resume(state))


def _on_cancel(state: TurnState, key: CallKey | None) -> Step:
    disarmed = replace(state, loop=Loop.IDLE, draining=False, turns=0)
    cancelling = replace(disarmed, cancelling=True)
    if state.phase is Phase.REQUESTING:
        return cancelling, () if state.cancelling else (CancelRequest(),)
    if state.phase is Phase.PLANNING:
        return cancelling, () if state.cancelling else (CancelPlan(), Tell(DROPPED, "info"))
    if state.resuming:
        text = "Cancelled pending auto-continue."
        return (
            replace(disarmed, resuming=False),
            (StopResumeTimer(resumed=False), Tell(text, "info"), *_rest_of_resume(state)),
        )
    if key is not None:
        return disarmed, (CancelTool(key),)
    return state, (Tell("Nothing to cancel", "info"),)


def _on_cancel_all(state: TurnState) -> Step:
    disarmed = replace(state, loop=Loop.IDLE, draining=False, turns=0, resuming=False)
    commands: list[Command] = [CancelAllTools()]
    if state.phase is not Phase.IDLE and not state.cancelling:
        requesting = state.phase is Phase.REQUESTING
        commands.append(CancelRequest() if requesting else CancelPlan())
    if state.resuming:
        commands += (StopResumeTimer(resumed=False), *_rest_of_resume(state))
    return replace(disarmed, cancelling=state.phase is not Phase.IDLE), tuple(commands)


def _rest_of_resume(state: TurnState) -> tuple[Command, ...]:
    """A dropped continuation ends the turn, unless a call was started by hand meanwhile."""
    return () if _is_busy(state) else (Settled(Rest.CANCELLED),)


def _is_busy(state: TurnState) -> bool:
    return state.phase is not Phase.IDLE or bool(state.running)

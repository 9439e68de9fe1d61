"""Playbooks of the turn engine about background jobs (spec: behaviour 7.3, 7.4)."""

import pytest

from flemma.app.actions import Ending, Plan
from flemma.app.turn import (
    Autopilot,
    DeliverJobs,
    JobCompleted,
    JobsDelivered,
    Loop,
    OpenRequest,
    Outcome,
    Phase,
    RequestEnded,
    Rest,
    SaveBuffer,
    SendPressed,
    Settled,
    StartResumeTimer,
    ToolEnded,
    TurnState,
    step,
)
from flemma.app.turn_messages import Planned
from flemma.chat.pairing import CallKey

A = CallKey("a")
ON = Autopilot(enabled=True, max_turns=3, resume_delay=2.0)


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.ERRORED, Outcome.NOT_SENT])
def test_a_job_that_ends_during_a_request_that_fails_is_delivered_and_sends_nothing(
    outcome: Outcome,
) -> None:
    state, _ = step(TurnState(phase=Phase.REQUESTING), JobCompleted())
    state, commands = step(state, RequestEnded(outcome, False, ON))
    assert commands[0] == DeliverJobs(in_loop=False, resumes=False)
    state, commands = step(state, JobsDelivered(1, False, ON, resumes=False))
    assert commands == (SaveBuffer(), Settled(Rest.STEPPED))
    assert not state.owes_delivery


def test_a_job_that_ends_just_as_it_leaves_the_foreground_is_delivered() -> None:
    """The tool is moved by Alt-B, and ends before the turn has heard of the move."""
    state, commands = step(TurnState(running=frozenset({A})), JobCompleted())
    assert commands == ()
    state, commands = step(state, ToolEnded(A))
    assert commands == (DeliverJobs(in_loop=False), SaveBuffer(), Settled(Rest.STEPPED))
    _, commands = step(state, JobsDelivered(1, False, ON))
    assert commands == (SaveBuffer(), StartResumeTimer(2.0))


def test_results_that_a_send_takes_along_are_not_owed_any_more() -> None:
    state, _ = step(TurnState(phase=Phase.PLANNING, loop=Loop.ARMED), JobCompleted())
    state, commands = step(state, Planned(Plan((), Ending.SEND), frozenset(), ON))
    assert commands == (OpenRequest(user_initiated=False),)
    assert not state.owes_delivery


def test_a_paused_loop_keeps_results_for_its_next_send() -> None:
    state, commands = step(TurnState(loop=Loop.PAUSED), JobCompleted())
    assert commands == ()
    assert state.owes_delivery
    _, commands = step(state, SendPressed())
    assert not any(isinstance(command, DeliverJobs) for command in commands)


def test_nothing_continues_by_itself_while_the_user_writes() -> None:  # case L-06
    state, commands = step(TurnState(), JobCompleted())
    assert commands == (DeliverJobs(in_loop=False),)
    state, commands = step(state, JobsDelivered(1, False, ON, resumes=False))
    assert commands == (SaveBuffer(), Settled(Rest.STEPPED))
    assert not state.resuming

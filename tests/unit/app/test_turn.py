"""Playbooks of the turn engine: events in, commands expected."""

import pytest

from flemma.app.actions import Ending, Plan, RunTool
from flemma.app.turn import (
    DROPPED,
    REQUEST_IN_FLIGHT,
    TOOLS_RUNNING,
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
    step,
)
from flemma.chat.pairing import CallKey

A, B, C, P = CallKey("a"), CallKey("b"), CallKey("c"), CallKey("p")
ON = Autopilot(enabled=True, max_turns=3, resume_delay=2.0)
OFF = Autopilot(enabled=False, max_turns=3, resume_delay=2.0)


def planned(
    ending: Ending, *started: CallKey, focus: CallKey | None = None, autopilot: Autopilot = ON
) -> Planned:
    plan = Plan(tuple(RunTool(name) for name in started), ending, focus)
    return Planned(plan, frozenset(started), autopilot)


def completed(has_tool_uses: bool, autopilot: Autopilot = ON) -> RequestEnded:
    return RequestEnded(Outcome.COMPLETED, has_tool_uses, autopilot)


def play(*story: Event | Command) -> TurnState:
    """Feed the events of a story; the commands between them are what each event must bring."""
    state = TurnState()
    expected: list[Command] = []
    got: list[Command] = []
    for item in story:
        if isinstance(item, Event):
            assert got == expected
            state, commands = step(state, item)
            got, expected = list(commands), []
        else:
            expected.append(item)
    assert got == expected
    return state


def test_a_message_without_calls_is_sent_and_the_turn_settles() -> None:
    state = play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.SEND),
        OpenRequest(user_initiated=True),
        completed(has_tool_uses=False),
        DeliverJobs(in_loop=True),
        JobsDelivered(0, True, ON),
        SaveBuffer(),
        Settled(),
    )
    assert state == TurnState(user_initiated=True)


def test_autopilot_runs_approved_calls_and_sends_their_results() -> None:
    state = play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.SEND),
        OpenRequest(user_initiated=True),
        completed(has_tool_uses=True),
        MakePlan(user_initiated=False),
        planned(Ending.AGAIN),
        MakePlan(user_initiated=False),
        planned(Ending.WAIT, A, B),
        ToolEnded(B),
        MakePlan(user_initiated=False),
        planned(Ending.SEND),
        ToolEnded(A),
        MakePlan(user_initiated=False),
        planned(Ending.SEND),
        OpenRequest(user_initiated=False),
    )
    assert state.turns == 1
    assert state.loop is Loop.ARMED


def test_a_pending_call_pauses_the_loop_while_approved_ones_run() -> None:
    play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.AGAIN, focus=P),
        MoveToPending(P),
        MakePlan(user_initiated=True),
        planned(Ending.WAIT, A),
        ToolEnded(A),
        MakePlan(user_initiated=False),
        planned(Ending.PAUSE, focus=P),
        MoveToPending(P),
        SaveBuffer(),
        Settled(Rest.PAUSED),
    )


def paused() -> TurnState:
    state, _ = step(TurnState(), SendPressed())
    state, _ = step(state, planned(Ending.PAUSE, focus=P))
    assert state.loop is Loop.PAUSED
    return state


def test_a_call_run_by_hand_resumes_a_paused_loop() -> None:  # acceptance 49
    state, _ = step(paused(), ToolStarted(P))
    state, commands = step(state, ToolEnded(P))
    assert commands == (MakePlan(user_initiated=False),)
    assert state.loop is Loop.ARMED


def test_a_call_run_by_hand_in_an_idle_buffer_sends_nothing() -> None:  # acceptance 49
    state, _ = step(TurnState(), ToolStarted(P))
    state, commands = step(state, ToolEnded(P))
    assert commands == (SaveBuffer(), Settled(Rest.STEPPED))
    assert state.loop is Loop.IDLE


def test_resolving_a_rejected_call_by_hand_resumes_only_a_paused_loop() -> None:
    _, commands = step(paused(), ToolResolved())
    assert commands == (MakePlan(user_initiated=False),)
    _, commands = step(TurnState(), ToolResolved())
    assert commands == (SaveBuffer(),)


def test_without_autopilot_each_step_waits_for_a_key() -> None:
    play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.AGAIN, autopilot=OFF),
        MakePlan(user_initiated=True),
        planned(Ending.WAIT, A, autopilot=OFF),
        ToolEnded(A),
        MakePlan(user_initiated=False),
        planned(Ending.SEND, autopilot=OFF),
        SaveBuffer(),
        Settled(Rest.STEPPED),
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.SEND, autopilot=OFF),
        OpenRequest(user_initiated=True),
        completed(has_tool_uses=True, autopilot=OFF),
        Settled(Rest.STEPPED),
    )


def test_queued_calls_start_as_slots_free_up_without_autopilot() -> None:  # acceptance 46
    play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.WAIT, A, B, autopilot=OFF),
        ToolEnded(A),
        MakePlan(user_initiated=False),
        planned(Ending.WAIT, C, autopilot=OFF),
    )


def test_a_tool_that_ends_while_a_plan_is_made_brings_another_plan() -> None:
    state = play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.WAIT, A, B),
        ToolEnded(A),
        MakePlan(user_initiated=False),
        ToolEnded(B),
        planned(Ending.WAIT, C),
        MakePlan(user_initiated=False),
    )
    assert state.running == {C}


def test_error_results_go_on_only_with_autopilot() -> None:
    play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.RESOLVED),
        MakePlan(user_initiated=False),
        planned(Ending.SEND),
        OpenRequest(user_initiated=False),
    )
    play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.RESOLVED, autopilot=OFF),
        SaveBuffer(),
        Settled(Rest.STEPPED),
    )


def test_sending_is_refused_during_a_request_and_while_tools_run() -> None:  # acceptance 52
    play(
        SendDirectly(),
        OpenRequest(user_initiated=True),
        SendPressed(),
        Tell(REQUEST_IN_FLIGHT),
        SendDirectly(),
        Tell(REQUEST_IN_FLIGHT),
    )
    play(
        ToolStarted(A),
        SendDirectly(),
        Tell(TOOLS_RUNNING),
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.SEND),
        Tell(TOOLS_RUNNING),
    )


def test_autopilot_stops_after_its_turns() -> None:
    state, _ = step(TurnState(turns=3, phase=Phase.REQUESTING), completed(has_tool_uses=True))
    assert state.loop is Loop.IDLE
    assert state.turns == 0
    _, commands = step(TurnState(turns=3, phase=Phase.REQUESTING), completed(has_tool_uses=True))
    assert commands == (
        Tell("Autopilot stopped — exceeded 3 consecutive turns."),
        Settled(Rest.EXHAUSTED),
    )


def test_a_user_send_starts_counting_anew() -> None:
    state, _ = step(TurnState(turns=3), SendPressed())
    assert state.turns == 0


@pytest.mark.parametrize(
    ("outcome", "rest"),
    [
        (Outcome.ERRORED, Rest.FAILED),
        (Outcome.CUT, Rest.FAILED),
        (Outcome.CANCELLED, Rest.CANCELLED),
    ],
)
def test_a_failed_cut_or_cancelled_response_stops_the_loop(
    outcome: Outcome, rest: Rest
) -> None:  # S-09
    state = TurnState(phase=Phase.REQUESTING, loop=Loop.ARMED, turns=1)
    state, commands = step(state, RequestEnded(outcome, has_tool_uses=True, autopilot=ON))
    assert commands == (Settled(rest),)
    assert state.loop is Loop.IDLE


def test_cancel_takes_the_first_thing_under_way() -> None:  # S-07, S-08
    requesting = TurnState(phase=Phase.REQUESTING, loop=Loop.ARMED, running=frozenset({A}))
    state, commands = step(requesting, CancelPressed(A))
    assert commands == (CancelRequest(),)
    assert state.loop is Loop.IDLE
    _, commands = step(TurnState(phase=Phase.PLANNING), CancelPressed(None))
    assert commands == (CancelPlan(), Tell(DROPPED, "info"))
    _, commands = step(TurnState(resuming=True), CancelPressed(A))
    assert commands == (
        StopResumeTimer(resumed=False),
        Tell("Cancelled pending auto-continue.", "info"),
        Settled(Rest.CANCELLED),
    )
    state, commands = step(TurnState(loop=Loop.ARMED, running=frozenset({A})), CancelPressed(A))
    assert commands == (CancelTool(A),)
    assert state.loop is Loop.IDLE
    _, commands = step(TurnState(), CancelPressed(None))
    assert commands == (Tell("Nothing to cancel", "info"),)


def test_cancel_all_stops_everything() -> None:
    _, commands = step(TurnState(phase=Phase.REQUESTING, resuming=True), CancelAllPressed())
    assert commands == (CancelAllTools(), CancelRequest(), StopResumeTimer(resumed=False))


def test_a_cancelled_tool_disarms_the_loop() -> None:
    state = TurnState(loop=Loop.ARMED, draining=True, running=frozenset({A}))
    state, commands = step(state, ToolEnded(A, cancelled=True))
    assert commands == (SaveBuffer(), Settled(Rest.CANCELLED))
    assert state == TurnState()


def test_a_job_finished_in_an_idle_buffer_is_delivered_and_continues_after_the_delay() -> None:
    play(
        JobCompleted(),
        DeliverJobs(in_loop=False),
        JobsDelivered(1, False, ON),
        SaveBuffer(),
        StartResumeTimer(2.0),
        ResumeDue(),
        StopResumeTimer(resumed=True),
        MakePlan(user_initiated=False),
        planned(Ending.SEND),
        OpenRequest(user_initiated=False),
    )


def test_typing_and_sending_drop_the_delay() -> None:
    state = TurnState(resuming=True)
    after, commands = step(state, InsertEntered())
    assert commands == (StopResumeTimer(resumed=False), Settled(Rest.CANCELLED))
    assert step(after, ResumeDue()) == (after, ())
    _, commands = step(state, SendPressed())
    assert commands == (StopResumeTimer(resumed=False), MakePlan(user_initiated=True))
    after, commands = step(state, SendDirectly())
    assert commands == (StopResumeTimer(resumed=False), OpenRequest(user_initiated=True))
    assert not after.resuming


def test_a_job_finished_during_a_loop_waits_for_its_end_and_continues_without_delay() -> None:
    busy = TurnState(phase=Phase.REQUESTING, loop=Loop.ARMED, turns=1)
    waiting, commands = step(busy, JobCompleted())
    assert commands == ()
    state, commands = step(waiting, completed(has_tool_uses=False))
    assert commands == (DeliverJobs(in_loop=True),)
    state, commands = step(state, JobsDelivered(2, True, ON))
    assert commands == (MakePlan(user_initiated=False),)
    assert state.turns == 2


def test_delivered_results_wait_for_the_user_without_autopilot() -> None:
    play(
        JobCompleted(),
        DeliverJobs(in_loop=False),
        JobsDelivered(1, False, OFF),
        SaveBuffer(),
        Settled(Rest.STEPPED),
    )


def test_a_plan_that_failed_leaves_an_idle_turn() -> None:
    state = play(SendPressed(), MakePlan(user_initiated=True), PlanFailed(), Settled(Rest.FAILED))
    assert state == TurnState(user_initiated=True)

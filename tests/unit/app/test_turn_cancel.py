"""Cancelling at the very moment something ends by itself (case S-07)."""

from flemma.app.actions import Ending
from flemma.app.turn import (
    DROPPED,
    CancelAllPressed,
    CancelAllTools,
    CancelPlan,
    CancelPressed,
    CancelRequest,
    CancelTool,
    MakePlan,
    OpenRequest,
    PlanFailed,
    Rest,
    SaveBuffer,
    SendDirectly,
    SendPressed,
    Settled,
    Tell,
    ToolEnded,
    TurnState,
)
from tests.unit.app.test_turn import A, B, completed, planned, play


def test_a_cancel_that_comes_when_the_plan_is_already_done_still_ends_the_turn() -> None:  # S-07
    state = play(
        SendPressed(),
        MakePlan(user_initiated=True),
        CancelPressed(None),
        CancelPlan(),
        Tell(DROPPED, "info"),
        CancelPressed(None),
        planned(Ending.WAIT, A),
        CancelTool(A),
        ToolEnded(A, cancelled=True),
        SaveBuffer(),
        Settled(Rest.CANCELLED),
    )
    assert state == TurnState(user_initiated=True)


def test_a_cancel_that_comes_when_the_response_is_already_complete_ends_the_loop() -> None:  # S-07
    play(
        SendDirectly(),
        OpenRequest(user_initiated=True),
        CancelAllPressed(),
        CancelAllTools(),
        CancelRequest(),
        CancelAllPressed(),
        CancelAllTools(),
        completed(has_tool_uses=True),
        Settled(Rest.CANCELLED),
        SendPressed(),
        MakePlan(user_initiated=True),
    )


def test_a_tool_cancelled_while_a_plan_is_made_stops_that_plan() -> None:
    play(
        SendPressed(),
        MakePlan(user_initiated=True),
        planned(Ending.WAIT, A, B),
        ToolEnded(A),
        MakePlan(user_initiated=False),
        ToolEnded(B, cancelled=True),
        CancelPlan(),
        PlanFailed(),
        Settled(Rest.CANCELLED),
    )

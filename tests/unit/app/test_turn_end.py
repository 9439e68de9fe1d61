"""Whatever happens in whatever order: who waits for the turn is told when it is over."""

from hypothesis import given, settings
from hypothesis import strategies as st

from flemma.app.actions import Ending
from flemma.app.turn import (
    CancelAllPressed,
    CancelPressed,
    DeliverJobs,
    Event,
    InsertEntered,
    JobCompleted,
    JobsDelivered,
    Outcome,
    Phase,
    PlanFailed,
    RequestEnded,
    ResumeDue,
    SendDirectly,
    SendPressed,
    Settled,
    ToolEnded,
    ToolStarted,
    TurnState,
    step,
)
from tests.unit.app.test_turn import ON, A, B, C, completed, planned


class Work:
    """What is under way, as far as it can end: each end is an event that can come next."""

    def __init__(self) -> None:
        self.state = TurnState()
        self.delivering = False
        self.announced = True
        """Whether whoever waits was told since there was something under way."""

    @property
    def under_way(self) -> bool:
        state = self.state
        busy = state.phase is not Phase.IDLE or state.resuming or bool(state.running)
        return busy or self.delivering

    def ends(self) -> list[Event]:
        """Return everything that can end now. A cancelled thing may have been done before."""
        state = self.state
        ends: list[Event] = [ToolEnded(key, cancelled) for key in state.running for cancelled in
                             (True, False)]  # fmt: skip
        if state.phase is Phase.PLANNING:
            ends += [planned(ending) for ending in (Ending.SEND, Ending.PAUSE, Ending.STOP)]
            ends += [PlanFailed(), planned(Ending.WAIT, *({A, B, C} - state.running))]
        if state.phase is Phase.REQUESTING:
            ends += [completed(has_tool_uses=True), completed(has_tool_uses=False)]
            ends += [RequestEnded(Outcome.ERRORED, False, ON)]
            ends += [RequestEnded(Outcome.CANCELLED, False, ON)]
        if state.resuming:
            ends.append(ResumeDue())
        if self.delivering:
            ends += [JobsDelivered(0, False, ON), JobsDelivered(1, False, ON)]
        return ends

    def feed(self, event: Event) -> None:
        if isinstance(event, JobsDelivered):
            self.delivering = False
        self.state, commands = step(self.state, event)
        self.delivering |= any(isinstance(command, DeliverJobs) for command in commands)
        self.announced &= not self.under_way
        if any(isinstance(command, Settled) for command in commands):
            assert self.state.phase is Phase.IDLE
            assert not self.state.running
            self.announced = True


@settings(max_examples=500)
@given(st.data())
def test_the_end_of_all_work_is_always_announced(data: st.DataObject) -> None:
    work = Work()
    keys: list[Event] = [SendPressed(), SendDirectly(), CancelAllPressed(), JobCompleted()]
    keys += [InsertEntered(), *(CancelPressed(key) for key in (A, None))]
    for _ in range(data.draw(st.integers(1, 15))):
        by_hand = [ToolStarted(A)] if work.state.phase is Phase.IDLE else []
        work.feed(data.draw(st.sampled_from([*keys, *by_hand, *work.ends()])))
    for _ in range(100):
        if not work.under_way:
            break
        # Left alone everything comes to an end; most answers have no more calls.
        work.feed(data.draw(st.sampled_from(work.ends())))
    else:
        work.feed(CancelAllPressed())
        while work.under_way:
            work.feed(work.ends()[0])
    assert work.announced

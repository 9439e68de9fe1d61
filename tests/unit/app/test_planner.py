"""The rules of the three-phase cycle, as tables of chats and plans."""

import pytest

from flemma.app.actions import (
    AcceptContent,
    Ending,
    InsertPlaceholder,
    Plan,
    ResolveWithError,
    RunTool,
    Warn,
)
from flemma.app.calls import calls_of
from flemma.app.planner import Facts, plan, undecided
from flemma.approval.decision import Verdict
from flemma.chat.nodes import Status
from flemma.chat.pairing import CallKey
from flemma.chat.parser import parse

APPROVE, ASK, DENY = Verdict.APPROVE, Verdict.REQUIRE_APPROVAL, Verdict.DENY
DENIED = "The tool was denied by a policy."
REJECTED = "This tool has been rejected by the user."
INTERRUPTED = "Response interrupted by the user."
AGAIN = '{"label": "again", "path": "x"}'
OTHER = '{"path": "y"}'


def use(identifier: str, name: str = "bash", body: str = "{}") -> str:
    return f"**Tool Use:** `{name}` (`{identifier}`)\n```json\n{body}\n```\n"


def result(identifier: str, status: str | None = None, content: str = "") -> str:
    suffix = f" ({status})" if status else ""
    inner = f"{content}\n" if content else ""
    return f"**Tool Result:** `{identifier}`{suffix}\n```\n{inner}```\n"


def chat(uses: list[str], results: list[str], marker: str = "") -> str:
    text = "@You:\ngo\n\n@Assistant:\n" + "\n".join(uses) + marker
    return text + ("\n@You:\n" + "\n".join(results) if results else "")


def planned(text: str, limit: int = 2, running: str = "", **verdicts: Verdict) -> Plan:
    decisions = {CallKey(name): verdict for name, verdict in verdicts.items()}
    facts = Facts(decisions, frozenset(map(CallKey, running.split())), limit)
    return plan(calls_of(parse(text)), facts)


def test_phase_one_writes_a_status_for_every_call_without_a_block() -> None:  # acceptance 38
    text = chat([use("a"), use("b"), use("c"), use("d")], [result("b", "pending")])
    assert planned(text, a=APPROVE, c=ASK, d=DENY) == Plan(
        (
            InsertPlaceholder(CallKey("a"), Status.APPROVED),
            InsertPlaceholder(CallKey("c"), Status.PENDING),
            InsertPlaceholder(CallKey("d"), Status.DENIED),
        ),
        Ending.AGAIN,
        CallKey("c"),
    )


def test_a_call_nobody_decided_about_is_pending() -> None:
    (action,) = planned(chat([use("a")], [])).actions
    assert action == InsertPlaceholder(CallKey("a"), Status.PENDING)


def test_calls_of_an_interrupted_response_are_aborted_without_asking() -> None:  # acceptance 20
    text = chat([use("a")], [], "\n<!-- flemma:aborted: stopped here -->\n")
    assert undecided(calls_of(parse(text))) == ()
    assert planned(text, a=APPROVE).actions == (InsertPlaceholder(CallKey("a"), Status.ABORTED),)


@pytest.mark.parametrize(
    ("block", "expected", "ending"),
    [
        (result("a", "approved"), RunTool(CallKey("a")), Ending.WAIT),
        (result("a", "pending", "by hand"), AcceptContent(CallKey("a")), Ending.SEND),
        (
            result("a", "denied", "typed"),
            ResolveWithError(CallKey("a"), DENIED),
            Ending.RESOLVED,
        ),
        (result("a", "rejected"), ResolveWithError(CallKey("a"), REJECTED), Ending.RESOLVED),
        (
            result("a", "rejected", "too risky"),
            ResolveWithError(CallKey("a"), "too risky"),
            Ending.RESOLVED,
        ),
        (result("a", "aborted"), ResolveWithError(CallKey("a"), INTERRUPTED), Ending.RESOLVED),
    ],
)
def test_phase_two_treats_each_placeholder_by_its_status(
    block: str, expected: object, ending: Ending
) -> None:  # acceptance 40, 44
    assert planned(chat([use("a")], [block])) == Plan((expected,), ending)  # type: ignore[arg-type]


def test_a_pending_call_blocks_and_takes_the_cursor() -> None:
    text = chat([use("a"), use("b")], [result("a"), result("b", "pending")])
    assert planned(text) == Plan((), Ending.PAUSE, CallKey("b"))


def test_approved_calls_run_while_others_are_pending() -> None:  # acceptance 47
    text = chat([use("a"), use("b")], [result("a", "pending"), result("b", "approved")])
    assert planned(text) == Plan((RunTool(CallKey("b")),), Ending.WAIT, CallKey("a"))


def test_edited_content_of_an_approved_block_is_protected() -> None:  # acceptance 41
    made = planned(chat([use("a")], [result("a", "approved", "mine")]))
    assert made.ending is Ending.STOP
    (warning,) = made.actions
    assert isinstance(warning, Warn)
    assert warning.message.startswith("1 tool result(s) have edited content inside an approved")


def test_no_more_calls_start_than_the_limit_allows() -> None:  # acceptance 46
    names = ["a", "b", "c", "d", "e"]
    text = chat([use(n) for n in names], [result(n, "approved") for n in names])
    made = planned(text)
    assert made.actions == (
        RunTool(CallKey("a")),
        RunTool(CallKey("b")),
        Warn("3 tool(s) queued — max_concurrent limit reached (2/2 running)", info=True),
    )
    assert [type(action) for action in planned(text, limit=0).actions] == [RunTool] * 5
    assert planned(text, running="a b").actions == (
        Warn("3 tool(s) queued — max_concurrent limit reached (2/2 running)", info=True),
    )


def test_everything_resolved_is_sent() -> None:
    text = chat([use("a"), use("b")], [result("a"), result("b", "error", "no")])
    assert planned(text) == Plan((), Ending.SEND)
    assert planned("@You:\nhi\n") == Plan((), Ending.SEND)


def test_a_running_call_is_left_alone() -> None:
    text = chat([use("a"), use("b")], [result("a"), result("b", "approved")])
    assert planned(text, running="a").actions == (RunTool(CallKey("b")),)


def test_an_unknown_word_in_the_suffix_is_no_status() -> None:
    assert planned(chat([use("a")], [result("a", "whatever", "x")])).ending is Ending.SEND


def test_every_call_of_a_batch_gets_its_result_in_call_order() -> None:  # B-02
    text = chat(
        [use("a"), use("b"), use("c")],
        [result("a", "rejected", "no"), result("b", "denied"), result("c", "approved")],
    )
    assert planned(text).actions == (
        ResolveWithError(CallKey("a"), "no"),
        ResolveWithError(CallKey("b"), DENIED),
        RunTool(CallKey("c")),
    )


def failed(identifier: str, label: str) -> str:
    body = f'{{"label": "{label}", "path": "x"}}'
    return (
        f"@Assistant:\n{use(identifier, 'read', body)}\n"
        f"@You:\n{result(identifier, 'error', 'File not found: x')}\n"
    )


def test_the_third_identical_failing_call_has_to_be_approved() -> None:  # E-34
    third = f"@Assistant:\n{use('c', 'read', AGAIN)}"
    made = planned("@You:\ngo\n" + failed("a", "one") + failed("b", "two") + third, c=APPROVE)
    assert made.actions[0] == InsertPlaceholder(CallKey("c"), Status.PENDING)
    assert made.focus == CallKey("c")
    other = f"@Assistant:\n{use('c', 'read', OTHER)}"
    made = planned("@You:\ngo\n" + failed("a", "one") + failed("b", "two") + other, c=APPROVE)
    assert made.actions == (InsertPlaceholder(CallKey("c"), Status.APPROVED),)


def test_calls_that_share_an_id_are_told_apart() -> None:  # B-07
    text = (
        f"@You:\ngo\n\n@Assistant:\n{use('x')}\n@You:\n{result('x', None, 'done')}\n"
        f"@Assistant:\n{use('x')}"
    )
    assert planned(text).actions == (InsertPlaceholder(CallKey("x", 1), Status.PENDING),)

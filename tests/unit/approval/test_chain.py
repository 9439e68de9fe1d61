"""The chain of resolvers (spec: tools, "Approval resolvers"; behaviour 3.1; cases A-07, A-15)."""

import asyncio

import pytest

from flemma.approval.chain import ResolverChain
from flemma.approval.decision import Decision, Outcome, Verdict, explain
from flemma.approval.resolvers import SANDBOX, Resolver
from flemma.errors import ConfigError
from tests.unit.approval.support import context, decide


def chain(*resolvers: Resolver) -> ResolverChain:
    made = ResolverChain()
    for resolver in resolvers:
        made.register(resolver)
    return made


def answering(name: str, answer: object, priority: int = 50) -> Resolver:
    return Resolver(name, lambda *_: answer, priority)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_first_opinion_wins(verdict: Verdict) -> None:
    made = chain(answering("late", "approve", 10), answering("early", verdict.value, 200))
    decision = decide("read", chain=made)
    assert (decision.verdict, decision.resolver, decision.priority) == (verdict, "early", 200)
    assert [step.resolver for step in decision.trace] == ["early"]


def test_a_plugin_comes_after_the_configuration_and_before_the_sandbox() -> None:
    made = chain(answering("my_plugin.security_policy", "deny"))
    assert decide("read", chain=made).verdict is Verdict.APPROVE
    denied = decide("bash", chain=made, sandbox_problem=None)
    assert (denied.verdict, denied.resolver) == (Verdict.DENY, "my_plugin.security_policy")


def test_equal_priorities_go_by_name() -> None:
    made = chain(answering("b", None), answering("a", None), answering("c", None, 60))
    assert [each.name for each in made.get_all()] == [
        "urn:flemma:approval:config",
        "c",
        "a",
        "b",
        "urn:flemma:approval:sandbox",
    ]


def test_nobody_with_an_opinion_means_that_the_user_is_asked() -> None:
    decision = decide("deploy", chain=chain(answering("quiet", None)))
    assert decision.verdict is Verdict.REQUIRE_APPROVAL
    assert (decision.resolver, decision.priority) == ("default", None)


@pytest.mark.parametrize("answer", ["yes", True, False, 1, {}, "APPROVE"])
def test_an_invalid_answer_is_noted_and_passed_over(answer: object) -> None:
    decision = decide("deploy", chain=chain(answering("odd", answer)))
    assert decision.verdict is Verdict.REQUIRE_APPROVAL
    (problem,) = decision.problems
    assert problem.outcome is Outcome.INVALID
    assert repr(answer) in problem.reason


def test_a_resolver_that_raises_is_noted_and_passed_over() -> None:
    def resolve(*_: object) -> str:
        raise KeyError("command")

    made = chain(Resolver("broken", resolve, 200), answering("next", "deny", 150))
    decision = decide("read", chain=made)
    assert decision.resolver == "next"
    assert [(step.resolver, step.reason) for step in decision.problems] == [
        ("broken", "KeyError: 'command'")
    ]


def test_registering_a_name_again_replaces_it() -> None:
    made = chain(answering("mine", "deny"), answering("mine", "approve"))
    assert decide("deploy", chain=made).verdict is Verdict.APPROVE
    assert made.count() == 3


@pytest.mark.parametrize("name", ["", "urn:flemma:approval:config", "urn:flemma:mine"])
def test_empty_and_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        chain(answering(name, None))


def test_introspection() -> None:
    made = chain(answering("mine", None))
    assert made.has("mine")
    assert made.get("mine") is not None
    assert made.get("urn:flemma:approval:config") is not None
    assert made.get("urn:flemma:approval:catch-all") is None
    assert made.count() == 3
    assert made.unregister("mine")
    assert not made.unregister("mine")
    made.require_approval = False
    assert made.get("urn:flemma:approval:catch-all") is not None
    made.register(answering("x", None))
    made.clear()
    assert [each.priority for each in made.get_all()] == [100, 25, 0]


async def drive(
    made: ResolverChain, tool: str, options: dict[str, object] | None = None
) -> Decision:
    """What the application does with the generator."""
    deciding = made.decide(tool, {}, context(tool, options=options))
    try:
        pending = next(deciding)
        while True:
            try:
                value = await pending
            except ValueError as error:
                pending = deciding.throw(error)
            else:
                pending = deciding.send(value)
    except StopIteration as stop:
        return stop.value


async def test_a_resolver_may_answer_later() -> None:
    async def resolve(*_: object) -> str:
        await asyncio.sleep(0)
        return "deny"

    decision = await drive(chain(Resolver("slow", resolve)), "deploy")
    assert (decision.verdict, decision.resolver) == (Verdict.DENY, "slow")


async def test_a_resolver_may_fail_later() -> None:
    async def resolve(*_: object) -> str:
        raise ValueError("gone")

    decision = await drive(chain(Resolver("slow", resolve)), "deploy")
    assert decision.verdict is Verdict.REQUIRE_APPROVAL
    assert decision.problems[0].reason == "ValueError: gone"


async def test_a_policy_function_may_answer_later() -> None:
    async def policy(*_: object) -> object:
        await asyncio.sleep(0)
        return "deny"

    decision = await drive(ResolverChain(), "read", {"tools": {"auto_approve": policy}})
    assert decision.verdict is Verdict.DENY


def never(*_: object) -> str:
    raise AssertionError("code of the user was asked without a call")


def test_the_outlook_of_a_tool_asks_no_code_of_the_user() -> None:
    made = chain(Resolver("first", never, 200), Resolver("second", never))
    outlook = made.outlook("bash", context("bash", options={"tools": {"auto_approve": never}}))
    assert outlook.asked == ("first", "set a function in SETUP", "second")
    assert outlook.decision.verdict is Verdict.REQUIRE_APPROVAL
    assert [step.resolver for step in outlook.decision.trace] == [SANDBOX]


def test_the_outlook_of_a_tool_stops_at_the_first_certain_opinion() -> None:
    made = chain(Resolver("first", never, 200), Resolver("late", never))
    outlook = made.outlook("read", context("read"))
    assert outlook.asked == ("first",)
    assert outlook.decision.rule == "set 'read' (through $standard) in DEFAULTS"


def test_a_decision_explains_itself_step_by_step() -> None:
    decision = decide(
        "bash",
        'flemma.opt.tools.auto_approve:remove("bash")',
        chain=chain(answering("odd", "maybe", 150)),
        sandbox_problem=None,
    )
    assert explain("bash", decision) == [
        "bash: your approval is needed",
        "  because no resolver had an opinion",
        "Resolvers asked, highest priority first; the first opinion wins:",
        "   150  odd: invalid - 'maybe' is none of approve, require_approval, deny, nil",
        "   100  urn:flemma:approval:config: passed - taken out of tools.auto_approve by remove "
        "'bash' in FRONTMATTER, frontmatter line 1",
        "    25  urn:flemma:approval:sandbox: passed - the frontmatter asks for approval: remove "
        "'bash' in FRONTMATTER, frontmatter line 1",
        "  No resolver had an opinion, so you are asked.",
    ]


def test_the_rule_that_decides_is_part_of_the_explanation() -> None:
    lines = explain("ls", decide("ls", options={"tools": {"auto_approve": ["l*"]}}))
    assert lines[:3] == [
        "ls: approved without asking",
        "  because tools.auto_approve lists it",
        "  rule: set 'l*' in SETUP",
    ]


def test_a_denial_is_never_a_rejection_of_the_user() -> None:
    # Case A-15: a policy denies, a user rejects; a failing policy does neither.
    def broken(*_: object) -> object:
        raise TimeoutError("hook timed out")

    decision = decide("read", options={"tools": {"auto_approve": broken}})
    assert decision.verdict is Verdict.REQUIRE_APPROVAL
    assert decision.reason == "the auto_approve function failed: hook timed out"
    assert "rejected" not in {verdict.value for verdict in Verdict}

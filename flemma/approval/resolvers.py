"""What a resolver is, and the three that are built in (spec: behaviour 3.1 to 3.4)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from flemma.approval.decision import Verdict
from flemma.config.auto_approve import ApprovalPolicy, Asked, Listed, Removed
from flemma.config.schema import Config

CONFIG = "urn:flemma:approval:config"
SANDBOX = "urn:flemma:approval:sandbox"
CATCH_ALL = "urn:flemma:approval:catch-all"
RESERVED = "urn:flemma:"
"""Names beginning so belong to the built-in resolvers."""

DEFAULT_PRIORITY = 50

AUTO_APPROVES_IF_SANDBOXED = "auto_approves_if_sandboxed"
"""Capability of a tool whose calls the sandbox makes harmless."""


@dataclass(frozen=True, slots=True)
class ApprovalContext:
    """What a resolver may know about the call besides its tool and input.

    Resolvers of users rely on ``bufnr`` and ``tool_id`` only; the rest is for the built-in ones.
    """

    bufnr: int
    tool_id: str
    config: Config
    policy: ApprovalPolicy
    capabilities: frozenset[str] = frozenset()
    sandbox_problem: str | None = "no backend was looked for"
    """Why calls are not confined: it is switched off (the session's word goes before the options),
    or no backend can be had. None when they are."""

    def public(self) -> dict[str, Any]:
        """Return the part that functions in Lua are given."""
        return {"bufnr": self.bufnr, "tool_id": self.tool_id}


ToolInput: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Opinion:
    """An answer of a built-in resolver that says why. ``verdict`` None passes."""

    verdict: Verdict | None
    reason: str
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A function has to be asked first; ``read`` turns its answer into an opinion.

    ``failed`` is the opinion when it raises.
    """

    place: str
    """The rule that names the function, for who cannot ask it."""
    ask: Callable[[], Any]
    read: Callable[[object], Opinion]
    failed: Callable[[Exception], Opinion]


Answer: TypeAlias = "str | Opinion | Question | Awaitable[str | None] | None"
Resolve: TypeAlias = Callable[[str, ToolInput, ApprovalContext], Answer]
"""Returns `approve`, `require_approval`, `deny`, or None to pass; an awaitable of it is awaited by
the driver of the chain. What it raises is logged and passes."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """One link of the chain."""

    name: str
    resolve: Resolve
    priority: int = DEFAULT_PRIORITY
    description: str = ""


def config_resolver() -> Resolver:
    """Return the resolver that reads `tools.auto_approve`."""
    return Resolver(CONFIG, _resolve_config, 100, "tools.auto_approve of all layers")


def sandbox_resolver() -> Resolver:
    """Return the resolver that approves what the sandbox confines."""
    return Resolver(SANDBOX, _resolve_sandbox, 25, "Tools that the sandbox makes harmless")


def catch_all_resolver() -> Resolver:
    """Return the resolver of `tools.require_approval = false`."""
    return Resolver(CATCH_ALL, _resolve_rest, 0, "tools.require_approval = false")


def _resolve_config(tool_name: str, tool_input: ToolInput, context: ApprovalContext) -> Answer:
    match context.policy.judge(tool_name):
        case Listed(rule):
            return Opinion(Verdict.APPROVE, "tools.auto_approve lists it", str(rule))
        case Removed(rule):
            return Opinion(None, f"taken out of tools.auto_approve by {rule}")
        case Asked(function, rule):
            place = str(rule)
            return Question(
                place,
                lambda: function(tool_name, dict(tool_input), context.public()),
                lambda answer: _read_function(answer, place),
                lambda error: Opinion(
                    Verdict.REQUIRE_APPROVAL, f"the auto_approve function failed: {error}", place
                ),
            )
        case None:
            return Opinion(None, "not in tools.auto_approve")


def _read_function(answer: object, place: str) -> Opinion:
    if answer is True:
        return Opinion(Verdict.APPROVE, "the auto_approve function returned true", place)
    if answer is False:
        return Opinion(Verdict.REQUIRE_APPROVAL, "the auto_approve function returned false", place)
    if answer == "deny":
        return Opinion(Verdict.DENY, 'the auto_approve function returned "deny"', place)
    return Opinion(None, "the auto_approve function had no opinion")


def _resolve_sandbox(tool_name: str, _input: ToolInput, context: ApprovalContext) -> Answer:
    obstacle = _sandbox_obstacle(tool_name, context)
    if obstacle is not None:
        return Opinion(None, obstacle)
    return Opinion(Verdict.APPROVE, "it runs inside the sandbox", "tools.auto_approve_sandboxed")


def _sandbox_obstacle(tool_name: str, context: ApprovalContext) -> str | None:
    """Return the first condition that does not hold (spec: behaviour 3.4), None if all do."""
    config, policy = context.config, context.policy
    if not config.tools.auto_approve_sandboxed:
        return "tools.auto_approve_sandboxed is false"
    if AUTO_APPROVES_IF_SANDBOXED not in context.capabilities:
        return f"{tool_name} does not declare {AUTO_APPROVES_IF_SANDBOXED}"
    removal = policy.removed_in_frontmatter(tool_name)
    if removal is not None:
        return f"the frontmatter asks for approval: {removal}"
    if policy.frontmatter_decides:
        return "the frontmatter sets tools.auto_approve itself"
    if context.sandbox_problem is not None:
        return f"no sandbox: {context.sandbox_problem}"
    return None


def _resolve_rest(_name: str, _input: ToolInput, context: ApprovalContext) -> Answer:
    if context.config.tools.require_approval:
        return Opinion(None, "tools.require_approval is true")
    return Opinion(Verdict.APPROVE, "tools.require_approval is false", "tools.require_approval")

"""Deciding in tests: a chain, a frontmatter and a setup in, a decision out."""

from collections.abc import Mapping

from flemma.approval.chain import Deciding, ResolverChain
from flemma.approval.decision import Decision
from flemma.approval.resolvers import AUTO_APPROVES_IF_SANDBOXED, ApprovalContext
from flemma.config.auto_approve import approval_policy
from flemma.config.frontmatter.result import apply_frontmatter
from flemma.config.resolve import resolve
from tests.unit.config.support import evaluate, messages, setup

CAPABILITIES = {"bash": frozenset({AUTO_APPROVES_IF_SANDBOXED})}


def context(
    tool: str,
    frontmatter: str = "",
    options: Mapping[str, object] | None = None,
    sandbox_problem: str | None = "bwrap is not installed",
) -> ApprovalContext:
    layers = setup(options or {})
    result = evaluate(frontmatter, layers=layers)
    assert messages(result) == []
    resolved = resolve(apply_frontmatter(layers, result))
    return ApprovalContext(
        bufnr=3,
        tool_id="toolu_1",
        config=resolved.config,
        policy=approval_policy(resolved),
        capabilities=CAPABILITIES.get(tool, frozenset()),
        sandbox_problem=sandbox_problem,
    )


def decide(
    tool: str,
    frontmatter: str = "",
    options: Mapping[str, object] | None = None,
    *,
    chain: ResolverChain | None = None,
    sandbox_problem: str | None = "bwrap is not installed",
    tool_input: Mapping[str, object] | None = None,
) -> Decision:
    asked = context(tool, frontmatter, options, sandbox_problem)
    return at_once((chain or ResolverChain()).decide(tool, tool_input or {}, asked))


def at_once(deciding: Deciding) -> Decision:
    """The decision of a chain in which nobody has to be waited for."""
    try:
        waiting = next(deciding)
    except StopIteration as stop:
        return stop.value
    raise AssertionError(f"the chain waits for {waiting}")

"""A decision about one tool call, with the way it came about (cases A-07, A-15)."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What is to happen with a call."""

    APPROVE = "approve"
    REQUIRE_APPROVAL = "require_approval"
    DENY = "deny"


DEFAULT_RESOLVER = "default"
"""Named as the source when no resolver had an opinion (spec: behaviour 3.1)."""


class Outcome(StrEnum):
    """What one resolver did."""

    DECIDED = "decided"
    PASSED = "passed"
    FAILED = "failed"
    """It raised; the error is for the log, the next resolver was asked."""
    INVALID = "invalid"
    """It returned something that is no verdict; treated like a failure."""


@dataclass(frozen=True, slots=True)
class Step:
    """One resolver that was asked."""

    resolver: str
    priority: int
    outcome: Outcome
    reason: str
    """Why it decided or passed; the error if it failed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict about one call. Never lost, and never the same as a refusal of the user.

    A denial is ``deny`` here and `(denied)` in the buffer; a rejection by the user is no decision
    of the chain at all (`(rejected)`), nor is a tool that failed or was aborted.
    """

    verdict: Verdict
    resolver: str
    priority: int | None
    reason: str
    rule: str | None
    """The entry of the configuration that decided, where there is one."""
    trace: tuple[Step, ...]

    @property
    def problems(self) -> tuple[Step, ...]:
        """Resolvers that failed or answered nonsense, for the log."""
        return tuple(
            step for step in self.trace if step.outcome in (Outcome.FAILED, Outcome.INVALID)
        )


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known about the calls of a tool before there is one.

    Code of the user judges a call by its input, so it is not asked without one.
    """

    asked: tuple[str, ...]
    """Functions and resolvers of the user that have their say before ``decision``."""
    decision: Decision
    """What holds if they all pass."""


_WORDS = {
    Verdict.APPROVE: "approved without asking",
    Verdict.REQUIRE_APPROVAL: "your approval is needed",
    Verdict.DENY: "denied",
}


def explain(tool_name: str, decision: Decision) -> list[str]:
    """Return the decision step by step, for `:Flemma why`."""
    lines = [f"{tool_name}: {_WORDS[decision.verdict]}", f"  because {decision.reason}"]
    if decision.rule is not None:
        lines.append(f"  rule: {decision.rule}")
    lines.append("Resolvers asked, highest priority first; the first opinion wins:")
    lines += [
        f"  {step.priority:>4}  {step.resolver}: {step.outcome} - {step.reason}"
        for step in decision.trace
    ]
    if decision.resolver == DEFAULT_RESOLVER:
        lines.append("  No resolver had an opinion, so you are asked.")
    return lines

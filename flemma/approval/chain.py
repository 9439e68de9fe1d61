"""The chain of resolvers: who is asked, in which order, and what the answers come to.

Asking may have to wait (a resolver in Lua answers over RPC), and nothing in this row may be async.
:meth:`ResolverChain.decide` is therefore a generator: it runs through all resolvers that answer at
once and yields only awaitables; whoever drives it awaits them and sends the value, or throws the
exception, back in.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TypeAlias

from flemma.approval.decision import (
    DEFAULT_RESOLVER,
    Decision,
    Outcome,
    Outlook,
    Step,
    Verdict,
)
from flemma.approval.resolvers import (
    RESERVED,
    ApprovalContext,
    Opinion,
    Question,
    Resolver,
    ToolInput,
    catch_all_resolver,
    config_resolver,
    sandbox_resolver,
)
from flemma.approval.shell.resolver import shell_resolver, shell_rules
from flemma.config.schema import Config
from flemma.errors import ConfigError

Deciding: TypeAlias = Generator[Awaitable[object], object, Decision]
"""Yields what has to be awaited, takes its value, returns the decision."""


@dataclass(slots=True)
class ResolverChain:
    """All registered resolvers, the built-in ones among them."""

    require_approval: bool = True
    """`tools.require_approval` of the setup: when false, the catch-all is listed as well. What
    holds for a call is what its own buffer says."""
    _resolvers: dict[str, Resolver] = field(default_factory=dict[str, Resolver])

    def __post_init__(self) -> None:
        self.clear()

    def register(self, resolver: Resolver) -> None:
        """Add a resolver, in place of one of the same name. Raises :class:`ConfigError` for an
        empty name, or one that is reserved for the built-in resolvers."""
        if not resolver.name:
            raise ConfigError("An approval resolver needs a name", path="approval")
        if resolver.name.startswith(RESERVED):
            raise ConfigError(
                f"'{resolver.name}' is reserved: names of resolvers may not start with {RESERVED}",
                path="approval",
            )
        self._resolvers[resolver.name] = resolver

    def unregister(self, name: str) -> bool:
        """Remove a resolver; tell whether it was there."""
        return self._resolvers.pop(name, None) is not None

    def get(self, name: str) -> Resolver | None:
        """Return the resolver called ``name``."""
        return next((each for each in self.get_all() if each.name == name), None)

    def has(self, name: str) -> bool:
        """Tell whether there is a resolver called ``name``."""
        return self.get(name) is not None

    def get_all(self) -> list[Resolver]:
        """Return all resolvers: highest priority first, then by name."""
        extra = () if self.require_approval else (catch_all_resolver(),)
        return _ordered((*self._resolvers.values(), *extra))

    def count(self) -> int:
        """Return how many there are."""
        return len(self.get_all())

    def clear(self) -> None:
        """Forget all but the built-in resolvers."""
        builtin = (config_resolver(), sandbox_resolver())
        self._resolvers = {resolver.name: resolver for resolver in builtin}

    def decide(self, tool_name: str, tool_input: ToolInput, context: ApprovalContext) -> Deciding:
        """Decide about one call. The first opinion wins; without one, the user is asked."""
        trace: list[Step] = []
        for resolver in self._in_force(context.config):
            opinion, outcome = yield from _ask(resolver, tool_name, tool_input, context)
            trace.append(Step(resolver.name, resolver.priority, outcome, opinion.reason))
            if opinion.verdict is not None:
                return _decided(resolver, opinion.verdict, opinion, trace)
        return _undecided(trace)

    def _in_force(self, config: Config) -> list[Resolver]:
        """Return the resolvers for a call of a buffer: some are there only if an option is set."""
        extra: list[Resolver] = []
        if not config.tools.require_approval:
            extra.append(catch_all_resolver())
        if shell_rules(config):
            extra.append(shell_resolver())
        return _ordered((*self._resolvers.values(), *extra))

    def outlook(self, tool_name: str, context: ApprovalContext) -> Outlook:
        """Return what is known about calls of ``tool_name`` before one is made.

        Only the built-in resolvers are asked: code of the user may rely on the input of a call.
        """
        asked: list[str] = []
        trace: list[Step] = []
        for resolver in self._in_force(context.config):
            if not resolver.name.startswith(RESERVED):
                asked.append(resolver.name)
                continue
            answer = resolver.resolve(tool_name, {}, context)
            if isinstance(answer, Question):
                asked.append(answer.place)
                continue
            opinion, outcome = _read(answer)
            trace.append(Step(resolver.name, resolver.priority, outcome, opinion.reason))
            if opinion.verdict is not None:
                return Outlook(tuple(asked), _decided(resolver, opinion.verdict, opinion, trace))
        return Outlook(tuple(asked), _undecided(trace))


def _decided(
    resolver: Resolver, verdict: Verdict, opinion: Opinion, trace: Sequence[Step]
) -> Decision:
    return Decision(
        verdict, resolver.name, resolver.priority, opinion.reason, opinion.rule, tuple(trace)
    )


def _undecided(trace: Sequence[Step]) -> Decision:
    return Decision(
        Verdict.REQUIRE_APPROVAL,
        DEFAULT_RESOLVER,
        None,
        "no resolver had an opinion",
        None,
        tuple(trace),
    )


def _ordered(resolvers: Iterable[Resolver]) -> list[Resolver]:
    return sorted(resolvers, key=lambda each: (-each.priority, each.name))


Asking: TypeAlias = Generator[Awaitable[object], object, tuple[Opinion, Outcome]]


def _ask(
    resolver: Resolver, tool_name: str, tool_input: ToolInput, context: ApprovalContext
) -> Asking:
    try:
        answer = yield from _settle(lambda: resolver.resolve(tool_name, tool_input, context))
    except Exception as error:  # noqa: BLE001 - any failure of user code passes, with a note
        return Opinion(None, f"{type(error).__name__}: {error}"), Outcome.FAILED
    if isinstance(answer, Question):
        answer = yield from _ask_function(answer)
    return _read(answer)


def _ask_function(question: Question) -> Generator[Awaitable[object], object, Opinion]:
    try:
        answer = yield from _settle(question.ask)
    except Exception as error:  # noqa: BLE001 - a failing policy must not let a call through
        return question.failed(error)
    return question.read(answer)


def _settle(call: Callable[[], object]) -> Generator[Awaitable[object], object, object]:
    value = call()
    if isawaitable(value):
        value = yield value
    return value


def _read(answer: object) -> tuple[Opinion, Outcome]:
    match answer:
        case None:
            return Opinion(None, "no opinion"), Outcome.PASSED
        case Opinion(verdict=None):
            return answer, Outcome.PASSED
        case Opinion():
            return answer, Outcome.DECIDED
        case "approve" | "require_approval" | "deny":
            return Opinion(Verdict(str(answer)), f"it answered {answer}"), Outcome.DECIDED
        case _:
            reason = f"{answer!r} is none of approve, require_approval, deny, nil"
            return Opinion(None, reason), Outcome.INVALID

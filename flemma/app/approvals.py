"""Asks the resolver chain about calls, and remembers each decision with its reasons."""

import logging
from collections.abc import Sequence
from typing import cast

from flemma.app.call_context import CallContexts
from flemma.app.calls import Call
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.approval.chain import Deciding
from flemma.approval.decision import Decision, Verdict
from flemma.approval.resolvers import ApprovalContext
from flemma.chat.pairing import CallKey
from flemma.errors import Interrupted
from flemma.ports.editor import ChatBuffer
from flemma.tools.harness import strip

log = logging.getLogger(__name__)


class Approvals:
    """The decisions about the calls of one buffer."""

    def __init__(self, services: Services, buffer: ChatBuffer, contexts: CallContexts) -> None:
        self._services = services
        self._buffer = buffer
        self._contexts = contexts
        self._decisions: dict[CallKey, Decision] = {}

    async def decide(
        self, calls: Sequence[Call], settings: BufferSettings
    ) -> dict[CallKey, Verdict]:
        """Decide about ``calls``, in order."""
        verdicts: dict[CallKey, Verdict] = {}
        for call in calls:
            decision = await self.decision(call, settings)
            self._decisions[call.key] = decision
            verdicts[call.key] = decision.verdict
        return verdicts

    def remembered(self, key: CallKey) -> Decision | None:
        """Return the decision that was made about a call, if it was made in this session."""
        return self._decisions.get(key)

    async def decision(self, call: Call, settings: BufferSettings) -> Decision:
        """Ask the chain about one call."""
        tool_input, _ = strip(call.input)
        context = await self.context(call.name, call.key.id, settings)
        deciding = self._services.resolvers.decide(call.name, tool_input, context)
        decision = await _drive(deciding)
        for problem in decision.problems:
            log.warning("approval resolver %s: %s", problem.resolver, problem.reason)
        return decision

    async def context(
        self, tool_name: str, tool_id: str, settings: BufferSettings
    ) -> ApprovalContext:
        """Return what resolvers may know about a call of ``tool_name``."""
        definition = self._services.tools.get(tool_name)
        options = self._contexts.sandbox_options(settings)
        resolution = await self._services.sandboxes.resolve(options)
        problem = None if resolution.active else resolution.reason or "it is switched off"
        return ApprovalContext(
            bufnr=self._buffer.id,
            tool_id=tool_id,
            config=settings.config,
            policy=settings.policy,
            capabilities=definition.capabilities if definition else frozenset(),
            sandbox_problem=problem,
        )


async def _drive(deciding: Deciding) -> Decision:
    """Await what the chain asks for, and give it back the answers."""
    try:
        pending = next(deciding)
        while True:
            try:
                answer = await pending
            except Interrupted:
                # A failure passes the question on; the user means that it is not to be answered.
                deciding.close()
                raise
            except Exception as error:  # noqa: BLE001 - the chain decides what a failure means
                pending = deciding.throw(error)
            else:
                pending = deciding.send(answer)
    except StopIteration as stop:
        return cast("Decision", stop.value)

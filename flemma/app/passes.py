"""Makes one pass of the cycle: settings, approval, plan, its edits, its tools."""

from collections.abc import Mapping, Sequence
from typing import Any

from flemma.app.actions import (
    AcceptContent,
    Action,
    Ending,
    InsertPlaceholder,
    Plan,
    ResolveWithError,
    RunTool,
    Warn,
)
from flemma.app.approvals import Approvals
from flemma.app.calls import calls_of
from flemma.app.lock import BufferLock
from flemma.app.planner import Facts, plan, undecided
from flemma.app.report import diagnostics_report
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.app.tool_runs import ToolRuns
from flemma.app.turn import Autopilot, Planned
from flemma.chat.document import Document
from flemma.chat.edits import ResultText, insert_placeholders, put_results, set_statuses
from flemma.chat.nodes import Edit, Severity, Status
from flemma.chat.pairing import CallKey
from flemma.errors import FlemmaError
from flemma.ports.editor import ChatBuffer, Level
from flemma.tools.sources import WAITING_MESSAGE

LOADING = "loading of tools"
"""What the lock is held for while tool sources load."""

SLOW_SOURCES = 0.6
"""Seconds before the user is told that tools are still loading."""


class SettingsRefusedError(FlemmaError):
    """The frontmatter has errors, so that nothing is sent with settings nobody wanted."""


class Passes:
    """Makes the passes of one buffer."""

    def __init__(
        self,
        services: Services,
        buffer: ChatBuffer,
        approvals: Approvals,
        runs: ToolRuns,
        lock: BufferLock,
    ) -> None:
        self._services = services
        self._buffer = buffer
        self._approvals = approvals
        self._runs = runs
        self._lock = lock

    def names(self) -> Mapping[str, Any]:
        """Return what code in the frontmatter knows."""
        place = self._services.place(self._buffer.path)
        return {
            "__filename": place.filename,
            "__dirname": place.dirname,
            "bufnr": self._buffer.id,
        }

    async def make(self, user_initiated: bool, running: frozenset[CallKey]) -> Planned:
        """Plan, write what the plan says, start its tools.

        Raises :class:`SettingsRefusedError` and :class:`flemma.errors.BufferGone`.
        """
        await self.sources_ready()
        settings = await self._services.settings.evaluate(
            self._buffer.id, self._buffer.document, self.names()
        )
        self._require_valid(settings)
        decisions = await self._approvals.decide(
            undecided(calls_of(self._buffer.document)), settings
        )
        limit = settings.config.tools.max_concurrent
        facts = Facts(decisions, running, limit, user_initiated, self._runs.background)
        made = await self._write(facts, settings)
        self._tell(made)
        # Nothing is awaited between starting the tools and reporting them as running.
        started = self._start(made, settings)
        return Planned(made, started, autopilot_of(settings))

    async def _write(self, facts: Facts, settings: BufferSettings) -> Plan:
        """Put the plan's edits into the buffer; planned anew if the buffer moved on meanwhile."""
        made = Plan((), Ending.STOP)
        compact = settings.config.editing.compact_headers

        def compute(document: Document) -> Sequence[Edit]:
            nonlocal made
            made = plan(calls_of(document), facts)
            return plan_edits(document, made.actions, compact_headers=compact)

        group = "placeholders" if facts.user_initiated else None
        await self._buffer.edit(compute, undo_group=group)
        return made

    def _start(self, made: Plan, settings: BufferSettings) -> frozenset[CallKey]:
        return frozenset(
            action.key
            for action in made.actions
            if isinstance(action, RunTool) and self._runs.start(action.key, settings)
        )

    def _tell(self, made: Plan) -> None:
        for action in made.actions:
            if isinstance(action, Warn):
                level = Level.INFO if action.info else Level.WARN
                self._services.screen.notify(action.message, level)

    def _require_valid(self, settings: BufferSettings) -> None:
        if not settings.blocks_send:
            return
        errors = [problem for problem in settings.diagnostics if problem.severity is Severity.ERROR]
        report = diagnostics_report(errors, self._buffer.document, self._buffer.path)
        raise SettingsRefusedError(report.text if report else "")

    async def sources_ready(self) -> None:
        """Wait, with the buffer locked, until all tools are known; who waits long is told."""
        sources = self._services.tool_sources
        if not sources.loading:
            return
        notice = self._services.tasks.spawn(self._slow_notice(), "notice about loading tools")
        try:
            await self._lock.acquire(LOADING)
            await sources.ready()
        finally:
            notice.cancel()
            await self._lock.release(LOADING)

    async def _slow_notice(self) -> None:
        await self._services.clock.sleep(SLOW_SOURCES)
        self._services.screen.notify(WAITING_MESSAGE, Level.INFO)


def plan_edits(
    document: Document, actions: Sequence[Action], *, compact_headers: bool
) -> tuple[Edit, ...]:
    """Return the edits of a plan's actions."""
    placeholders: list[tuple[CallKey, Status | None]] = []
    accepted: list[tuple[CallKey, Status | None]] = []
    errors: list[tuple[CallKey, ResultText]] = []
    for action in actions:
        match action:
            case InsertPlaceholder(key, status):
                placeholders.append((key, status))
            case AcceptContent(key):
                accepted.append((key, None))
            case ResolveWithError(key, message):
                errors.append((key, ResultText(message, Status.ERROR)))
            case RunTool() | Warn():
                pass
    return (
        *insert_placeholders(document, placeholders, compact_headers=compact_headers),
        *set_statuses(document, accepted),
        *put_results(document, errors, compact_headers=compact_headers),
    )


def autopilot_of(settings: BufferSettings) -> Autopilot:
    """Return the autopilot options of a buffer."""
    options = settings.config.tools.autopilot
    return Autopilot(options.enabled, options.max_turns, options.resume_delay / 1000)

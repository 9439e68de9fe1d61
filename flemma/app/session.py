"""One chat buffer: its turn, its tools, its jobs. Events in, effects out."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from flemma.app.approvals import Approvals
from flemma.app.auto_continue import AutoContinue
from flemma.app.call_context import CallContexts
from flemma.app.deliveries import deliver
from flemma.app.jobs import Delivery, Jobs
from flemma.app.lock import BufferLock
from flemma.app.passes import Passes, autopilot_of
from flemma.app.prepare import NotSentError, Preparation
from flemma.app.request import Ended, Request
from flemma.app.result_cursor import ResultCursor
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.app.tool_runs import Run, ToolRuns, Turn
from flemma.app.turn import (
    DROPPED,
    CancelAllTools,
    CancelPlan,
    CancelRequest,
    CancelTool,
    Command,
    DeliverJobs,
    Event,
    InsertEntered,
    JobsDelivered,
    Loop,
    MakePlan,
    MoveToPending,
    OpenRequest,
    Outcome,
    Phase,
    PlanFailed,
    RequestEnded,
    Rest,
    ResumeDue,
    SaveBuffer,
    Settled,
    StartResumeTimer,
    StopResumeTimer,
    Tell,
    TurnState,
    step,
)
from flemma.chat.query import has_draft
from flemma.errors import BufferGone, EditorError, FlemmaError
from flemma.ports.editor import ChatBuffer, Level

log = logging.getLogger(__name__)


class ChatSession:
    """Runs the turn engine of one buffer: the only loop that awaits on its behalf."""

    def __init__(self, buffer: ChatBuffer, services: Services) -> None:
        self.buffer = buffer
        self.jobs = Jobs()
        self.state = TurnState()
        self.on_state: Callable[[], None] = _nobody_listens
        """Called whenever :attr:`state` is another one."""
        self._services = services
        self._lock = BufferLock(buffer)
        self.contexts = CallContexts(services, buffer, self.jobs)
        """What calls of this buffer are given."""
        self.approvals = Approvals(services, buffer, self.contexts)
        turn = Turn(self.post, self.in_loop, self.auto_write, self._foreground_ended)
        self.runs = ToolRuns(services, buffer, self.contexts, self._lock, self.jobs, turn)
        self._cursor = ResultCursor(buffer, services.screen)
        self._passes = Passes(services, buffer, self.approvals, self.runs, self._lock)
        self._preparation = Preparation(services, buffer.id)
        self._inbox: asyncio.Queue[Event] = asyncio.Queue()
        self._plan: asyncio.Task[None] | None = None
        self._request: asyncio.Task[None] | None = None
        self._sending: Request | None = None
        self.auto_continue = AutoContinue(services, buffer.id, self._continue)
        self.typing = False
        """Whether the user is in insert mode."""
        self._worker = services.tasks.spawn(self._work(), f"chat {buffer.id}")
        self._settled: list[Callable[[Rest], None]] = []
        self._handling = False
        self._held = False
        self._closed = False

    @property
    def uri(self) -> str | None:
        """The address of the chat for a language server, None without a file."""
        path = self.buffer.path
        return f"file://{quote(path)}" if path else None

    @property
    def is_idle(self) -> bool:
        """Whether neither a request nor a plan nor a foreground tool is under way."""
        return self.state.phase is Phase.IDLE and not self.state.running

    @property
    def at_rest(self) -> bool:
        """Whether nothing is under way, due, or yet to be handled; jobs may still run."""
        waiting = self._handling or not self._inbox.empty() or self.state.resuming
        return self._worker.done() or (self.is_idle and not waiting)

    def hold(self) -> None:
        """From now on deliver what still comes, but go on with nothing by itself."""
        self._held = True

    def post(self, event: Event) -> None:
        """Something happened; it is handled in its turn."""
        self._inbox.put_nowait(event)

    def insert_entered(self) -> None:
        """The user begins to type."""
        self.typing = True
        self.post(InsertEntered())

    def insert_left(self) -> None:
        """The user has stopped typing."""
        self.typing = False

    def in_loop(self) -> bool:
        """Whether a loop is under way, so that a finished job continues without delay."""
        return self.state.phase is not Phase.IDLE or self.state.loop is Loop.ARMED

    def disarm(self) -> None:
        """Stop the loop: the user cancelled something."""
        self.state = replace(self.state, loop=Loop.IDLE, draining=False, turns=0)

    async def sources_ready(self) -> None:
        """Wait until all tools are known."""
        await self._passes.sources_ready()

    def when_settled(self, call: Callable[[Rest], None]) -> None:
        """Call once, as soon as nothing is under way any more, with the reason."""
        self._settled.append(call)

    async def settings(self) -> BufferSettings:
        """Return the settings, evaluating the frontmatter if it changed."""
        return await self._services.settings.refresh(
            self.buffer.id, self.buffer.document, self._passes.names()
        )

    async def sandbox_warning(self, settings: BufferSettings) -> str | None:
        """Return what to tell on entering a chat whose required sandbox is missing."""
        options = self.contexts.sandbox_options(settings)
        return await self._services.sandboxes.warning(options)

    def reloaded(self) -> None:
        """The text was read anew from the file: a response under way has lost its place."""
        if self._sending is not None:
            self._sending.abandon()
            self._cancel(self._request)

    async def close(self) -> None:
        """The buffer is gone: everything that belongs to it ends."""
        self._closed = True
        self._worker.cancel()
        self._cancel(self._plan)
        self._cancel(self._request)
        self.auto_continue.end()
        self.runs.cancel_all()
        self._services.settings.forget(self.buffer.id)

    async def _work(self) -> None:
        while True:
            event = await self._inbox.get()
            self._handling = True
            before = self.state
            self.state, commands = step(before, event)
            if self.state is not before:
                self.on_state()
            log.debug("chat %d: %s -> %s", self.buffer.id, event, commands)
            for command in commands:
                try:
                    await self._perform(command)
                except FlemmaError as error:
                    self._services.screen.notify(str(error), Level.ERROR)
            self._handling = False
            # What was spawned has to run once before it can be cancelled: a task that never ran
            # would end without a word, and its end is what the turn waits for (S-07).
            await asyncio.sleep(0)

    async def _perform(self, command: Command) -> None:  # noqa: C901 - one branch a command
        match command:
            case MakePlan(user_initiated):
                self._plan = self._spawn(self._make_plan(user_initiated), "plan")
            case OpenRequest(user_initiated):
                self._request = self._spawn(self._send(user_initiated), "request")
            case CancelRequest():
                self._cancel(self._request)
            case CancelPlan():
                self._cancel(self._plan)
            case CancelTool(key):
                self.runs.cancel(key)
            case CancelAllTools():
                if self.runs.cancel_all():
                    self._services.screen.notify("All tool executions cancelled", Level.INFO)
            case DeliverJobs():
                await self._deliver(command)
            case StartResumeTimer(seconds):
                self.auto_continue.start(seconds)
            case StopResumeTimer(resumed):
                self.auto_continue.stop(resumed=resumed)
            case MoveToPending(key):
                await self._cursor.move_to(key)
            case Tell(message, level):
                self._services.screen.notify(message, Level(level))
            case SaveBuffer():
                await self.auto_write()
            case Settled(rest):
                self._announce_settled(rest)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        return self._services.tasks.spawn(work, f"{name} of chat {self.buffer.id}")

    def _cancel(self, task: "asyncio.Task[None] | None") -> None:
        # Once is enough: a second time would break off what the first one set going.
        if task is not None and not task.cancelling():
            task.cancel()

    async def _make_plan(self, user_initiated: bool) -> None:
        event: Event = PlanFailed()
        try:
            event = await self._passes.make(user_initiated, self.state.running)
        except BufferGone:
            log.info("plan: the buffer is gone")
        except FlemmaError as error:
            self._services.screen.notify(str(error), Level.ERROR)
        finally:
            self.post(event)

    async def _send(self, user_initiated: bool) -> None:
        ended = Ended(Outcome.NOT_SENT)
        settings = self._services.settings.current(self.buffer.id)
        try:
            await self._lock.acquire("request")
            await self.sources_ready()
            settings = await self.settings()
            await self._write_job_results(settings)
            await self.auto_write()
            self._sending = Request(self._services, self.buffer, settings)
            ended = await self._sending.run(self._preparation, user_initiated=user_initiated)
        except asyncio.CancelledError:
            # It had not left yet: once it has, the request itself tells that it was cancelled.
            if not self._closed:
                self._services.screen.notify(DROPPED, Level.INFO)
        except NotSentError as error:
            self._services.screen.notify(error.message, error.level)
        except BufferGone:
            log.info("request: the buffer is gone")
        except FlemmaError as error:
            self._services.screen.notify(str(error), Level.ERROR)
        finally:
            self._sending = None
            await self._lock.release("request")
            self._services.screen.refresh(self.buffer.id)
            await self.auto_write()
            self.post(RequestEnded(ended.outcome, ended.has_tool_uses, autopilot_of(settings)))

    async def _deliver(self, command: DeliverJobs) -> None:
        delivered: tuple[Delivery, ...] = ()
        try:
            delivered = await self._write_job_results(await self.settings())
        finally:
            settings = self._services.settings.current(self.buffer.id)
            immediate = command.in_loop and any(delivery.in_loop for delivery in delivered)
            resumes = command.resumes and not self.is_being_written
            event = JobsDelivered(len(delivered), immediate, autopilot_of(settings), resumes)
            self.post(event)

    async def _write_job_results(self, settings: BufferSettings) -> tuple[Delivery, ...]:
        compact = settings.config.editing.compact_headers
        return await deliver(self.buffer, self.jobs, compact_headers=compact)

    @property
    def is_being_written(self) -> bool:
        """Whether the user types, or left a message unsent: nothing is sent by itself then."""
        return self._held or self.typing or has_draft(self.buffer.document)

    def _continue(self) -> None:
        self.post(InsertEntered() if self.is_being_written else ResumeDue())

    def _foreground_ended(self, run: Run) -> None:
        """Move the cursor, unless a loop goes on."""
        if self.state.loop is not Loop.ARMED:
            option = run.settings.config.tools.cursor_after_result
            self._spawn(self._cursor.after(run.key, option), "cursor")

    async def auto_write(self) -> None:
        """Write the file, if `editing.auto_write` says so. A failure is told and ends nothing."""
        if not self._services.settings.current(self.buffer.id).config.editing.auto_write:
            return
        try:
            await self.buffer.save()
        except BufferGone:
            log.info("auto write: the buffer is gone")
        except EditorError as error:
            self._services.screen.notify(str(error), Level.ERROR)

    def _announce_settled(self, rest: Rest) -> None:
        waiting, self._settled = self._settled, []
        for call in waiting:
            call(rest)


def _nobody_listens() -> None:
    """No status page is shown yet."""

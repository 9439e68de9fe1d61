"""The tool calls of one buffer that run: in the foreground, or as background jobs.

Spec: tools, "Tool execution" and "Background jobs"; behaviour 2.12, 7.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from flemma.app.call_context import CallContexts
from flemma.app.invoke import ABORTED, invoke
from flemma.app.jobs import Job, Jobs
from flemma.app.lock import BufferLock
from flemma.app.redirect import RedirectOptions, Redirector
from flemma.app.results import FinalResult
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.app.store_paths import StoreKey
from flemma.app.turn import Event, JobCompleted, ToolEnded
from flemma.chat.document import Document
from flemma.chat.edits import ResultText, put_job_placeholder, put_result, set_status
from flemma.chat.nodes import Edit, JsonValue, Status
from flemma.chat.nodes import ToolResult as ToolResultNode
from flemma.chat.pairing import CallKey, find_call
from flemma.chat.query import job_placeholders
from flemma.errors import BufferGone, FlemmaError
from flemma.ports.editor import ChatBuffer
from flemma.tools.definition import ToolDefinition, ToolResult
from flemma.tools.harness import HarnessParameters, offers_background, strip

log = logging.getLogger(__name__)

STATUS_TOOL = "flemma.jobs.status"


@dataclass(slots=True)
class Run:
    """One call under way."""

    key: CallKey
    tool_name: str
    input: Mapping[str, JsonValue]
    harness: HarnessParameters
    settings: BufferSettings
    started: float
    """Monotonic seconds."""
    job: Job | None = None
    """Set while it runs in the background."""
    task: "asyncio.Task[None] | None" = None

    @property
    def store_key(self) -> StoreKey:
        """What its store files belong to."""
        if self.job is not None:
            return StoreKey("job", self.tool_name, self.job.id)
        return StoreKey("tool", self.tool_name, self.key.id)

    @property
    def purpose(self) -> str:
        """Name under which it holds the buffer's lock."""
        return f"tool {self.key}"


@dataclass(frozen=True, slots=True)
class Turn:
    """What runs tell the turn of their buffer, and ask of it."""

    post: Callable[[Event], None]
    in_loop: Callable[[], bool]
    """Whether a loop is under way, so that a finished job continues without delay."""
    save: Callable[[], Awaitable[None]]
    """Writes the file, if the user wants that."""
    foreground_ended: Callable[[Run], None]
    """A foreground call has its result: the cursor may move there."""


class ToolRuns:
    """Starts, cancels and finishes calls."""

    def __init__(
        self,
        services: Services,
        buffer: ChatBuffer,
        contexts: CallContexts,
        lock: BufferLock,
        jobs: Jobs,
        turn: Turn,
    ) -> None:
        self._services = services
        self._buffer = buffer
        self._contexts = contexts
        self._lock = lock
        self._jobs = jobs
        self._turn = turn
        self._runs: dict[CallKey, Run] = {}

    @property
    def running(self) -> Mapping[CallKey, Run]:
        """Everything under way, jobs included."""
        return self._runs

    @property
    def background(self) -> frozenset[CallKey]:
        """Calls that run as jobs."""
        return frozenset(key for key, run in self._runs.items() if run.job is not None)

    def start(self, key: CallKey, settings: BufferSettings) -> bool:
        """Start a call of the document; tell whether it runs in the foreground.

        Nothing is awaited here: the call counts as running when this returns.
        """
        call = find_call(self._buffer.document, key)
        if call is None or key in self._runs:
            return False
        node = call.use.node
        tool_input, harness = strip(node.input)
        now = self._services.clock.monotonic()
        run = Run(key, node.name, tool_input, harness, settings, now)
        definition = self._services.tools.get(node.name)
        self._runs[key] = run
        if harness.background and definition is not None and offers_background(definition):
            self._submit(run)
        run.task = self._services.tasks.spawn(self._run(run, definition), f"tool {node.name}")
        return run.job is None

    def cancel(self, key: CallKey) -> bool:
        """Stop a call; its result says that the user did. Tell whether it ran."""
        run = self._runs.get(key)
        if run is None or run.task is None:
            return False
        # Not at once: a task that has not begun yet would end without writing a result.
        asyncio.get_running_loop().call_soon(_stop, run)
        return True

    def cancel_all(self) -> int:
        """Stop every call and job; return how many there were."""
        return sum(self.cancel(key) for key in list(self._runs))

    async def move_to_background(self, key: CallKey) -> bool:
        """Let a foreground call go on as a job; tell whether it could."""
        run = self._runs.get(key)
        if run is None or run.job is not None or run.task is None:
            return False
        job = self._submit(run)
        await self._write_job_placeholder(run, job)
        await self._lock.release(run.purpose)
        await self._turn.save()
        self._services.screen.refresh(self._buffer.id)
        self._turn.post(ToolEnded(key))
        return True

    async def _run(self, run: Run, definition: ToolDefinition | None) -> None:
        cancelled = False
        try:
            try:
                await self._begin(run)
                # What has begun must not begin again after a crash.
                await self._turn.save()
                result = await self._execute(run, definition)
            except asyncio.CancelledError:
                cancelled = True
                result = FinalResult(ABORTED, is_error=True)
            # From here on there is nothing left to stop, only a result to write.
            run.task = None
            await self._finish(run, result)
        except BufferGone:
            log.info("tool %s: the buffer is gone", run.tool_name)
        finally:
            del self._runs[run.key]
            await self._lock.release(run.purpose)
            self._services.screen.refresh(self._buffer.id)
            self._turn.post(JobCompleted() if run.job else ToolEnded(run.key, cancelled))

    async def _begin(self, run: Run) -> None:
        if run.job is not None:
            await self._write_job_placeholder(run, run.job)
            self._services.screen.refresh(self._buffer.id)
            return
        await self._lock.acquire(run.purpose)
        await self._buffer.edit(
            lambda document: self._empty_block(document, run), undo_group=str(run.key)
        )
        self._services.screen.event(
            "tool:executing",
            {"bufnr": self._buffer.id, "tool_name": run.tool_name, "tool_id": run.key.id},
        )
        self._services.screen.refresh(self._buffer.id)

    async def _execute(self, run: Run, definition: ToolDefinition | None) -> FinalResult:
        """Nothing but cancellation is raised: every call gets a result (case B-02)."""
        try:
            return await self._settle(run, await self._invoke(run, definition))
        except FlemmaError as error:
            return FinalResult(str(error), is_error=True)
        except Exception as error:  # a fault of ours must not leave the call without a result
            log.exception("tool %s (%s) could not be run", run.tool_name, run.key.id)
            return FinalResult(f"{type(error).__name__}: {error}", is_error=True)

    async def _invoke(self, run: Run, definition: ToolDefinition | None) -> ToolResult:
        if definition is None:
            return ToolResult.failure(f"Unknown tool: {run.tool_name}")
        context = self._contexts.context(run.key, run.store_key, run.settings)
        return await invoke(definition, run.input, context)

    async def _settle(self, run: Run, outcome: ToolResult) -> FinalResult:
        """Redirect or materialise the result."""
        options = run.settings.config.tools.store
        redirector = Redirector(
            self._contexts.store(run.settings),
            self._services.files,
            self._services.screen,
            self._contexts.sandbox(run.settings),
            RedirectOptions(options.preview.lines, options.preview.bytes, options.materialize),
            self._services.place(self._buffer.path).directory,
        )
        return await redirector.settle(outcome, run.store_key, run.harness.save_to)

    async def _finish(self, run: Run, result: FinalResult) -> None:
        status = "error" if result.is_error else "success"
        data = {
            "bufnr": self._buffer.id,
            "tool_name": run.tool_name,
            "tool_id": run.key.id,
            "status": status,
        }
        if run.job is not None:
            # It may have been cancelled before there was one.
            await self._write_job_placeholder(run, run.job)
            now = self._services.clock.monotonic()
            self._jobs.complete(run.job.id, result, now, in_loop=self._turn.in_loop())
            self._services.screen.event("tool:finished", data)
            self._services.screen.event("job:completed", {**data, "job_id": run.job.id})
            return
        text = result_text(result)
        await self._buffer.edit(
            lambda document: self._put(document, run, text), undo_group=str(run.key)
        )
        await self._turn.save()
        self._services.screen.event("tool:finished", data)
        self._turn.foreground_ended(run)

    def _empty_block(self, document: Document, run: Run) -> tuple[Edit, ...]:
        """Make sure there is a block without a status to show the spinner on."""
        call = find_call(document, run.key)
        if call is None or not call.results:
            return self._put(document, run, ResultText())
        return set_status(document, run.key, None)

    def _put(self, document: Document, run: Run, text: ResultText) -> tuple[Edit, ...]:
        compact = run.settings.config.editing.compact_headers
        return put_result(document, run.key, text, compact_headers=compact)

    async def _write_job_placeholder(self, run: Run, job: Job) -> None:
        """Write it unless the call has its result, whoever wrote that."""
        settings = run.settings

        def put(document: Document) -> tuple[Edit, ...]:
            call = find_call(document, run.key)
            if call is not None and call.result is not None and _is_settled(call.result.node):
                return ()
            return put_job_placeholder(
                document,
                run.key,
                job.id,
                has_status_tool=STATUS_TOOL in settings.tool_names,
                compact_headers=settings.config.editing.compact_headers,
            )

        await self._buffer.edit(put, undo_group=str(run.key))

    def _submit(self, run: Run) -> Job:
        """Make a job of a run."""
        taken = {result.node.job_id for result in job_placeholders(self._buffer.document)}
        identifier = self._services.ids.job_id()
        while identifier in taken:
            identifier = self._services.ids.job_id()
        job = run.job = Job(identifier, run.key.id, run.tool_name, run.started)
        self._jobs.submit(job)
        self._services.screen.event(
            "job:submitted",
            {
                "bufnr": self._buffer.id,
                "job_id": job.id,
                "tool_id": run.key.id,
                "tool_name": run.tool_name,
            },
        )
        return job


def _stop(run: Run) -> None:
    """Cancel a run, unless its result is being written already; once, lest it stop to clean up."""
    if run.task is not None and not run.task.cancelling():
        run.task.cancel()


def _is_settled(result: ToolResultNode) -> bool:
    """Whether a block holds a result, and not the empty fence of a call that runs."""
    return not result.is_placeholder and bool(result.content)


def result_text(result: FinalResult) -> ResultText:
    """Return a result as the edits take it."""
    return ResultText(
        result.text,
        Status.ERROR if result.is_error else None,
        "json" if result.structured else "",
    )

"""Follows one turn of a chat until nothing is under way any more, background jobs included."""

import asyncio
from collections.abc import Callable

from flemma.adapters.file_buffer import FileBuffer
from flemma.app.deliveries import deliver
from flemma.app.opening import open_chat
from flemma.app.services import Services
from flemma.app.session import ChatSession
from flemma.app.turn import CancelAllPressed, Rest, SendPressed
from flemma.chat.edits import resolve_orphaned_jobs
from flemma.chat.nodes import Diagnostic
from flemma.errors import EditorError
from flemma.headless.approving import approve_waiting
from flemma.headless.options import RunOptions
from flemma.headless.screen import TerminalScreen
from flemma.ports.editor import Level

WRITE_INTERVAL = 0.25
"""Seconds that streamed text is at most ahead of the file."""

CANCEL_DEADLINE = 5.0
"""Seconds that what is being cancelled gets to write its end into the file."""

LOOK_INTERVAL = 0.2
"""Seconds between two looks at what is under way; its end is also reported by itself."""


class Following:
    """Presses send, waits, and ends what is left."""

    def __init__(
        self,
        session: ChatSession,
        buffer: FileBuffer,
        services: Services,
        screen: TerminalScreen,
        options: RunOptions,
    ) -> None:
        self._session = session
        self._buffer = buffer
        self._services = services
        self._screen = screen
        self._options = options
        self._rest: Rest | None = None
        self._interrupted = False
        self._changed = asyncio.Event()
        self.diagnostics: tuple[Diagnostic, ...] = ()
        """Problems of the frontmatter, as of the end."""

    def interrupt(self) -> None:
        """Cancel everything; :meth:`to_rest` returns as soon as its end is in the file."""
        self._interrupted = True
        self._session.post(CancelAllPressed())
        self._changed.set()

    async def to_rest(self, opened: Callable[[], None]) -> Rest:
        """Press send and return why it rests; ``opened`` is called before anything is new."""
        self._screen.on_job_completed = self._changed.set
        self._session.when_settled(self._settled)
        saving = self._services.tasks.spawn(self._keep_saved(), "saving of the chat")
        try:
            await open_chat(self._session, self._screen)
            opened()
            if not self._interrupted:
                await self._press_send()
            await self._wait()
            await self._end()
        finally:
            saving.cancel()
        return self._rest or Rest.FAILED

    async def _press_send(self) -> None:
        if self._options.approve:
            await approve_waiting(self._session)
        self._session.post(SendPressed())

    def _settled(self, rest: Rest) -> None:
        """Keep the first reason to stop: what jobs bring afterwards does not change it."""
        if self._rest in (None, Rest.DONE):
            self._rest = rest
        if rest is not Rest.DONE:
            self._session.hold()
        self._session.when_settled(self._settled)
        self._changed.set()

    async def _wait(self) -> None:
        while not self._is_over():
            self._changed.clear()
            if self._session.at_rest:
                if not await self._changes_within(self._options.grace):
                    return
            else:
                await self._changes_within(LOOK_INTERVAL)

    def _is_over(self) -> bool:
        if self._interrupted:
            return True
        if not self._session.at_rest:
            return False
        jobs = self._session.jobs
        return not (jobs.live_ids if self._rest is Rest.DONE else jobs.running)

    async def _changes_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _end(self) -> None:
        """Write what there still is to write, and stop what still runs (case X-23)."""
        if self._interrupted:
            await self._until_idle()
        self._session.hold()
        settings = await self._session.settings()
        self.diagnostics = settings.diagnostics
        compact = settings.config.editing.compact_headers
        if self._buffer.lost is None:
            await deliver(self._buffer, self._session.jobs, compact_headers=compact)
        running = len(self._session.jobs.running)
        if running:
            noun = "job was" if running == 1 else "jobs were"
            self._screen.notify(
                f"{running} background {noun} still running and had to be stopped.", Level.WARN
            )
        await self._session.close()
        await self._until_idle()
        if self._buffer.lost is None:
            await self._buffer.edit(
                lambda document: resolve_orphaned_jobs(document, (), compact_headers=compact)
            )
            await self._buffer.save()

    async def _until_idle(self) -> None:
        """Wait for tasks of several kinds to write their end; they are known by their effects."""
        clock = self._services.clock
        deadline = clock.monotonic() + CANCEL_DEADLINE
        while clock.monotonic() < deadline:
            if self._session.at_rest and not self._session.runs.running:
                return
            await clock.sleep(0.01)

    async def _keep_saved(self) -> None:
        while True:
            await self._services.clock.sleep(WRITE_INTERVAL)
            try:
                await self._buffer.save()
            except EditorError as error:
                self._screen.notify(str(error), Level.ERROR, once=True)

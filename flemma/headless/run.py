"""`flemma run FILE`: the session, planner and tools of the editor over a file."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flemma.adapters.composition import Composition, FrontEnd, compose
from flemma.adapters.file_buffer import FileBuffer
from flemma.adapters.files import LocalFiles
from flemma.adapters.logs import set_up_logging
from flemma.adapters.no_buffers import NoOpenBuffers
from flemma.adapters.python_modules import PythonModules
from flemma.adapters.supervisor import Supervisor
from flemma.app.services import Services
from flemma.app.turn import Rest
from flemma.app.workspace import Workspace
from flemma.errors import BufferGone, EditorError, FlemmaError
from flemma.headless.following import Following
from flemma.headless.options import (
    RunOptions,
    apply_run_options,
    log_path,
    read_config,
    unknown_approvals,
)
from flemma.headless.outcome import (
    OUTCOMES,
    SIGNAL_BASE,
    Ended,
    ExitCode,
    PendingCall,
    pending_calls,
    report,
)
from flemma.headless.screen import TerminalScreen
from flemma.headless.transcript import Transcript
from flemma.ports.editor import Level

TASKS_DEADLINE = 2.0
"""Seconds that tasks get to end after everything they work for was stopped."""


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run writes: its transcript, and everything else it has to say."""

    transcript: Callable[[str], None]
    notices: Callable[[str], None]


class HeadlessRun:
    """One run over one file; a composition root of its own."""

    def __init__(self, options: RunOptions, output: Output) -> None:
        self._options = options
        self._output = output
        self._path = os.path.abspath(options.file)  # noqa: PTH100 - a link stays a link
        self._screen = TerminalScreen(output.notices)
        self._tasks = Supervisor(lambda text: self._screen.notify(text, Level.ERROR))
        self._composition: Composition | None = None
        self._loading: asyncio.Task[None] | None = None
        self._following: Following | None = None
        self._signal: int | None = None

    async def run(self) -> Mapping[str, Any]:
        """Run to the end and return the report; nothing that was started still runs then."""
        try:
            buffer = await self._open()
            composition = self._composition = self._compose()
            await self._prepare(composition.services)
            return await self._follow(buffer, composition)
        except FlemmaError as error:
            self._screen.notify(str(error), Level.ERROR)
            code = Ended(ExitCode.UNUSABLE)
            return report(self._path, code, None, (), (), self._screen.notifications)
        finally:
            self.kill()
            await self._tasks.stop(TASKS_DEADLINE)

    def interrupt(self, signal: int) -> None:
        """Cancel everything that is under way; the run ends as soon as the file says so."""
        self._signal = signal
        if self._loading is not None:
            self._loading.cancel()
        if self._following is not None:
            self._following.interrupt()

    def kill(self) -> None:
        """End every process at once; the caller ends this one."""
        if self._composition is not None:
            self._composition.end()

    async def _open(self) -> FileBuffer:
        buffer = await FileBuffer.open(self._path, LocalFiles())
        if not os.access(self._path, os.W_OK):
            raise EditorError(f"Cannot write {self._path}: the answer would be lost.")
        return buffer

    def _compose(self) -> Composition:
        """Raises :class:`flemma.errors.ConfigError`."""
        config = read_config(os.environ)
        self._start_log(config)
        return compose(
            FrontEnd(
                screen=self._screen,
                tasks=self._tasks,
                buffers=NoOpenBuffers(),
                working_directory=str(Path.cwd()),
                options=config,
            )
        )

    async def _prepare(self, services: Services) -> None:
        """Load the user's modules, then take the command line, which may name what they bring.

        Raises :class:`flemma.errors.ConfigError`.
        """
        PythonModules(services).start()
        self._loading = self._tasks.spawn(services.tool_sources.ready(), "loading of modules")
        await asyncio.wait([self._loading])
        apply_run_options(services.settings, self._options, services.providers)
        for warning in unknown_approvals(self._options.approve, services.tools):
            self._screen.notify(warning, Level.WARN)

    def _start_log(self, config: Mapping[str, Any]) -> None:
        try:
            set_up_logging(str(log_path(os.environ)), config)
        except OSError as error:
            self._screen.notify(f"There is no log file: {error}", Level.WARN)

    async def _follow(self, buffer: FileBuffer, composition: Composition) -> Mapping[str, Any]:
        services = composition.services
        session = Workspace(services).open(buffer)
        following = Following(session, buffer, services, self._screen, self._options)
        self._following = following
        transcript: Transcript | None = None

        def opened() -> None:
            nonlocal transcript
            if self._signal is not None:
                following.interrupt()
            if not self._options.json:
                transcript = Transcript(buffer.document, self._output.transcript)
                buffer.on_change = transcript.follow

        rest = await self._to_rest(following, buffer, opened)
        if transcript is not None:
            transcript.finish(buffer.document)
        ended = self._ended(rest)
        pending = pending_calls(buffer.document, services.tools)
        if ended.code == ExitCode.WAITING:
            self._tell_pending(pending)
        return report(
            self._path,
            ended,
            buffer.document,
            pending,
            services.usage.records,
            self._screen.notifications,
            following.diagnostics,
        )

    async def _to_rest(
        self, following: Following, buffer: FileBuffer, opened: Callable[[], None]
    ) -> Rest:
        try:
            rest = await following.to_rest(opened)
        except EditorError as error:
            if not isinstance(error, BufferGone):
                self._screen.notify(str(error), Level.ERROR, once=True)
            rest = Rest.FAILED
        if buffer.lost is not None:
            self._screen.notify(buffer.lost, Level.ERROR, once=True)
            rest = Rest.FAILED
        return rest

    def _ended(self, rest: Rest) -> Ended:
        if self._signal is not None:
            return Ended(SIGNAL_BASE + self._signal, self._signal)
        return Ended(OUTCOMES[rest])

    def _tell_pending(self, pending: Sequence[PendingCall]) -> None:
        if not pending:
            self._screen.notify("Autopilot is off in this file: run again for the next step.")
            return
        noun = "1 call waits" if len(pending) == 1 else f"{len(pending)} calls wait"
        lines = [f"{call.preview} ({call.id})" for call in pending]
        self._screen.notify("\n".join([f"{noun} for you:", *lines]), Level.INFO)

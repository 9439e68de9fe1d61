"""Keeps the view of a buffer in step with its document and its runs, a few times a second."""

import asyncio
from typing import TYPE_CHECKING, Any

from flemma.adapters.nvim.buffer import NvimBuffer
from flemma.adapters.nvim.lua import Lua
from flemma.config.schema import Config
from flemma.errors import EditorError
from flemma.host.previews import CallPreviews
from flemma.ports.clock import Clock
from flemma.ports.tasks import Tasks
from flemma.tools.registry import ToolRegistry
from flemma.ui.state import FINISHED_SHOWN, RunState, ViewOptions
from flemma.ui.view import ViewDiff

if TYPE_CHECKING:
    from flemma.app.session import ChatSession

INTERVAL = 0.03
"""Seconds between two views; typing and streaming are drawn at most this often."""


class BufferView:
    """Draws one buffer."""

    def __init__(
        self,
        buffer: NvimBuffer,
        lua: Lua,
        tools: ToolRegistry,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._buffer = buffer
        self._lua = lua
        self._clock = clock
        self._tasks = tasks
        self._tools = tools
        self._previews = CallPreviews(tools, tasks, self.refresh)
        self._difference = ViewDiff(buffer.id, self._previews.of)
        self._due = asyncio.Event()
        self._finished: dict[str, bool] = {}
        self._painted = asyncio.Event()
        self.session: ChatSession | None = None
        """What works on the chat; the first view is drawn without it."""

    async def painted(self) -> None:
        """Wait for the first view."""
        await self._painted.wait()

    def start(self) -> "asyncio.Task[None]":
        """Draw from now on, whenever something changed."""
        self._due.set()
        return self._tasks.spawn(self._run(), f"view of chat {self._buffer.id}")

    def refresh(self) -> None:
        """Something changed."""
        self._due.set()

    def reset(self, config: Config) -> None:
        """The buffer was read again, or the options changed: draw everything anew."""
        self._difference.reset(view_options(config))
        self._due.set()

    def tool_finished(self, tool_use_id: str, *, success: bool) -> None:
        """Show for a moment how a call ended."""
        self._finished[tool_use_id] = success
        asyncio.get_running_loop().call_later(
            FINISHED_SHOWN, lambda: self._finished.pop(tool_use_id, None)
        )
        self._due.set()

    async def _run(self) -> None:
        unsubscribe = self._tools.subscribe(self._previews.tools_changed)
        try:
            await self._keep_drawing()
        finally:
            unsubscribe()
            self._painted.set()

    async def _keep_drawing(self) -> None:
        while not self._buffer.gone:
            await self._due.wait()
            self._due.clear()
            try:
                await self._draw()
            except EditorError:
                # The buffer may vanish at any moment; the loop's condition ends this then.
                self._due.set()
            self._painted.set()
            await self._clock.sleep(INTERVAL)

    async def _draw(self) -> None:
        tick = self._buffer.tick
        view = self._difference.difference(self._buffer.document, self._run_state(), tick)
        if view is not None:
            answer: Any = await self._lua.handle("view", view)
            if answer and answer.get("ok"):
                self._difference.accept()
            else:
                self._due.set()
                if answer and answer.get("moved"):
                    await self._buffer.catch_up(tick)
        if self._difference.is_unfinished:
            self._due.set()

    def _run_state(self) -> RunState:
        finished, previews = dict(self._finished), self._previews.later
        if self.session is None:
            return RunState(finished=finished, previews=previews)
        now, monotonic = self._clock.now().timestamp(), self._clock.monotonic()
        runs = self.session.runs.running.values()
        jobs = self.session.jobs.running.values()
        return RunState(
            executing={
                run.key.id: now - (monotonic - run.started) for run in runs if run.job is None
            },
            finished=finished,
            jobs={job.id: now - (monotonic - job.started) for job in jobs},
            previews=previews,
        )


def view_options(config: Config) -> ViewOptions:
    """Return the options that decide what is drawn."""
    close = config.editing.auto_close
    return ViewOptions(
        rulers=config.ruler.enabled,
        show_spinner=config.tools.show_spinner,
        close_thinking=close.thinking,
        close_tool_use=close.tool_use,
        close_tool_result=close.tool_result,
        close_frontmatter=close.frontmatter,
    )

"""Keeps the bar of background jobs in step with the jobs of each chat."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flemma.adapters.nvim.lua import Lua
from flemma.app.workspace import Workspace
from flemma.ui.jobs_bar import JobsFacts, jobs_bar

if TYPE_CHECKING:
    from flemma.app.session import ChatSession


class NvimJobsDisplay:
    """Follows lifecycle events; draws nothing for users who gave the bar no position."""

    def __init__(self, lua: Lua, workspace: Workspace) -> None:
        self._lua = lua
        self._workspace = workspace

    def follow(self, name: str, data: Mapping[str, Any]) -> None:
        """Take a lifecycle event."""
        if name == "config:updated":
            for session in self._workspace:
                self._show(session)
        elif name.startswith(("job:", "autopilot:")):
            session = self._workspace.get(int(data["bufnr"]))
            if session is not None:
                self._show(session)

    def _show(self, session: "ChatSession") -> None:
        services, bufnr = self._workspace.services, session.buffer.id
        deadline = session.auto_continue.deadline
        now, monotonic = services.clock.now().timestamp(), services.clock.monotonic()
        resumes_at = None if deadline is None else now + deadline - monotonic
        position = services.settings.current(bufnr).config.ui.jobs.position
        facts = JobsFacts(len(session.jobs.running), resumes_at)
        self._lua.tell("bar", jobs_bar(bufnr, facts, position))

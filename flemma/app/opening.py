"""What happens to a chat when it is opened: old files, lost jobs, interrupted tools.

Spec: tools, "Orphan recovery"; behaviour 1.1, 1.12, 7.5. Everything here is idempotent and can be
undone by the user.
"""

from flemma.app.session import ChatSession
from flemma.chat.document import Document
from flemma.chat.edits import (
    TOOL_NAMES_NOTICE,
    auto_prompt,
    break_off,
    migrate,
    resolve_orphaned_jobs,
    set_statuses,
)
from flemma.chat.nodes import Status
from flemma.chat.pairing import CallKey, siblings
from flemma.chat.query import last_assistant, orphaned_jobs
from flemma.ports.editor import Level, Screen


async def open_chat(session: ChatSession, screen: Screen) -> None:
    """Bring a chat up to date that was just loaded, and tell the user what was done."""
    settings = await session.settings()
    editing = settings.config.editing
    await _migrate(session, screen)
    if editing.auto_prompt and not session.buffer.document.text.strip():
        await session.buffer.edit(auto_prompt)
        await session.buffer.move_cursor(1, force=True)
    await _resolve_orphans(session, screen, compact_headers=editing.compact_headers)
    await _mark_interrupted(session, screen)
    await session.auto_write()
    warning = await session.sandbox_warning(settings)
    if warning is not None:
        screen.notify(warning, Level.WARN, once=True)


async def end_broken_request(session: ChatSession) -> None:
    """A request died with its host: the chat looks as if it had been cancelled."""
    await session.buffer.edit(break_off)


async def _migrate(session: ChatSession, screen: Screen) -> None:
    migration = migrate(session.buffer.document)
    if not migration.edits:
        return
    await session.buffer.edit(lambda document: migrate(document).edits)
    if migration.renames_tools:
        screen.notify(TOOL_NAMES_NOTICE, Level.WARN)


async def _resolve_orphans(session: ChatSession, screen: Screen, *, compact_headers: bool) -> None:
    live = session.jobs.live_ids
    count = len(orphaned_jobs(session.buffer.document, live))
    if count == 0:
        return
    await session.buffer.edit(
        lambda document: resolve_orphaned_jobs(
            document, tuple(live), compact_headers=compact_headers
        )
    )
    noun = "job" if count == 1 else "jobs"
    screen.notify(f"{count} orphaned {noun} resolved.", Level.WARN)


async def _mark_interrupted(session: ChatSession, screen: Screen) -> None:
    """A tool that ran when its host ended left an empty block: it counts as aborted."""
    running = frozenset(session.runs.running)
    lost = interrupted_calls(session.buffer.document, running)
    if not lost:
        return
    await session.buffer.edit(
        lambda document: set_statuses(
            document,
            [(key, Status.ABORTED) for key in interrupted_calls(document, running)],
        )
    )
    noun = "tool call" if len(lost) == 1 else "tool calls"
    screen.notify(f"{len(lost)} interrupted {noun} marked as aborted.", Level.WARN)


def interrupted_calls(document: Document, running: frozenset[CallKey]) -> tuple[CallKey, ...]:
    """Return the calls of the last response whose block was emptied for a run that never ended.

    No finished call leaves an empty block, see :func:`flemma.app.results.finalize`.
    """
    last = last_assistant(document)
    if last is None:
        return ()
    return tuple(
        call.key
        for call in siblings(document)
        if call.use.message == last[0]
        and call.key not in running
        and (result := call.last_result) is not None
        and result.node.status is None
        and not result.node.content
        and result.node.job_id is None
    )

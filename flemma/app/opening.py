"""What happens to a chat when it is opened: old files, lost jobs, interrupted tools.

Spec: tools, "Orphan recovery"; behaviour 1.1, 1.12, 7.5. Everything here is idempotent and can be
undone by the user.
"""

from flemma.app.opened import JUST_OPENED, Opening
from flemma.app.session import ChatSession
from flemma.chat.document import Document
from flemma.chat.edits import (
    TOOL_NAMES_NOTICE,
    auto_prompt,
    break_off,
    migrate,
    prompt_above,
    resolve_orphaned_jobs,
    set_statuses,
)
from flemma.chat.nodes import Status
from flemma.chat.pairing import CallKey, siblings
from flemma.chat.query import last_assistant, orphaned_jobs
from flemma.ports.editor import Level, Screen

STARTS = ("@", "```")
"""How a marker or a frontmatter block begins that the user is about to write himself."""


async def open_chat(session: ChatSession, screen: Screen, how: Opening = JUST_OPENED) -> None:
    """Bring a chat up to date that was just loaded, and tell the user what was done."""
    settings = await session.settings()
    editing = settings.config.editing
    await _migrate(session, screen)
    if how.broken_off:
        # The chat is to look as if the request had been cancelled.
        await session.buffer.edit(break_off)
    if editing.auto_prompt:
        await _prompt(session, how)
    await _resolve_orphans(session, screen, compact_headers=editing.compact_headers)
    await _mark_interrupted(session, screen)
    await session.auto_write()
    warning = await session.sandbox_warning(settings)
    if warning is not None:
        screen.notify(warning, Level.WARN, once=True)


async def _prompt(session: ChatSession, how: Opening) -> None:
    """Give a blank chat its first prompt (acceptance 22), also above what was typed meanwhile."""
    document = session.buffer.document
    if not document.text.strip():
        await session.buffer.edit(auto_prompt)
        await session.buffer.move_cursor(1, force=True)
    elif how.empty and not document.messages and not document.text.startswith(STARTS):
        await session.buffer.edit(prompt_above)


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

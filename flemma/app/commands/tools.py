"""Commands about single tool calls (spec: behaviour 2.11)."""

from collections.abc import Sequence

from flemma.app.commands.invocation import CommandDefinition, CommandError, Invocation
from flemma.app.planner import DENIED, REJECTED
from flemma.app.services import Services
from flemma.app.session import ChatSession
from flemma.app.turn import CancelAllPressed, CancelPressed, Phase, ToolResolved, ToolStarted
from flemma.chat.document import Document
from flemma.chat.edits import ResultText, put_result, reject_call, set_status, set_statuses
from flemma.chat.nodes import Edit, Status
from flemma.chat.pairing import CallKey, ToolCall, find_call
from flemma.chat.query import NoToolAtCursor, placeholders, tool_at
from flemma.ports.editor import Level, RejectionPopup


class ToolCommands:
    """What the user does with single calls."""

    def __init__(self, services: Services, popup: RejectionPopup) -> None:
        self._services = services
        self._popup = popup

    def definitions(self) -> tuple[CommandDefinition, ...]:
        """Return the commands."""
        return (
            CommandDefinition("tool:approve", self.approve),
            CommandDefinition("tool:approve-all", self.approve_all),
            CommandDefinition("tool:background", self.background),
            CommandDefinition("tool:cancel", self.cancel),
            CommandDefinition("tool:cancel-all", self.cancel_all),
            CommandDefinition("tool:execute", self.execute),
            CommandDefinition("tool:list", self.list),
            CommandDefinition("tool:reject", self.reject),
        )

    async def approve(self, invocation: Invocation) -> None:
        """Toggle the call at the cursor between approved and pending."""
        session = invocation.chat
        key = _placeholder_at(invocation).key

        def toggle(document: Document) -> Sequence[Edit]:
            status = _status_of(document, key)
            wanted = Status.PENDING if status is Status.APPROVED else Status.APPROVED
            return set_status(document, key, wanted)

        await session.buffer.edit(toggle)
        await session.auto_write()

    async def approve_all(self, invocation: Invocation) -> None:
        """Approve every pending call of the buffer."""
        session = invocation.chat
        meant = _pending(invocation.document)
        if not meant:
            raise CommandError("No pending tools to approve")
        await session.buffer.edit(
            lambda document: set_statuses(
                document, [(key, Status.APPROVED) for key in _pending(document) if key in meant]
            )
        )
        await session.auto_write()

    async def reject(self, invocation: Invocation) -> None:
        """Reject the call at the cursor, or take a rejection back."""
        session = invocation.chat
        call = _placeholder_at(invocation)
        message = " ".join(invocation.arguments.split())
        if message:
            await self.reject_with(session, call.key, message)
            return
        if _status_of(session.buffer.document, call.key) is Status.REJECTED:
            await session.buffer.edit(
                lambda document: set_status(document, call.key, Status.PENDING)
            )
            return
        if invocation.key and call.result is not None:
            self._popup.open(session.buffer.id, call.key, call.result)
            return
        await self.reject_with(session, call.key, "")

    async def reject_by_id(self, session: ChatSession, tool_use_id: str, message: str) -> None:
        """Reject the call a popup was opened for. Raises :class:`CommandError` when it is over."""
        call = find_call(session.buffer.document, tool_use_id)
        if call is None:
            raise CommandError("Reject failed")
        _require_placeholder(session, call)
        await self.reject_with(session, call.key, message)

    async def reject_with(self, session: ChatSession, key: CallKey, message: str) -> None:
        """Reject a call for a reason the model reads; an empty one gives none (case A-08)."""
        settings = await session.settings()
        compact = settings.config.editing.compact_headers
        await session.buffer.edit(
            lambda document: reject_call(document, key, message, compact_headers=compact)
        )
        await session.auto_write()

    async def execute(self, invocation: Invocation) -> None:
        """Run or settle just the call at the cursor, whatever its approval."""
        session = invocation.chat
        if session.state.phase is Phase.REQUESTING:
            raise CommandError("Cannot execute tool while API request is in flight")
        call = _call_at(invocation)
        if call.key in session.runs.running:
            raise CommandError(f"Tool {call.id} is already executing")
        status = _status_of(session.buffer.document, call.key)
        if status is Status.REJECTED or status is Status.DENIED:
            await self._settle(session, call.key, status)
            return
        await session.sources_ready()
        settings = await session.settings()
        if session.runs.start(call.key, settings):
            session.post(ToolStarted(call.key))

    async def _settle(self, session: ChatSession, key: CallKey, status: Status) -> None:
        settings = await session.settings()
        compact = settings.config.editing.compact_headers

        def resolve(document: Document) -> Sequence[Edit]:
            call = find_call(document, key)
            content = call.result.node.content if call and call.result else ""
            text = (content or REJECTED) if status is Status.REJECTED else DENIED
            result = ResultText(text, Status.ERROR)
            return put_result(document, key, result, compact_headers=compact)

        await session.buffer.edit(resolve)
        session.post(ToolResolved())

    async def background(self, invocation: Invocation) -> None:
        """Let the running call at the cursor go on in the background."""
        session = invocation.chat
        key = _running_at(session, invocation.document, invocation.line)
        if key is None or not await session.runs.move_to_background(key):
            raise CommandError("Failed to move tool to background")
        self._services.screen.notify("Tool moved to background.", Level.INFO)

    async def cancel(self, invocation: Invocation) -> None:
        """Stop the running call at the cursor, else the oldest."""
        session = invocation.chat
        key = running_for_cancel(session, invocation.line)
        if key is None:
            self._services.screen.notify("No pending tool executions", Level.INFO)
            return
        session.runs.cancel(key)
        session.disarm()
        self._services.screen.notify("Tool execution cancelled", Level.INFO)

    async def cancel_all(self, invocation: Invocation) -> None:
        """Stop everything that runs in the chat."""
        session = invocation.chat
        if not session.runs.running and session.is_idle:
            self._services.screen.notify("No pending tool executions", Level.INFO)
            return
        session.post(CancelAllPressed())

    async def list(self, invocation: Invocation) -> None:
        """Show what runs, oldest first."""
        runs = sorted(invocation.chat.runs.running.values(), key=lambda run: run.started)
        if not runs:
            self._services.screen.notify("No pending tool executions", Level.INFO)
            return
        now = self._services.clock.monotonic()
        lines = [
            f"  {run.tool_name} ({run.key.id}) — started {int(now - run.started)}s ago"
            for run in runs
        ]
        self._services.screen.notify("\n".join(["Pending tool executions:", *lines]), Level.INFO)


def cancel_event(session: ChatSession, line: int) -> CancelPressed:
    """Return the event of the cancel key pressed on a line."""
    return CancelPressed(running_for_cancel(session, line))


def running_for_cancel(session: ChatSession, line: int) -> CallKey | None:
    """Return the running call that a cancellation means: at the cursor, else the oldest."""
    at_cursor = _running_at(session, session.buffer.document, line)
    if at_cursor is not None:
        return at_cursor
    runs = sorted(session.runs.running.values(), key=lambda run: run.started)
    return runs[0].key if runs else None


def _running_at(session: ChatSession, document: Document, line: int) -> CallKey | None:
    try:
        key = tool_at(document, line).key
    except NoToolAtCursor:
        return None
    return key if key in session.runs.running else None


def _call_at(invocation: Invocation) -> ToolCall:
    """Return the call at the cursor as it is now; it must have been there for the user to see."""
    seen = tool_at(invocation.document, invocation.line)
    call = find_call(invocation.chat.buffer.document, seen.key)
    if call is None:
        raise CommandError("Tool use block not found in buffer")
    if call.use.node.error is not None:
        raise CommandError(f"Tool {call.id} cannot run: {call.use.node.error}")
    return call


def _placeholder_at(invocation: Invocation) -> ToolCall:
    """Return the call at the cursor, which must have waited for its result and still do so."""
    seen = tool_at(invocation.document, invocation.line)
    _require_placeholder(invocation.chat, seen)
    call = find_call(invocation.chat.buffer.document, seen.key)
    if call is None:
        raise CommandError(f"No tool result placeholder for {seen.id}")
    _require_placeholder(invocation.chat, call)
    return call


def _require_placeholder(session: ChatSession, call: ToolCall) -> None:
    if call.result is None:
        raise CommandError(f"No tool result placeholder for {call.id}")
    if not call.result.node.is_placeholder or call.key in session.runs.running:
        raise CommandError(f"Tool {call.id} has already completed")


def _status_of(document: Document, key: CallKey) -> Status | None:
    call = find_call(document, key)
    return call.result.node.status if call and call.result else None


def _pending(document: Document) -> list[CallKey]:
    return [
        call.key
        for call in placeholders(document)
        if call.result is not None and call.result.node.status is Status.PENDING
    ]

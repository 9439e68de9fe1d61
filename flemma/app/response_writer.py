"""Puts a response into the buffer while it arrives: coalesced, one undo step.

Deltas are gathered and written every :data:`FLUSH_INTERVAL`: the cost is linear in the length of
the response, however small its pieces are.
"""

from flemma.chat.document import Document
from flemma.chat.edits import ResponseText
from flemma.chat.nodes import AppendText, Edit
from flemma.conversation.events import (
    StreamEvent,
    TextDelta,
    ThinkingDone,
    ToolUseBroken,
    ToolUseDone,
)
from flemma.ports.editor import ChatBuffer

FLUSH_INTERVAL = 0.025
"""Seconds between two writes."""


class ResponseWriter:
    """Writes the content of one response at the end of the buffer."""

    def __init__(self, buffer: ChatBuffer, undo_group: str, *, compact_headers: bool) -> None:
        self._buffer = buffer
        self._undo_group = undo_group
        self._text = ResponseText(compact_headers=compact_headers)
        self._pending: list[str] = []
        self._closed = False
        self.anything_shown = False
        self.broken_calls: list[ToolUseBroken] = []
        """Calls that must not run; each needs an error result."""
        self.has_tool_uses = False

    def take(self, event: StreamEvent) -> None:
        """Queue what an event adds to the text."""
        match event:
            case TextDelta(text):
                self._queue(self._text.text(text))
            case ThinkingDone(text, provider, signature, redacted):
                self._queue(self._text.thinking(text, provider, signature, redacted=redacted))
            case ToolUseDone(identifier, name, tool_input):
                self.has_tool_uses = True
                self._queue(self._text.tool_use(identifier, name, tool_input))
            case ToolUseBroken(identifier, name):
                # The chat needs a call that can be sent back; what arrived is in its result.
                self.has_tool_uses = True
                self.broken_calls.append(event)
                self._queue(self._text.tool_use(identifier, name, {}))
            case _:
                pass

    def complete(self) -> None:
        """The response is over: nothing is held back any more."""
        self._queue(self._text.close())

    async def flush(self) -> None:
        """Write what is queued."""
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()

        def append(document: Document) -> tuple[Edit, ...]:
            return () if self._closed else (AppendText(document.line_count - 1, text),)

        await self._buffer.edit(append, undo_group=self._undo_group)

    def close(self) -> None:
        """Write nothing any more, not even what is being written."""
        self._closed = True
        self._pending.clear()

    def discard(self) -> None:
        """Forget what is queued."""
        self._pending.clear()

    def _queue(self, text: str) -> None:
        if text:
            self._pending.append(text)
            self.anything_shown = True

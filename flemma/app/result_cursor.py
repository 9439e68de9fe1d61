"""Where the cursor goes when a call waits or is done."""

from flemma.app.request import LAST_LINE
from flemma.chat.pairing import CallKey, find_call
from flemma.chat.query import next_prompt
from flemma.ports.editor import ChatBuffer, Screen


class ResultCursor:
    """Moves the cursor to results of one buffer."""

    def __init__(self, buffer: ChatBuffer, screen: Screen) -> None:
        self._buffer = buffer
        self._screen = screen

    async def move_to(self, key: CallKey) -> None:
        """Put the cursor on the block of a call."""
        call = find_call(self._buffer.document, key)
        if call is not None and call.result is not None:
            await self._buffer.move_cursor(call.result.line)
        self._screen.refresh(self._buffer.id)

    async def after(self, key: CallKey, option: str) -> None:
        """Put the cursor where `tools.cursor_after_result` says."""
        match option:
            case "result":
                await self.move_to(key)
            case "next":
                call = find_call(self._buffer.document, key)
                result = call.result if call else None
                line = next_prompt(self._buffer.document, result.message) if result else None
                await self._buffer.move_cursor(LAST_LINE if line is None else line)
            case _:
                pass

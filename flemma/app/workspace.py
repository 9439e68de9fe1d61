"""The open chats."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flemma.app.services import Services
from flemma.ports.editor import ChatBuffer

if TYPE_CHECKING:
    from flemma.app.session import ChatSession


class Workspace:
    """One session a chat buffer."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._sessions: dict[int, ChatSession] = {}

    def __iter__(self) -> "Iterator[ChatSession]":
        return iter(list(self._sessions.values()))

    def open(self, buffer: ChatBuffer) -> "ChatSession":
        """Return the session of a buffer, a new one for a new buffer."""
        session = self._sessions.get(buffer.id)
        if session is None:
            # What works on a chat is imported with the first one, after it was painted.
            from flemma.app.session import ChatSession

            session = ChatSession(buffer, self.services)
            self._sessions[buffer.id] = session
        return session

    def get(self, buffer_id: int) -> "ChatSession | None":
        """Return the session of a buffer number, None if it is no chat."""
        return self._sessions.get(buffer_id)

    async def close(self, buffer_id: int) -> None:
        """The buffer is gone: its work ends."""
        session = self._sessions.pop(buffer_id, None)
        if session is not None:
            await session.close()

"""Every message of Neovim arrives here: checked, then handed to the workspace."""

import logging
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgpack

import flemma
from flemma.adapters.nvim.connection import Connection
from flemma.host import protocol
from flemma.host.container import HostParts, build_host

log = logging.getLogger(__name__)


class Response(Protocol):
    """Answers one blocking request."""

    def send(self, value: Any, error: bool = False) -> None:
        """Send the answer."""
        ...


class Dispatcher:
    """Turns notifications into calls of the use cases; never waits for anything."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._parts: HostParts | None = None

    def on_notification(self, name: str, arguments: Sequence[Any]) -> None:
        """Take a notification: our own, or a buffer event of Neovim."""
        try:
            if name == "flemma":
                method, payload = arguments
                self._on_message(method, payload or {})
            elif self._parts is not None:
                self._on_buffer_event(self._parts, name, arguments)
        except Exception:
            # One bad message must not end the host; the log has it with its traceback.
            log.exception("message %s failed", name)

    def on_request(self, name: str, arguments: Sequence[Any], response: Response) -> None:
        """Answer one of the few blocking requests of the protocol."""
        payload: Mapping[str, Any] = arguments[0] if arguments else {}
        try:
            response.send(self._answer(name, payload))
        except Exception as error:
            log.exception("request %s failed", name)
            response.send(f"{type(error).__name__}: {error}", error=True)

    def end(self) -> None:
        """The channel closed: end every process that was started."""
        if self._parts is not None:
            self._parts.end()

    def _on_message(self, method: str, payload: Mapping[str, Any]) -> None:
        if method == "start":
            self._start(payload)
        elif method == "shutdown":
            self.end()
            os._exit(0)
        elif self._parts is not None:
            handler = self._parts.handlers.get(method)
            if handler is None:
                log.error("unknown message %s", method)
                return
            handler(payload)

    def _start(self, payload: Mapping[str, Any]) -> None:
        self._parts = build_host(self._connection, payload)
        self._parts.lua.tell(
            "ready",
            {
                "version": protocol.VERSION,
                "plugin_version": flemma.__version__,
                "channel": 0,
                "pid": os.getpid(),
            },
        )
        self._parts.started()

    def _answer(self, name: str, payload: Mapping[str, Any]) -> Any:
        if name == "flemma:ping":
            return {
                "version": flemma.__version__,
                "python": platform.python_version(),
                "pid": os.getpid(),
            }
        if self._parts is None:
            raise RuntimeError("the host has not been started by a `start` message")
        answers: Mapping[str, Callable[[Mapping[str, Any]], Any]] = self._parts.answers
        return answers[name](payload)

    def _on_buffer_event(self, parts: HostParts, name: str, arguments: Sequence[Any]) -> None:
        match name:
            case "nvim_buf_lines_event":
                handle, tick, first, last, lines, _more = arguments
                parts.lines_event(buffer_number(handle), tick, first, last, lines)
            case "nvim_buf_changedtick_event":
                handle, tick = arguments
                parts.tick_event(buffer_number(handle), tick)
            case "nvim_buf_detach_event":
                parts.detached(buffer_number(arguments[0]))
            case _:
                log.debug("ignored notification %s", name)


def buffer_number(handle: Any) -> int:
    """Return the number in a buffer handle, which arrives as a msgpack extension."""
    if isinstance(handle, msgpack.ExtType):
        return int(msgpack.unpackb(handle.data))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return int(getattr(handle, "number", handle))

"""A process that is a host: reads messages from Neovim until the channel closes."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pynvim.msgpack_rpc.async_session import AsyncSession
from pynvim.msgpack_rpc.event_loop import EventLoop
from pynvim.msgpack_rpc.msgpack_stream import MsgpackStream

from flemma.adapters.nvim.connection import SessionConnection
from flemma.host.dispatcher import Dispatcher


def main() -> None:
    """Serve until Neovim closes the channel, then end everything that was started."""
    session = AsyncSession(MsgpackStream(_event_loop()))
    dispatcher = Dispatcher(SessionConnection(session))
    try:
        on_notification = _inside_loop(session, dispatcher.on_notification)
        session.run(dispatcher.on_request, on_notification)  # pyright: ignore[reportUnknownMemberType]
    except (EOFError, OSError):
        # Neovim is gone: that is how a host ends.
        pass
    finally:
        dispatcher.end()
    sys.stderr.flush()
    # Threads of libraries may still wait for the network; nothing of theirs is worth waiting for.
    os._exit(0)


def _event_loop() -> EventLoop:
    """Return the loop that reads the channel, with the standard input out of everyone's reach.

    Programs that a tool starts inherit it; one that reads would swallow messages of Neovim. The
    standard output is looked after by pynvim.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    sys.stdin = os.fdopen(os.dup(0))
    os.dup2(null, 0)
    loop = EventLoop("stdio")
    sys.stdin = os.fdopen(null)
    return loop


def _inside_loop(
    session: AsyncSession, handle: Callable[[str, Sequence[Any]], None]
) -> Callable[[str, Sequence[Any]], None]:
    """Hand over messages only while the loop runs.

    What Neovim sent while pynvim connected is delivered just before it starts the loop, where no
    task can be started yet.
    """

    def on_notification(name: str, arguments: Sequence[Any]) -> None:
        if _is_loop_running():
            handle(name, arguments)
        else:
            session.threadsafe_call(lambda: handle(name, arguments))  # pyright: ignore[reportUnknownMemberType]

    return on_notification


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True

"""`python -m flemma.host`: the process Neovim starts with `jobstart(..., {rpc = true})`."""

import os
import sys

from pynvim.msgpack_rpc.async_session import AsyncSession
from pynvim.msgpack_rpc.event_loop import EventLoop
from pynvim.msgpack_rpc.msgpack_stream import MsgpackStream

from flemma.adapters.nvim.connection import SessionConnection
from flemma.host.dispatcher import Dispatcher


def main() -> None:
    """Serve until Neovim closes the channel, then end everything that was started."""
    session = AsyncSession(MsgpackStream(EventLoop("stdio")))
    dispatcher = Dispatcher(SessionConnection(session))
    try:
        session.run(dispatcher.on_request, dispatcher.on_notification)  # pyright: ignore[reportUnknownMemberType]
    except (EOFError, OSError):
        # Neovim is gone: that is how a host ends.
        pass
    finally:
        dispatcher.end()
    sys.stderr.flush()
    # Threads of libraries may still wait for the network; nothing of theirs is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    main()

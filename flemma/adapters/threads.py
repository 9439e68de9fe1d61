"""Code of users that may block, each call in a thread of its own."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


async def in_own_thread(function: Callable[..., Value], *arguments: Any, name: str) -> Value:
    """Call ``function`` in a new thread and wait for it; raises what it raises.

    Not in the loop's executor: that has few threads, which file operations need as well, and code
    that hangs would keep one for good. When the waiting task is cancelled the thread goes on
    unattended, and nobody waits for it when the process ends.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Value] = loop.create_future()
    context = contextvars.copy_context()

    def finish(value: Value | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)  # pyright: ignore[reportArgumentType]
        else:
            future.set_exception(error)

    def run() -> None:
        value: Value | None = None
        failure: BaseException | None = None
        try:
            value = context.run(function, *arguments)
        except StopIteration as error:
            # A future cannot carry it.
            failure = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:  # noqa: BLE001 - handed to who waits; SystemExit as well
            failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, value, failure)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future

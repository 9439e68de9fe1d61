"""Wait for something to become true, without luck and with a useful word when it does not."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

SHORTEST_PAUSE = 0.002
LONGEST_PAUSE = 0.05


def wait_until(
    check: Callable[[], Found],
    *,
    timeout: float = 10.0,
    message: str | None = None,
    describe: Callable[[], str] | None = None,
) -> Found:
    """Call ``check`` until it returns something true, and return that.

    Raises `AssertionError` after ``timeout`` seconds with ``message``, the last value seen and what
    ``describe`` says of the state of things.
    """
    deadline = time.monotonic() + timeout
    pause = SHORTEST_PAUSE
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > deadline:
            break
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
    wanted = message or getattr(check, "__name__", "the condition")
    state = f"\n{describe()}" if describe else ""
    raise AssertionError(f"after {timeout:g} s still not: {wanted} (last value {found!r}){state}")

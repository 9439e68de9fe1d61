"""Code that blocks runs in threads that hold up nothing else."""

import asyncio
import contextvars
import threading

import pytest

from flemma.adapters.threads import in_own_thread


async def test_the_value_comes_from_a_daemon_thread_of_that_name() -> None:
    def where() -> tuple[str, bool]:
        thread = threading.current_thread()
        return thread.name, thread.daemon

    assert await in_own_thread(where, name="tool x") == ("tool x", True)


async def test_arguments_and_context_variables_arrive() -> None:
    variable = contextvars.ContextVar("variable", default="outside")
    variable.set("inside")
    joined = await in_own_thread(lambda word: f"{variable.get()} {word}", "here", name="t")
    assert joined == "inside here"


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (ValueError("no"), ValueError),
        (SystemExit(3), RuntimeError),
        (KeyboardInterrupt(), RuntimeError),
        (StopIteration(), RuntimeError),
    ],
)
async def test_what_is_raised_is_raised_here_and_ends_nothing(
    raised: BaseException, seen: type[Exception]
) -> None:
    def fail() -> None:
        raise raised

    with pytest.raises(seen):
        await in_own_thread(fail, name="t")


async def test_calls_that_hang_take_no_thread_from_others() -> None:
    never = threading.Event()
    tasks = [
        asyncio.get_running_loop().create_task(in_own_thread(never.wait, name="hangs"))
        for _ in range(50)
    ]
    try:
        assert await asyncio.to_thread(lambda: "file read") == "file read"
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)
    finally:
        never.set()

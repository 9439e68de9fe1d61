"""Calls that are moved, cancelled or broken at the worst moment still get just one result."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from flemma import schema as s
from flemma.app.invoke import ABORTED
from flemma.app.tool_runs import ToolRuns
from flemma.chat.pairing import CallKey
from flemma.chat.query import job_placeholders, job_results
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolResult
from tests.unit.app.memory_buffer import MemoryBuffer
from tests.unit.app.opened_chat import OpenedChat, opened_chat

A = CallKey("a")
TEXT = (
    '@You:\nx\n\n@Assistant:\n**Tool Use:** `held` (`a`)\n```json\n{"flemma.background": %s}\n```\n'
    "\n@You:\n\n**Tool Result:** `a` (approved)\n```\n```\n"
)


@dataclass
class Held:
    """A tool that returns when it is let go."""

    result: ToolResult = field(default_factory=lambda: ToolResult.ok("done"))
    go: asyncio.Event = field(default_factory=asyncio.Event)
    running: asyncio.Event = field(default_factory=asyncio.Event)

    async def execute(self, tool_input: ToolInput, context: ToolContext) -> ToolResult:
        self.running.set()
        await self.go.wait()
        return self.result

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition("held", "held", s.object({}), self.execute, asynchronous=True)


@dataclass
class Bench:
    """One chat with one call of the tool."""

    opened: OpenedChat
    tool: Held

    @property
    def buffer(self) -> MemoryBuffer:
        return cast("MemoryBuffer", self.opened.session.buffer)

    @property
    def runs(self) -> ToolRuns:
        return self.opened.session.runs

    async def start(self) -> None:
        self.runs.start(A, await self.opened.session.settings())

    async def until(self, check: Callable[[], object]) -> None:
        async with asyncio.timeout(5):
            while not check():
                await asyncio.sleep(0)

    async def ended(self) -> None:
        await self.until(lambda: not self.runs.running)

    def job(self) -> str:
        (placeholder,) = job_placeholders(self.buffer.document)
        assert placeholder.node.job_id is not None
        return placeholder.node.job_id

    async def delivered(self) -> list[tuple[str, str]]:
        await self.until(lambda: job_results(self.buffer.document))
        return [(each.node.job_id, each.node.content) for each in job_results(self.buffer.document)]


@pytest.fixture(params=[False])
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    text = TEXT % ("true" if request.param else "false")
    async with opened_chat(text, {"tools": {"autopilot": False}}) as opened:
        tool = Held()
        opened.services.tools.register(tool.definition)
        yield Bench(opened, tool)


in_background = pytest.mark.parametrize("bench", [True], indirect=True)


async def test_a_call_whose_result_is_being_written_stays_in_the_foreground(bench: Bench) -> None:
    await bench.start()
    await bench.tool.running.wait()
    bench.buffer.gate.clear()
    bench.tool.go.set()
    await bench.until(lambda: "done" in bench.buffer.text)
    assert not await bench.runs.move_to_background(A)
    bench.buffer.gate.set()
    await bench.ended()
    assert "**Tool Result:** `a`\n```\ndone\n```" in bench.buffer.text
    assert bench.opened.session.jobs.live_ids == frozenset()


async def test_a_call_that_ends_while_it_moves_is_a_job_with_a_result(bench: Bench) -> None:
    await bench.start()
    await bench.tool.running.wait()
    bench.buffer.gate.clear()
    moving = asyncio.ensure_future(bench.runs.move_to_background(A))
    await bench.until(lambda: job_placeholders(bench.buffer.document))
    bench.tool.go.set()
    bench.buffer.gate.set()
    assert await moving
    await bench.ended()
    assert await bench.delivered() == [(bench.job(), "done")]


async def test_moving_twice_makes_one_job(bench: Bench) -> None:
    await bench.start()
    await bench.tool.running.wait()
    moved = await asyncio.gather(bench.runs.move_to_background(A), bench.runs.move_to_background(A))
    assert sorted(moved) == [False, True]
    assert bench.opened.session.jobs.live_ids == {bench.job()}


async def test_a_call_cancelled_before_it_began_has_a_result(bench: Bench) -> None:
    await bench.start()
    bench.runs.cancel(A)
    await bench.ended()
    assert f"**Tool Result:** `a` (error)\n```\n{ABORTED}\n```" in bench.buffer.text
    assert not bench.tool.running.is_set()


@in_background
async def test_a_job_cancelled_before_it_began_has_a_placeholder_and_a_result(
    bench: Bench,
) -> None:
    await bench.start()
    bench.runs.cancel(A)
    await bench.ended()
    assert await bench.delivered() == [(bench.job(), ABORTED)]
    assert "(approved)" not in bench.buffer.text


@in_background
async def test_a_running_job_that_is_cancelled_twice_has_one_result(bench: Bench) -> None:
    await bench.start()
    await bench.tool.running.wait()
    bench.runs.cancel(A)
    bench.runs.cancel(A)
    await bench.ended()
    assert await bench.delivered() == [(bench.job(), ABORTED)]


@in_background
async def test_what_the_user_wrote_in_place_of_a_job_is_kept(bench: Bench) -> None:
    await bench.start()
    await bench.tool.running.wait()
    running = f" (job={bench.job()})"
    placeholder = next(line for line in bench.buffer.text.split("\n") if "Running" in line)
    bench.buffer.interfere = lambda text: text.replace(running, "").replace(placeholder, "mine")
    bench.tool.go.set()
    await bench.ended()
    ((_, content),) = await bench.delivered()
    assert content == "done"
    assert "**Tool Result:** `a`\n```\nmine\n```" in bench.buffer.text


@in_background
async def test_a_placeholder_that_was_deleted_is_put_back(bench: Bench) -> None:
    await bench.start()
    await bench.tool.running.wait()
    job = bench.job()
    bench.buffer.interfere = lambda text: text[: text.index("\n**Tool Result:**")]
    bench.tool.go.set()
    await bench.ended()
    assert await bench.delivered() == [(job, "done")]
    assert bench.job() == job


async def test_a_result_that_cannot_be_written_down_is_an_error(bench: Bench) -> None:
    bench.tool.result = ToolResult.ok({"a": cast("str", object())})
    bench.tool.go.set()
    await bench.start()
    await bench.ended()
    assert "**Tool Result:** `a` (error)\n```\nTypeError: " in bench.buffer.text

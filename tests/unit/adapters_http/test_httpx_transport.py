"""Http over httpx, against a server on loopback: streaming, cancelling, errors in own words."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from flemma.adapters.http import HttpxTransport
from flemma.conversation.events import (
    Failed,
    Finished,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolUseBroken,
)
from flemma.conversation.messages import Conversation, Message, Role, TextPart
from flemma.errors import ErrorKind, ProviderError
from flemma.ports.http import HttpRequest
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.protocol import Parameters
from tests.support.anthropic_server import (
    AnthropicServer,
    cut,
    error,
    message,
    pause,
    stream_error,
    text,
    tool_use,
)

PROVIDER = AnthropicProvider()
HELLO = Conversation(None, (Message(Role.USER, (TextPart("hello"),)),))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
async def http() -> AsyncIterator[HttpxTransport]:
    transport = HttpxTransport("flemma.nvim/test")
    yield transport
    await transport.close()


def request(url: str, *, timeout: float = 5.0) -> HttpRequest:
    parameters = Parameters("claude-sonnet-4-6", 4000, timeout=timeout, connect_timeout=5.0)
    return PROVIDER.build(HELLO, parameters, (), "key", {"ANTHROPIC_BASE_URL": url})


async def answer(http: HttpxTransport, sent: HttpRequest) -> list[StreamEvent]:
    async with http.stream(sent) as response:
        assert response.status == 200
        decoder = PROVIDER.decoder(response.headers["content-type"])
        events: list[StreamEvent] = []
        async for chunk in response.chunks():
            events += decoder.feed(chunk)
        return [*events, *decoder.finish()]


def words(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_an_answer_is_streamed_whole(http: HttpxTransport) -> None:
    said = "Zwölf Möwen 🐦\u2028" * 20
    async with AnthropicServer([message(text(said, size=3))]) as server:
        events = await answer(http, request(server.url))
    assert words(events) == said
    assert events[-1] == Finished(StopReason.END)
    assert server.requests[0].headers["user-agent"] == "flemma.nvim/test"
    assert server.requests[0].headers["x-api-key"] == "key"


async def test_content_arrives_before_the_answer_is_complete(http: HttpxTransport) -> None:
    server = AnthropicServer([cut(text("first"), ending="hang")])
    async with server, http.stream(request(server.url)) as response:
        decoder = PROVIDER.decoder("")
        async for chunk in response.chunks():
            if words(list(decoder.feed(chunk))) == "first":
                return
    pytest.fail("the stream ended")


async def test_an_error_status_has_its_body_and_headers(http: HttpxTransport) -> None:
    limited = error(429, "rate_limit_error", "slow", headers={"Retry-After": "2"})
    server = AnthropicServer([limited])
    async with server, http.stream(request(server.url)) as response:
        body = b"".join([chunk async for chunk in response.chunks()])
        failed = PROVIDER.error(response.status, response.headers, body)
    assert (failed.kind, failed.retry_after) == (ErrorKind.RATE_LIMIT, 2.0)


async def test_an_error_inside_the_stream_arrives(http: HttpxTransport) -> None:  # S-04
    async with AnthropicServer([stream_error(text("half"))]) as server:
        events = await answer(http, request(server.url))
    assert words(events) == "half"
    assert isinstance(events[-1], Failed)


async def test_a_call_cut_by_the_end_of_the_body_is_broken(http: HttpxTransport) -> None:  # S-09
    broken = cut(tool_use("t", "write", '{"content": "on', closed=False))
    async with AnthropicServer([broken]) as server:
        events = await answer(http, request(server.url))
    assert [event.id for event in events if isinstance(event, ToolUseBroken)] == ["t"]


async def test_cancelling_closes_the_connection_at_once(http: HttpxTransport) -> None:  # S-07
    async with AnthropicServer([cut(text("first"), ending="hang")]) as server:
        started = asyncio.Event()

        async def read() -> None:
            async with http.stream(request(server.url)) as response:
                async for _ in response.chunks():
                    started.set()

        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)
        async with asyncio.timeout(1):
            while not server.disconnects:
                await asyncio.sleep(0)


async def test_a_connection_that_breaks_off_names_the_host(http: HttpxTransport) -> None:
    async with AnthropicServer([cut(text("x"), ending="abort")]) as server:
        with pytest.raises(ProviderError, match="broke off") as caught:
            await answer(http, request(server.url))
    assert caught.value.kind is ErrorKind.BROKEN_STREAM
    assert f"127.0.0.1:{server.port}" in caught.value.message
    assert caught.value.retryable


async def test_silence_ends_with_a_timeout_that_names_the_setting(http: HttpxTransport) -> None:
    async with AnthropicServer([message(pause(30), text("late"))]) as server:
        with pytest.raises(
            ProviderError, match=r"silent for 0\.05 s.*parameters\.timeout"
        ) as caught:
            await answer(http, request(server.url, timeout=0.05))
    assert (caught.value.kind, caught.value.retryable) == (ErrorKind.TIMEOUT, True)


async def test_a_refused_connection_names_the_host(http: HttpxTransport) -> None:
    async with AnthropicServer([]) as server:
        url = server.url
    with pytest.raises(ProviderError, match=r"Could not connect to 127\.0\.0\.1:\d+") as caught:
        await answer(http, request(url))
    assert (caught.value.kind, caught.value.retryable) == (ErrorKind.NETWORK, True)


async def test_an_unknown_host_is_named(http: HttpxTransport) -> None:
    with pytest.raises(ProviderError, match=r"nowhere\.invalid") as caught:
        await answer(http, request("http://nowhere.invalid"))
    assert caught.value.kind is ErrorKind.NETWORK


@pytest.mark.parametrize("url", ["ftp://host", "no-scheme"])
async def test_a_base_url_that_is_none_is_named(http: HttpxTransport, url: str) -> None:
    with pytest.raises(ProviderError, match="Check the base URL") as caught:
        await answer(http, request(url))
    assert caught.value.kind is ErrorKind.INVALID_REQUEST
    assert not caught.value.retryable


async def test_a_proxy_that_cannot_be_used_is_told_in_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "socks9://proxy:1")
    with pytest.raises(ProviderError, match="proxy"):
        await answer(HttpxTransport("x"), request("https://example.invalid"))


def test_httpx_is_imported_on_first_use_only() -> None:
    program = (
        "import sys, flemma.adapters.http, flemma.providers.registry as r\n"
        "r.ProviderRegistry.with_builtins()\n"
        "late = {'httpx', 'yaml', 'genai_prices', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(f'imported too early: {late}' if late else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""The demo model from request to events, through the same path as a real one."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flemma.adapters.demo_transport import DemoTransport
from flemma.adapters.http import SchemeHttp
from flemma.conversation.events import (
    Failed,
    Finished,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDone,
    ToolUseBroken,
    ToolUseDone,
)
from flemma.conversation.messages import (
    Conversation,
    Message,
    Role,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.errors import ErrorKind, ProviderError
from flemma.ports.http import Http, HttpRequest
from flemma.providers.demo.provider import DemoProvider
from flemma.providers.protocol import Parameters


@dataclass
class FakeClock:
    """A clock that only notes how long it was asked to wait."""

    waited: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return datetime(2026, 12, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return sum(self.waited)

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


HELLO = Conversation(None, (Message(Role.USER, (TextPart("hello"),)),))
PROVIDER = DemoProvider()


async def play(
    http: Http, conversation: Conversation, script: Path | None = None
) -> list[StreamEvent]:
    parameters = Parameters("tour", 4000, specific={"script": str(script)} if script else {})
    request = PROVIDER.build(conversation, parameters, (), None, {})
    async with http.stream(request) as response:
        chunks = [chunk async for chunk in response.chunks()]
        if response.status != 200:
            return [Failed(PROVIDER.error(response.status, response.headers, b"".join(chunks)))]
        decoder = PROVIDER.decoder(response.headers["content-type"])
        events = [event for chunk in chunks for event in decoder.feed(chunk)]
        return [*events, *decoder.finish()]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_the_tour_begins_without_network_or_key() -> None:
    clock = FakeClock()
    events = await play(DemoTransport(clock), HELLO)
    assert text_of(events).startswith("Welcome!")
    (call,) = [event for event in events if isinstance(event, ToolUseDone)]
    assert call.name == "read"
    assert Path(str(call.input["path"])).is_file()
    assert events[-1] == Finished(StopReason.TOOL_USE)
    assert PROVIDER.credential() is None
    assert sum(clock.waited) > 0


async def test_its_thinking_comes_back_as_its_own() -> None:
    events = await play(DemoTransport(FakeClock()), HELLO)
    (thinking,) = [event for event in events if isinstance(event, ThinkingDone)]
    part = ThinkingPart(thinking.text, thinking.provider, thinking.signature)
    said = Message(Role.ASSISTANT, (part, TextPart("x")))
    conversation = replace(HELLO, messages=(*HELLO.messages, said, HELLO.messages[0]))
    request = PROVIDER.build(conversation, Parameters("tour", 4000), (), None, {})
    assert b'"type":"thinking"' in request.body


async def test_the_tour_goes_on_from_the_conversation_alone() -> None:
    call = ToolUsePart("tour_shell_4", "bash", {})
    rejection = ToolResultPart(call.id, (TextPart("User feedback: too loud"),), is_error=True)
    conversation = Conversation(
        None,
        (
            HELLO.messages[0],
            Message(Role.ASSISTANT, (call,)),
            Message(Role.USER, (rejection,)),
        ),
    )
    events = await play(DemoTransport(FakeClock()), conversation)
    assert "too loud" in text_of(events)


async def test_an_own_script_is_played_at_its_pace(tmp_path: Path) -> None:
    script = tmp_path / "my replay.yaml"
    script.write_text("pace: {chunk: 2, delay: 0.5}\nturns: [{text: 'abcde'}]", encoding="utf-8")
    clock = FakeClock()
    events = await play(DemoTransport(clock), HELLO, script)
    deltas = [event.text for event in events if isinstance(event, TextDelta)]
    assert deltas == ["ab", "cd", "e"]
    assert clock.waited == [0.5] * 4
    assert events[-1] == Finished(StopReason.END)


async def test_injected_errors_end_after_their_number(tmp_path: Path) -> None:  # S-04
    script = tmp_path / "s.yaml"
    script.write_text(
        "turns: [{text: whole, fail: {type: overloaded_error, message: busy, times: 2}}]",
        encoding="utf-8",
    )
    transport = DemoTransport(FakeClock())
    kinds = []
    for _ in range(3):
        last = (await play(transport, HELLO, script))[-1]
        kinds.append(last.error.kind if isinstance(last, Failed) else last)
    assert kinds == [ErrorKind.OVERLOADED, ErrorKind.OVERLOADED, Finished(StopReason.END)]


async def test_an_injected_status_is_a_response_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text(
        "turns: [{text: x, fail: {type: rate_limit_error, status: 429, retry_after: 3}}]",
        encoding="utf-8",
    )
    (failed,) = await play(DemoTransport(FakeClock()), HELLO, script)
    assert isinstance(failed, Failed)
    assert (failed.error.kind, failed.error.retry_after) == (ErrorKind.RATE_LIMIT, 3.0)


async def test_cuts_can_be_rehearsed(tmp_path: Path) -> None:  # S-09
    script = tmp_path / "s.yaml"
    script.write_text(
        "turns: [{text: half, cut: true}, {tools: [{name: write}], stop: max_tokens}]",
        encoding="utf-8",
    )
    transport = DemoTransport(FakeClock())
    broken = (await play(transport, HELLO, script))[-1]
    assert isinstance(broken, Failed)
    assert broken.error.kind is ErrorKind.BROKEN_STREAM
    answered = (HELLO.messages[0], Message(Role.ASSISTANT, (TextPart("half"),)), HELLO.messages[0])
    events = await play(transport, Conversation(None, answered), script)
    assert [event for event in events if isinstance(event, ToolUseBroken)]


@pytest.mark.parametrize("source", [None, "turns: [{txt: a}]"])
async def test_a_script_that_cannot_be_played_is_named(tmp_path: Path, source: str | None) -> None:
    script = tmp_path / "gone.yaml"
    if source is not None:
        script.write_text(source, encoding="utf-8")
    with pytest.raises(ProviderError, match=r"gone\.yaml"):
        await play(DemoTransport(FakeClock()), HELLO, script)


async def test_the_address_chooses_the_transport() -> None:
    class Network:
        """Remembers what it was asked to send."""

        asked: list[str] = []  # noqa: RUF012 - lives for one test

        def stream(self, request: HttpRequest):
            self.asked.append(request.url)
            return DemoTransport(FakeClock()).stream(replace(request, url="demo:"))

    network = Network()
    http = SchemeHttp(network, FakeClock())
    assert text_of(await play(http, HELLO)).startswith("Welcome!")
    assert network.asked == []
    request = HttpRequest("https://example.org/v1/messages", {}, b'{"messages": []}')
    async with http.stream(request):
        assert network.asked == ["https://example.org/v1/messages"]

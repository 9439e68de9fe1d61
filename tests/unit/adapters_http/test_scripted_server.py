"""The scripted server itself: it plays its script and refuses what the API refuses."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.anthropic_server import (
    AnthropicServer,
    cut,
    error,
    from_script,
    message,
    serving,
    text,
    tool_use,
)

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}


def body(*messages: dict[str, object]) -> dict[str, object]:
    return {
        "model": "claude-sonnet-4-6",
        "max_tokens": 100,
        "stream": True,
        "messages": list(messages),
    }


HELLO = body({"role": "user", "content": "hello"})


async def test_replies_are_played_in_order() -> None:
    replies = [message(text("one")), error(529, "overloaded_error", "busy")]
    async with AnthropicServer(replies) as server, httpx.AsyncClient() as client:
        first = await client.post(f"{server.url}/v1/messages", json=HELLO, headers=HEADERS)
        second = await client.post(f"{server.url}/v1/messages", json=HELLO, headers=HEADERS)
    assert '"text": "one"' in first.text
    assert first.text.rstrip().endswith('data: {"type": "message_stop"}')
    assert (second.status_code, second.json()["error"]["type"]) == (529, "overloaded_error")
    assert server.requests[0].json == HELLO


async def test_a_broken_rule_is_answered_with_400_and_fails_the_test() -> None:
    unanswered = body(
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}],
        },
        {"role": "user", "content": "no result"},
    )
    server = AnthropicServer([message(text("never"))])
    await server.start()
    async with httpx.AsyncClient() as client:
        reply = await client.post(f"{server.url}/v1/messages", json=unanswered, headers=HEADERS)
    await server.stop()
    assert reply.status_code == 400
    with pytest.raises(AssertionError, match="without `tool_result` blocks immediately after: a"):
        server.check()


async def test_an_aborted_connection_reaches_the_client_as_an_error() -> None:
    async with (
        AnthropicServer([cut(text("half"), ending="abort")]) as server,
        httpx.AsyncClient() as client,
    ):
        with pytest.raises(httpx.HTTPError):
            await client.post(f"{server.url}/v1/messages", json=HELLO, headers=HEADERS)


def test_it_serves_synchronous_code_and_records_to_a_file(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with serving([from_script({"blocks": [{"text": "hi"}]})], record=log) as server:
        httpx.post(f"{server.url}/v1/messages", json=HELLO, headers=HEADERS)
    assert json.loads(log.read_text())["body"] == HELLO


def test_a_string_input_of_a_tool_use_is_sent_as_it_is() -> None:
    reply = message(tool_use("t1", "read", '{"path": "a', closed=False), stop_reason="max_tokens")
    sent = b"".join(part for part in reply.body if isinstance(part, bytes))
    assert b"content_block_stop" not in sent
    assert b'{\\"path\\": \\"a' in sent


def test_it_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- hi\n- error: {status: 529, type: overloaded_error, message: busy}\n")
    command = [sys.executable, "-m", "tests.support.anthropic_server", str(script)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{process.stdout.readline().strip()}/v1/messages"
            replies = [httpx.post(url, json=HELLO, headers=HEADERS) for _ in range(2)]
        finally:
            process.terminate()
    assert [reply.status_code for reply in replies] == [200, 529]

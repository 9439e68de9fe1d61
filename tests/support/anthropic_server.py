"""A scripted Anthropic Messages server on loopback, for tests without a network.

In an async test::

    async with AnthropicServer([message(text("hi"))]) as server:
        ...  # point ANTHROPIC_BASE_URL at server.url
    assert server.requests[0].json["model"] == "..."

From synchronous code use `serving([...])`. As a process of its own, for tests with a real editor::

    python -m tests.support.anthropic_server script.yaml --port-file port [--record log.jsonl]

The script is a YAML list (see :func:`tests.support.anthropic_replies.from_script`). Replies are
used in order, one per request that passes :mod:`tests.support.anthropic_rules`. A request that
breaks a rule is answered with 400, uses up no reply, is kept in `violations`, and makes leaving the
context fail unless the server was made with ``strict=False``.
"""

import argparse
import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.anthropic_replies import (
    Block,
    Pause,
    Piece,
    Reply,
    cut,
    error,
    from_script,
    message,
    pause,
    raw,
    redacted,
    sse,
    stream_error,
    text,
    thinking,
    tool_use,
)
from tests.support.anthropic_rules import violations

__all__ = [
    "AnthropicServer", "Block", "Pause", "Piece", "Recorded", "Reply", "cut", "error",
    "from_script", "message", "pause", "raw", "redacted", "serving", "sse", "stream_error", "text",
    "thinking", "tool_use", "violations",
]  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """One request as it arrived; header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The parsed body."""
        return json.loads(self.body)


Answer: TypeAlias = "Reply | Callable[[Recorded], Reply]"


@dataclass
class AnthropicServer:
    """Plays ``replies`` in order and records what it was asked."""

    replies: Sequence[Answer]
    strict: bool = True
    repeat_last: bool = False
    """Whether the last reply is used again when the script is at its end."""
    record: Path | None = None
    requests: list[Recorded] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    disconnects: int = 0
    """Responses that the client closed before they were complete."""
    _used: int = 0
    _port: int = 0
    _server: asyncio.Server | None = None
    _handlers: set["asyncio.Task[None]"] = field(default_factory=set)

    async def __aenter__(self) -> "AnthropicServer":
        await self.start()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.stop()
        if failure[0] is None:
            self.check()

    def check(self) -> None:
        """Fail if a request broke a rule of the API."""
        if self.strict and self.violations:
            raise AssertionError("requests broke rules of the API:\n" + "\n".join(self.violations))

    @property
    def port(self) -> int:
        """The port it listens on; still known after it stopped."""
        assert self._port, "the server is not started"
        return self._port

    @property
    def url(self) -> str:
        """The base URL, for ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen on an ephemeral port of the loopback interface."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the socket and every connection."""
        assert self._server is not None
        self._server.close()
        for task in list(self._handlers):
            task.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        try:
            request = await _read_request(reader)
            if request is not None:
                await self._send(self._answer(request), reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.disconnects += 1
        finally:
            self._handlers.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    def _answer(self, request: Recorded) -> Reply:
        self.requests.append(request)
        problems = violations(request.headers, request.body)
        if request.path.endswith("/count_tokens"):
            return raw('{"input_tokens": 42}', content_type="application/json")
        if not request.path.endswith("/v1/messages"):
            return error(404, "not_found_error", f"no route {request.path}")
        number = len(self.requests)
        if not problems and self._used >= len(self.replies) and not self.repeat_last:
            problems = ["the script has no reply left"]
        self.violations += [f"request {number}: {problem}" for problem in problems]
        self._log(request, problems)
        if problems:
            return error(400, "invalid_request_error", problems[0])
        answer = self.replies[min(self._used, len(self.replies) - 1)]
        self._used += 1
        return answer(request) if callable(answer) else answer

    def _log(self, request: Recorded, problems: list[str]) -> None:
        if self.record is None:
            return
        line = {"path": request.path, "headers": request.headers, "body": request.json}
        with self.record.open("a", encoding="utf-8") as log:
            log.write(json.dumps({**line, "violations": problems}) + "\n")

    async def _send(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = [f"HTTP/1.1 {reply.status} X", "transfer-encoding: chunked", "connection: close"]
        head += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        for item in reply.body:
            if isinstance(item, float | int):
                await _wait_or_disconnect(reader, float(item))
                continue
            writer.write(f"{len(item):x}\r\n".encode() + item + b"\r\n")
            await writer.drain()
        if reply.ending == "abort":
            writer.transport.abort()
        elif reply.ending == "hang":
            await _wait_or_disconnect(reader, 3600)
        else:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


async def _wait_or_disconnect(reader: asyncio.StreamReader, seconds: float) -> None:
    """Be silent; a client that goes away ends it at once."""
    try:
        await asyncio.wait_for(reader.read(1), seconds)
    except TimeoutError:
        return
    raise ConnectionResetError("the client went away")


async def _read_request(reader: asyncio.StreamReader) -> Recorded | None:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    path = lines[0].split(" ")[1]
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(path, headers, body)


@contextlib.contextmanager
def serving(replies: Sequence[Answer], **options: Any) -> Iterator[AnthropicServer]:
    """Run a server in a thread of its own; for tests that are not async."""
    server = AnthropicServer(replies, **options)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="anthropic-server")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        yield server
        server.check()
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _main(script: Path, port_file: Path | None, record: Path | None) -> None:
    import yaml

    entries = yaml.safe_load(script.read_text(encoding="utf-8"))
    server = AnthropicServer([from_script(entry) for entry in entries], record=record)
    await server.start()
    if port_file is None:
        print(server.port, flush=True)
    else:
        # Renamed into place, so that a reader never meets an empty file.
        partial = port_file.with_suffix(".partial")
        partial.write_text(str(server.port), encoding="utf-8")
        partial.rename(port_file)
    await asyncio.Event().wait()


def main() -> None:
    """Serve a YAML script until the process is ended."""
    parser = argparse.ArgumentParser(description="Scripted Anthropic server on loopback")
    parser.add_argument("script", type=Path)
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(options.script, options.port_file, options.record))


if __name__ == "__main__":
    main()

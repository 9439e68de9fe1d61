"""Http for `demo:` addresses: answers from a script, in this process."""

import asyncio
import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from flemma.errors import ConfigError, ErrorKind, ProviderError
from flemma.ports.clock import Clock
from flemma.ports.http import HttpRequest
from flemma.providers.demo.play import choose_turn, fill_in, situation
from flemma.providers.demo.provider import PACKAGED, script_path
from flemma.providers.demo.script import Failure, Script, Turn, parse_script
from flemma.providers.demo.wire import Frame, error_body, stream_frames

_STATUS_HEADERS = {"content-type": "application/json"}
_STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class DemoResponse:
    """A response that plays frames in time."""

    clock: Clock
    status: int
    headers: Mapping[str, str]
    frames: tuple[Frame, ...] = field(default=())

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield each frame when its time has come."""
        for frame in self.frames:
            if frame.delay > 0:
                await self.clock.sleep(frame.delay)
            yield frame.data


class DemoTransport:
    """Plays scripts. Remembers nothing but how often a request met an injected error."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: Counter[str] = Counter()

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncGenerator[DemoResponse, None]:
        """Answer ``request``. Raises :class:`ProviderError` for a script that cannot be played."""
        path = script_path(request.url)
        directory, script = await asyncio.to_thread(_load, path)
        now = situation(json.loads(request.body))
        chosen = choose_turn(script, now)
        turn = fill_in(chosen, now, {"directory": directory, "scratch": scratch_directory()})
        yield self._respond(turn, script, request.body, self._failure(turn, request))

    def _failure(self, turn: Turn, request: HttpRequest) -> Failure | None:
        """Return the error to inject, as long as this very request has not met it often enough."""
        if turn.fail is None:
            return None
        key = hashlib.sha256(request.url.encode() + request.body).hexdigest()
        self._failures[key] += 1
        return turn.fail if self._failures[key] <= turn.fail.times else None

    def _respond(
        self, turn: Turn, script: Script, body: bytes, failure: Failure | None
    ) -> DemoResponse:
        if failure is not None and failure.status is not None:
            headers = dict(_STATUS_HEADERS)
            if failure.retry_after is not None:
                headers["retry-after"] = f"{failure.retry_after:g}"
            frame = Frame(0.0, error_body(failure))
            return DemoResponse(self._clock, failure.status, headers, (frame,))
        frames = stream_frames(turn, turn.pace or script.pace, len(body) // 4, failure)
        return DemoResponse(self._clock, 200, _STREAM_HEADERS, tuple(frames))


def _load(path: str | None) -> tuple[str, Script]:
    """Return the script's directory and the script; runs in a thread."""
    source = (
        Path(path).expanduser()
        if path
        else Path(str(files("flemma.providers.demo") / "scripts" / PACKAGED))
    )
    try:
        text = source.read_text(encoding="utf-8")
        return str(source.parent), parse_script(text, str(source))
    except (OSError, UnicodeDecodeError) as problem:
        raise _unplayable(
            f"Cannot read the demo script {source}: {problem}. "
            "Set parameters.demo.script to a YAML file, or leave it out for the tour."
        ) from problem
    except ConfigError as problem:
        raise _unplayable(problem.message) from problem


def _unplayable(message: str) -> ProviderError:
    return ProviderError(message, kind=ErrorKind.INVALID_REQUEST)


def scratch_directory() -> str:
    """Return the directory for files that a script makes; one per user, in the temporary place."""
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return str(Path(tempfile.gettempdir()) / f"flemma-tour-{owner}")

"""Runs of the real engine over real files, against a scripted server or the demo provider."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from flemma import extensions
from flemma.adapters import composition
from flemma.adapters.clock import SystemClock
from flemma.headless.options import RunOptions
from flemma.headless.run import HeadlessRun, Output
from tests.support.anthropic_server import Answer, AnthropicServer, serving
from tests.support.processes import MARKER, end_marked, marked
from tests.support.wait import wait_until

LONG = 0.7
"""Seconds from which on a hurried clock does not really wait; a first retry waits at least 0.75."""
DEADLINES = 20.0
"""Seconds from which on a wait is a deadline, which must not come early."""


class HurriedClock(SystemClock):
    """The system's clock, but long waits (before a retry, say) are over at once."""

    waited: list[float]

    def __init__(self) -> None:
        self.waited = WAITED

    async def sleep(self, seconds: float) -> None:
        """Wait; long waits are noted and cut short."""
        if LONG <= seconds < DEADLINES:
            self.waited.append(seconds)
        await super().sleep(0.001 if LONG <= seconds < DEADLINES else seconds)

    def now(self) -> datetime:
        """Return the time of the system."""
        return super().now()


WAITED: list[float] = []


@dataclass(frozen=True)
class Ran:
    """What one run left behind."""

    report: Mapping[str, Any]
    transcript: str
    notices: str
    text: str
    """The file as it is now."""

    @property
    def code(self) -> int:
        """The exit code."""
        return self.report["exit_code"]

    @property
    def messages(self) -> list[str]:
        """The notifications."""
        return [entry["message"] for entry in self.report["notifications"]]


@dataclass
class Chat:
    """A chat file in a directory of its own, and the means to run it."""

    path: Path
    environment: dict[str, str]
    marker: str
    server: AnthropicServer | None = None
    children: list["subprocess.Popen[str]"] = field(default_factory=list["subprocess.Popen[str]"])

    @property
    def directory(self) -> Path:
        """Where the file stands."""
        return self.path.parent

    @property
    def text(self) -> str:
        """The file as it is now."""
        return self.path.read_bytes().decode()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all requests the server took."""
        assert self.server is not None
        return [request.json for request in self.server.requests]

    def write(self, text: str) -> None:
        """Put ``text`` into the file."""
        self.path.write_bytes(text.encode())

    def replace(self, old: str, new: str, count: int = 1) -> None:
        """Edit the file, as a user would between two runs."""
        assert self.text.count(old) == count, self.text
        self.write(self.text.replace(old, new))

    def configure(self, options: Mapping[str, Any]) -> None:
        """Write the user's options file."""
        directory = Path(self.environment["XDG_CONFIG_HOME"], "flemma")
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "config.json").write_text(json.dumps(options))

    def run(self, *replies: Answer, strict: bool = True, **options: Any) -> Ran:
        """Run in this process; the server plays ``replies``, and all of them are asked for."""
        with serving(replies, strict=strict) as self.server:
            os.environ["ANTHROPIC_BASE_URL"] = self.server.url
            ran = self.play(**options)
        asked = len(self.server.requests)
        assert not strict or asked == len(replies), f"{asked} requests\n{ran.notices}\n{ran.text}"
        return ran

    def play(self, **options: Any) -> Ran:
        """Run in this process, with whatever provider the file or the options name."""
        transcript: list[str] = []
        notices: list[str] = []
        given = replace(RunOptions(file=str(self.path)), **options)

        async def go() -> Mapping[str, Any]:
            run = HeadlessRun(given, Output(transcript.append, notices.append))
            return await asyncio.wait_for(run.run(), 30)

        report = asyncio.run(go())
        return Ran(report, "".join(transcript), "".join(notices), self.text)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Run the real command line in a process of its own."""
        child = subprocess.Popen(
            [sys.executable, "-m", "flemma.headless", "run", self.path.name, *arguments],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(child)
        return child

    def finish(self, child: "subprocess.Popen[str]", *, timeout: float = 20) -> Ran:
        """Wait for the end of a process."""
        out, err = child.communicate(timeout=timeout)
        report = {"exit_code": child.returncode, "notifications": []}
        return Ran(report, out, err, self.text)

    def serve(self, server: AnthropicServer) -> None:
        """Let processes ask ``server``."""
        self.server = server
        self.environment["ANTHROPIC_BASE_URL"] = server.url

    @property
    def processes(self) -> list[int]:
        """Every process that was started for this chat and still lives."""
        return marked(self.marker)

    def wait_for_silence(self) -> None:
        """Wait until everything that was started for this chat is gone; fail if it stays."""
        wait_until(lambda: not self.processes, message="no process is left")

    def wait_for(self, check: Callable[[str], object], message: str) -> None:
        """Wait until the file is as wanted."""
        wait_until(
            lambda: check(self.text), message=message, timeout=20, describe=lambda: self.text
        )


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    """A chat in an environment of its own, with commands unconfined so that they need a word."""
    directory = tmp_path / "work"
    directory.mkdir()
    marker = uuid.uuid4().hex
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "ANTHROPIC_API_KEY": "key-for-tests",
        MARKER: marker,
        **{f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "STATE")},
    }
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "XDG_")):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    # Set while a run is under way; restored by hand, since monkeypatch saw it unset.
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.chdir(directory)
    # What modules register stays for the life of a process, which here has many runs.
    monkeypatch.setattr(extensions, "_entries", {})
    made = Chat(directory / "notes.chat", environment, marker)
    made.configure({"sandbox": {"enabled": False}})
    yield made
    for child in made.children:
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
        child.communicate()
    end_marked(marker)


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Hurry: the waits of a second and more that a run would have made."""
    WAITED.clear()
    monkeypatch.setattr(composition, "SystemClock", HurriedClock)
    return WAITED

"""What a running conversation costs: the answer's stream, the first key, and the way out."""

import json
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

from scripts.neovim import ROOT
from tests.bench.measure import Measurement, stopwatch
from tests.bench.samples import UNRESOLVED, chat
from tests.support.nvim import Editor
from tests.support.processes import is_alive
from tests.support.wait import wait_until

DELTAS = 20_000
DELTA = 12
"""Characters of a piece."""
PARAGRAPH = "Words of an answer that goes on and on, with a list of things to do after it.\n\n"


@contextmanager
def anthropic(*replies: Any) -> Generator[dict[str, str]]:
    """Serve ``replies`` in a process of its own and give the environment that leads there."""
    with tempfile.TemporaryDirectory() as name:
        script, port = Path(name) / "script.yaml", Path(name) / "port"
        script.write_text(json.dumps(replies))
        command = [sys.executable, "-m", "tests.support.anthropic_server", str(script)]
        with Popen([*command, "--port-file", str(port)], cwd=ROOT) as server:
            try:
                wait_until(port.exists, message="the scripted server")
                yield {
                    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port.read_text()}",
                    "ANTHROPIC_API_KEY": "key-of-the-benchmark",
                }
            finally:
                server.kill()


@contextmanager
def conversation(text: str, environment: dict[str, str]) -> Generator[Editor]:
    """An editor with ``text`` as an open chat and a host that is ready."""
    # With a sandbox a command would be approved at once, and the placeholder would not stay.
    options = {"provider": "anthropic", "tools": {"auto_approve_sandboxed": False}}
    with Editor(options=options, environment=environment) as editor:
        path = editor.directory / "run.chat"
        path.write_text(text)
        editor.open(path)
        editor.wait_for_host()
        editor.keys("G")
        yield editor


def stream_burst() -> list[Measurement]:
    """Receive an answer of 20,000 pieces as fast as the server can send it."""
    length = DELTAS * DELTA
    text = (PARAGRAPH * (length // len(PARAGRAPH) + 1))[:length].rstrip()
    reply = {"blocks": [{"text": text, "size": DELTA}]}
    with (
        anthropic(reply) as environment,
        conversation("@You:\nGo on.\n", environment) as editor,
        editor.measure_blocking() as pause,
        stopwatch() as watch,
    ):
        editor.keys("<C-]>")
        editor.wait_until(
            lambda: editor.request("nvim_buf_line_count", 0) > 1000 and _asks_again(editor),
            timeout=120,
            message="the whole answer and a new prompt",
        )
    return [
        Measurement("an answer of 20,000 pieces", 5000, watch.elapsed),
        Measurement("longest pause meanwhile", 50, pause.longest),
    ]


def _asks_again(editor: Editor) -> bool:
    return "@You:" in editor.request("nvim_buf_get_lines", 0, -3, -1, False)


def first_key() -> list[Measurement]:
    """From Ctrl-] in a chat of 0.5 MB until the placeholder of its tool call is shown."""
    with (
        anthropic() as environment,
        conversation(chat(500_000, ending=UNRESOLVED), environment) as editor,
        stopwatch() as watch,
    ):
        editor.keys("<C-]>")
        editor.wait_until(lambda: "(pending)" in _tail(editor), message="the placeholder")
    return [Measurement("Ctrl-] to placeholders in a chat of 0.5 MB", 100, watch.elapsed)]


def _tail(editor: Editor) -> str:
    return "\n".join(editor.request("nvim_buf_get_lines", 0, -10, -1, False))


def leaving() -> list[Measurement]:
    """Quit while one chat streams and a command runs in another."""
    endless = {"blocks": [{"text": "x " * 10_000, "size": 2}], "delay": 0.01}
    with (
        anthropic(endless) as environment,
        conversation("@You:\nGo on.\n", environment) as editor,
    ):
        editor.keys("<C-]>")
        editor.wait_for_text("x x")
        other = editor.directory / "other.chat"
        sleeping = UNRESOLVED.replace("make test", "sleep 300")
        other.write_text(f"@You:\nGo.\n\n{sleeping}")
        editor.command("set hidden")
        editor.open(other)
        editor.keys("G<M-CR>")
        editor.wait_until(lambda: len(editor.processes()) > 2, message="a running command")
        started = time.perf_counter()
        editor.keys_without_answer(":qa!<CR>")
        wait_until(lambda: not is_alive(editor.pid), message="the end of Neovim")
        gone = time.perf_counter()
        wait_until(lambda: not editor.processes(), message="the end of all processes")
        cleared = time.perf_counter()
    return [
        Measurement(":qa! with everything running", 200, (gone - started) * 1000),
        Measurement("all processes gone after that", 1000, (cleared - gone) * 1000),
    ]


ALL = (stream_burst, first_key, leaving)

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
from tests.bench.editor_speed import IDLE, RUNS
from tests.bench.measure import Measurement, stopwatch, until
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
        # Past what the host does once after its start, and for a large chat past its drawing.
        time.sleep(IDLE + len(text) / 1_000_000)
        yield editor


def stream_burst() -> list[Measurement]:
    """Receive an answer of 20,000 pieces as fast as the server can send it."""
    runs = [_stream(DELTAS) for _ in range(RUNS)]
    elapsed, pause = map(min, zip(*runs, strict=True))
    twice = min(_stream(2 * DELTAS)[0] for _ in range(RUNS))
    return [
        Measurement("an answer of 20,000 pieces", 2000, elapsed),
        Measurement("longest pause meanwhile", 30, pause),
        Measurement("an answer of 40,000 pieces", 4000, twice),
    ]


def _stream(pieces: int) -> tuple[float, float]:
    length = pieces * DELTA
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
    return watch.elapsed, pause.longest


def _asks_again(editor: Editor) -> bool:
    return "@You:" in editor.request("nvim_buf_get_lines", 0, -3, -1, False)


def first_key() -> list[Measurement]:
    """From Ctrl-] until the placeholder of a tool call is shown."""
    return [
        Measurement(f"Ctrl-] to placeholders in a chat of {name} MB", target, _first_key(size))
        for name, size, target in (("0.5", 500_000, 30), ("5", 5_000_000, 100))
    ]


def _first_key(size: int) -> float:
    text = chat(size, ending=UNRESOLVED)
    elapsed: list[float] = []
    for _ in range(RUNS):
        with anthropic() as environment, conversation(text, environment) as editor:
            with stopwatch() as watch:
                editor.keys("<C-]>")
                until(lambda: "(pending)" in _tail(editor))
            elapsed.append(watch.elapsed)
    return min(elapsed)


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

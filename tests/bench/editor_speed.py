"""What the plugin costs the editor: at start, on opening, while typing."""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from scripts.neovim import ROOT, find_neovim
from tests.bench.measure import Measurement, median_of, percentile, stopwatch
from tests.bench.samples import chat
from tests.support.nvim import Editor

STARTS = 15
SETUP = 'lua require("flemma").setup({})'
KEYS = 300
TYPED = "The quick brown fox jumps over the lazy dog. "


def plugin_start() -> list[Measurement]:
    """Start Neovim with and without the plugin, in turns, without opening a chat."""
    with_plugin: list[float] = []
    without: list[float] = []
    for _ in range(STARTS):
        without.append(_start_time())
        with_plugin.append(_start_time("--cmd", f"set runtimepath^={ROOT}", "-c", SETUP))
    cost = statistics.median(with_plugin) - statistics.median(without)
    return [Measurement("added to Neovim's start, no chat open", 2, max(cost, 0.01))]


def _start_time(*arguments: str) -> float:
    neovim = find_neovim()
    assert neovim
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        command = [neovim, "--clean", "--headless", "--startuptime", str(log), *arguments, "+qa"]
        subprocess.run(command, check=True, capture_output=True)
        started = [line for line in log.read_text().splitlines() if "NVIM STARTED" in line]
    return float(started[-1].split()[0])


def host_start() -> list[Measurement]:
    """From opening the first chat until the host is ready, and what the editor feels of it."""
    pauses: list[float] = []

    def start() -> float:
        with Editor(options={"provider": "demo"}) as editor, stopwatch() as ready:
            with editor.measure_blocking() as pause:
                editor.open(editor.directory / "new.chat")
                editor.wait_for_host()
            pauses.append(pause.longest)
        return ready.elapsed

    elapsed = median_of(5, start)
    return [
        Measurement("host ready after opening a chat", 500, elapsed),
        Measurement("longest pause meanwhile", 50, statistics.median(pauses)),
    ]


def open_large_chat() -> list[Measurement]:
    """Open a chat of 5 MB while the host runs, until its last message is decorated."""
    with Editor(options={"provider": "demo"}) as editor:
        editor.open(editor.directory / "small.chat")
        editor.wait_for_host()
        path = editor.directory / "large.chat"
        path.write_text(chat(5_000_000))
        with editor.measure_blocking() as pause, stopwatch() as drawn:
            editor.open(path)
            last = len(editor.lines()) - 1
            editor.wait_until(
                lambda: any(mark.row >= last - 3 for mark in editor.extmarks()),
                timeout=60,
                message="marks at the last message",
            )
        plain = _open_without_plugin(path)
    return [
        Measurement("5 MB chat opened and drawn", 2000, drawn.elapsed),
        Measurement("longest pause meanwhile", max(50.0, 1.5 * plain), pause.longest),
    ]


def _open_without_plugin(path: Path) -> float:
    """The pause that Neovim itself needs to read the file, which no plugin can avoid."""
    with Editor(plugin=False) as editor, editor.measure_blocking() as pause:
        editor.open(path)
    return pause.longest


def typing() -> list[Measurement]:
    """Type into a chat of 20,000 lines, from the key until Neovim has taken it in."""
    with Editor(options={"provider": "demo"}) as editor:
        path = editor.directory / "long.chat"
        path.write_text(chat(700_000))
        editor.open(path)
        editor.wait_for_host()
        editor.keys("Go")
        latencies = [_key(editor, TYPED[number % len(TYPED)]) for number in range(KEYS)]
    return [
        Measurement("a key in a chat of 20,000 lines, median", 5, statistics.median(latencies)),
        Measurement("the slowest of 100 keys", 16, percentile(latencies, 0.99)),
    ]


def _key(editor: Editor, key: str) -> float:
    with stopwatch() as watch:
        editor.keys(key)
    # A fast typist, so that the host's work falls between and under the keys as it would.
    time.sleep(0.01)
    return watch.elapsed


ALL = (plugin_start, host_start, open_large_chat, typing)

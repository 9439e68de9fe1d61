"""What the plugin costs the editor: at start, on opening, while typing."""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scripts.neovim import ROOT, find_neovim
from tests.bench.measure import Measurement, cpu_time, percentile, stopwatch, until
from tests.bench.samples import chat
from tests.support.nvim import Editor

STARTS = 15
RUNS = 5
"""How often a start is measured; the quickest counts, as other processes only ever add."""
LARGE = 5_000_000
IDLE = 2.0
"""Seconds after which a host has done everything it does after the first paint."""
SETUP = 'lua require("flemma").setup({})'
KEYS = 300
TYPED = "The quick brown fox jumps over the lazy dog. "
IS_READY = 'return require("flemma.host").status() == "ready"'


def plugin_start() -> list[Measurement]:
    """Start Neovim with and without the plugin, in turns, without opening a chat."""
    with_plugin: list[float] = []
    without: list[float] = []
    for _ in range(STARTS):
        without.append(_start_time())
        with_plugin.append(_start_time("--cmd", f"set runtimepath^={ROOT}", "-c", SETUP))
    cost = min(with_plugin) - min(without)
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
    """From opening the first chat until the host is ready, the chat is painted, a key answered."""
    runs = [_start_host() for _ in range(RUNS)]
    ready, painted, answered, pause = map(min, zip(*runs, strict=True))
    return [
        Measurement("host ready after opening a chat", 250, ready),
        Measurement("chat painted after that opening", 300, painted),
        Measurement("key pressed as soon as the host is ready, answered", 400, answered),
        Measurement("longest pause meanwhile", 50, pause),
    ]


def _start_host() -> tuple[float, float, float, float]:
    with Editor(options={"provider": "demo"}) as editor:
        path = editor.directory / "new.chat"
        path.write_text("@You:\nA question.\n\n@Assistant:\nAn answer.\n\n@You:\nAnother one.\n")
        opened = time.perf_counter()

        def since(check: Callable[[], object]) -> float:
            until(check)
            return (time.perf_counter() - opened) * 1000

        with editor.measure_blocking() as pause:
            editor.open(path)
            ready = since(lambda: editor.exec_lua(IS_READY))
            # Answered by a message. No Ctrl-C: Neovim takes it for itself while it is busy.
            editor.keys(":Flemma cancel<CR>")
            painted = since(editor.extmarks)
            answered = since(editor.notifications)
        return ready, painted, answered, pause.longest


def open_large_chat() -> list[Measurement]:
    """Open a chat of 5 MB while the host runs, until its last message is decorated."""
    runs = [_open_large_chat() for _ in range(RUNS)]
    drawn, pause = map(min, zip(*runs, strict=True))
    plain = min(_open_without_plugin() for _ in range(RUNS))
    return [
        Measurement("5 MB chat opened and its end painted", 1000, drawn),
        Measurement("longest pause until all is drawn", 50, pause),
        Measurement("of it Neovim's own, without the plugin", 50, plain),
    ]


def _open_large_chat() -> tuple[float, float]:
    with Editor(options={"provider": "demo"}) as editor:
        editor.open(editor.directory / "small.chat")
        editor.wait_for_host()
        path = editor.directory / "large.chat"
        path.write_text(chat(LARGE))
        time.sleep(IDLE)
        with editor.measure_blocking() as pause:
            with stopwatch() as drawn:
                editor.open(path)
                last = editor.request("nvim_buf_line_count", 0) - 3
                until(lambda: _has_marks(editor, last, -1))
            until(lambda: _has_marks(editor, 0, 5))
        return drawn.elapsed, pause.longest


def _has_marks(editor: Editor, first: int, last: int) -> bool:
    """Tell whether something is drawn on lines, without asking for all there is."""
    found = editor.request(
        "nvim_buf_get_extmarks", 0, -1, [first, 0], last if last < 0 else [last, 0], {"limit": 1}
    )
    return bool(found)


def _open_without_plugin() -> float:
    """The pause that Neovim itself needs to read the file, which no plugin can avoid."""
    with Editor(plugin=False) as editor:
        path = editor.directory / "large.chat"
        path.write_text(chat(LARGE))
        with editor.measure_blocking() as pause:
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


def work_of_a_key() -> list[Measurement]:
    """Type into a chat of 5 MB and add up what the host computes."""
    with Editor(options={"provider": "demo"}) as editor:
        path = editor.directory / "large.chat"
        path.write_text(chat(LARGE))
        editor.open(path)
        host = editor.wait_for_host()
        until(lambda: _has_marks(editor, 0, 5))
        time.sleep(IDLE)
        editor.keys("Go")
        time.sleep(IDLE)
        before = cpu_time(host)
        for number in range(KEYS):
            _key(editor, TYPED[number % len(TYPED)])
        worked = cpu_time(host) - before
        editor.keys("<Esc>")
        time.sleep(IDLE)
        before = cpu_time(host)
        time.sleep(IDLE)
        idle = cpu_time(host) - before
    return [
        Measurement("work of the host for a key in a chat of 5 MB", 2, worked / KEYS),
        Measurement("work of the host in 2 s of which nothing happens", 2, idle),
    ]


def _key(editor: Editor, key: str) -> float:
    with stopwatch() as watch:
        editor.keys(key)
    # A fast typist, so that the host's work falls between and under the keys as it would.
    time.sleep(0.01)
    return watch.elapsed


ALL = (plugin_start, host_start, open_large_chat, typing, work_of_a_key)

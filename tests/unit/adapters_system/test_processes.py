"""Real commands, their output and their end (cases X-01 to X-22)."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flemma.adapters.processes import SystemProcesses
from flemma.adapters.processes.guard import __file__ as guard_file
from flemma.adapters.processes.tree import MARK_VARIABLE
from flemma.errors import ProcessError
from flemma.ports.processes import ProcessOutcome, ProcessSpec
from tests.support.processes import is_alive
from tests.support.wait import wait_until

REPOSITORY = Path(__file__).parents[3]

ENDED = ProcessOutcome(0, None, survivors=False)


@pytest.fixture
async def processes() -> AsyncIterator[SystemProcesses]:
    made = SystemProcesses()
    yield made
    made.kill_all()


class Shell:
    """Runs shell lines and keeps what they wrote."""

    def __init__(self, processes: SystemProcesses, cwd: Path) -> None:
        self.processes = processes
        self.cwd = cwd
        self.output = b""

    def spec(self, line: str, **options: object) -> ProcessSpec:
        settings = {"cwd": str(self.cwd), "terminal": True, "timeout": 20.0, **options}
        return ProcessSpec(["bash", "-c", line], **settings)  # pyright: ignore[reportArgumentType]

    async def run(self, line: str, **options: object) -> ProcessOutcome:
        return await self.processes.run(self.spec(line, **options), self.take)

    def take(self, data: bytes) -> None:
        self.output += data

    def pid(self, name: str = "pid") -> int:
        return int((self.cwd / name).read_text())


@pytest.fixture
def shell(processes: SystemProcesses, tmp_path: Path) -> Shell:
    return Shell(processes, tmp_path)


@pytest.mark.parametrize("terminal", [True, False])
async def test_both_streams_arrive_in_order_with_the_exit_code(
    shell: Shell, terminal: bool
) -> None:
    """X-22."""
    outcome = await shell.run("echo a; echo b >&2; echo c; exit 3", terminal=terminal)
    assert outcome == ProcessOutcome(3, None, survivors=False)
    assert shell.output == b"a\nb\nc\n"


async def test_streams_can_be_kept_apart(shell: Shell) -> None:
    errors: list[bytes] = []
    spec = shell.spec("echo out; echo err >&2", terminal=False)
    assert await shell.processes.run(spec, shell.take, errors.append) == ENDED
    assert (shell.output, b"".join(errors)) == (b"out\n", b"err\n")


async def test_programs_see_a_wide_terminal(shell: Shell) -> None:
    await shell.run("[ -t 1 ] && [ -t 2 ] && stty size <&1")
    assert shell.output == b"50 200\n"


async def test_standard_input_is_at_its_end(shell: Shell) -> None:
    """X-03."""
    assert await shell.run("cat; read x || echo nothing") == ENDED
    assert shell.output == b"nothing\n"


async def test_no_prompt_finds_a_terminal_to_ask_on(shell: Shell) -> None:
    """X-04; opening a terminal device must not win bash a controlling terminal."""
    await shell.run("exec 3<>/dev/stderr; echo opened; cat </dev/tty || echo refused")
    assert shell.output.startswith(b"opened\n")
    assert shell.output.endswith(b"refused\n")


@pytest.mark.parametrize("prefix", ["", "setsid "])
@pytest.mark.parametrize("redirection", ["", ">/dev/null 2>&1"])
async def test_a_process_left_in_the_background_does_not_hold_the_call(
    shell: Shell, prefix: str, redirection: str
) -> None:
    """X-01."""
    line = f"{prefix}sh -c 'echo $$ >pid; exec sleep 600' {redirection} & "
    outcome = await shell.run(line + "until [ -s pid ]; do :; done; echo done")
    assert outcome == ProcessOutcome(0, None, survivors=True)
    assert shell.output == b"done\n"
    assert is_alive(shell.pid())
    shell.processes.kill_all()
    await wait_gone(shell.pid())


async def test_a_process_left_running_can_go_on_writing(shell: Shell) -> None:
    line = "sh -c 'until [ -e go ]; do sleep 0.02; done; echo more && echo fine >done' & echo x"
    assert (await shell.run(line)).survivors
    (shell.cwd / "go").touch()
    async with asyncio.timeout(10):
        while not (shell.cwd / "done").exists():
            await asyncio.sleep(0.01)
    assert shell.output == b"x\n"


TREE = """
    trap '' TERM
    setsid sh -c 'echo $$ >session; exec sleep 600' &
    env -i setsid sh -c 'echo $$ >bare; exec sleep 600' &
    sh -c 'echo $$ >child; exec sleep 600' &
    until [ -s session ] && [ -s bare ] && [ -s child ]; do :; done
    echo ready; sleep 600
"""


async def test_a_timeout_ends_the_whole_tree(shell: Shell) -> None:
    """X-08, X-07: signals ignored, other sessions, no environment."""
    outcome = await shell.run(TREE, timeout=2.5)
    assert outcome == ProcessOutcome(None, "timeout", survivors=False)
    assert shell.output.startswith(b"ready\n")
    for name in ("session", "bare", "child"):
        assert not is_alive(shell.pid(name))


async def test_cancelling_ends_the_whole_tree_before_it_returns(shell: Shell) -> None:
    task = asyncio.create_task(shell.run(TREE))
    async with asyncio.timeout(10):
        while b"ready" not in shell.output:
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for name in ("session", "bare", "child"):
        assert not is_alive(shell.pid(name))


async def test_too_much_output_ends_the_command(shell: Shell) -> None:
    """X-12."""
    outcome = await shell.run("echo $$ >pid; yes", output_limit=100_000)
    assert outcome == ProcessOutcome(None, "output_limit", survivors=False)
    assert len(shell.output) == 100_000
    assert not is_alive(shell.pid())


async def test_output_of_exactly_the_limit_is_fine(shell: Shell) -> None:
    assert await shell.run("yes | head -c 100000", output_limit=100_000) == ENDED
    assert len(shell.output) == 100_000


async def test_a_failing_receiver_fails_the_call_and_ends_the_command(shell: Shell) -> None:
    def fail(_: bytes) -> None:
        raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        await shell.processes.run(shell.spec("echo $$ >pid; echo x; sleep 600"), fail)
    assert not is_alive(shell.pid())


async def test_the_outcome_tells_what_signal_ended_the_program(shell: Shell) -> None:
    assert (await shell.run("kill -KILL $$")).exit_code == 128 + signal.SIGKILL
    assert (await shell.run("kill -KILL $$", terminal=False)).exit_code == -signal.SIGKILL


async def test_variables_come_on_top_of_the_inherited_ones(shell: Shell) -> None:
    await shell.run('echo $EXTRA; [ -n "$PATH" ] && echo path', environment={"EXTRA": "yes"})
    assert shell.output == b"yes\npath\n"


async def test_a_nested_host_keeps_the_mark_of_the_outer_one(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK_VARIABLE, "[outer.1]")
    await shell.run(f"echo ${MARK_VARIABLE}")
    assert shell.output.startswith(b"[outer.1][")


@pytest.mark.parametrize(
    ("argv", "cwd", "message"),
    [
        (["true"], "/no/such", "Working directory does not exist: /no/such"),
        (["no-such-program"], "/", "Program not found: no-such-program is not on PATH"),
        (["/no/such/shell", "-c", ""], "/", "Program not found: /no/such/shell"),
        (["/etc/passwd"], "/", "Program is not executable: /etc/passwd"),
        (["echo", "x" * 200_000], "/", "Cannot run echo: Argument list too long"),
        (["echo", "a\0b"], "/", "Cannot run echo: embedded null byte"),
    ],
)
async def test_what_cannot_be_started_is_named_and_the_next_call_works(
    shell: Shell, argv: list[str], cwd: str, message: str
) -> None:
    """X-18, X-19."""
    with pytest.raises(ProcessError, match=f"^{message}"):
        await shell.processes.run(ProcessSpec(argv, cwd, terminal=True), shell.take)
    assert await shell.run("true") == ENDED


def test_programs_are_found_on_the_path() -> None:
    processes = SystemProcesses()
    found = processes.which("bash")
    assert found is not None
    assert os.access(found, os.X_OK)
    assert processes.which("no-such-program") is None


async def test_ending_the_host_in_order_ends_what_runs(shell: Shell) -> None:
    task = asyncio.create_task(shell.run(TREE))
    async with asyncio.timeout(10):
        while b"ready" not in shell.output:
            await asyncio.sleep(0.01)
    shell.processes.kill_all()
    assert await task == ProcessOutcome(None, "cancelled", survivors=False)
    for name in ("session", "bare", "child"):
        assert not is_alive(shell.pid(name))


HOST = """
import asyncio, sys
from flemma.adapters.processes import SystemProcesses
from flemma.ports.processes import ProcessSpec
line = '''
    echo $$ >outer
    setsid sh -c 'echo $$ >pid; exec sleep 600' &
    until [ -s pid ]; do :; done; sleep 600
'''
spec = ProcessSpec(["bash", "-c", line], sys.argv[1], terminal=True)
asyncio.run(SystemProcesses().run(spec, print))
"""


def test_a_killed_host_leaves_nothing_behind(tmp_path: Path) -> None:
    """X-08, P-14: even SIGKILL."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    argv = [sys.executable, "-c", HOST, str(tmp_path)]
    host = os.posix_spawn(argv[0], argv, environment)
    try:
        for name in ("outer", "pid"):
            wait_until(lambda name=name: written(tmp_path / name))
    finally:
        os.kill(host, signal.SIGKILL)
        os.waitpid(host, 0)
    for name in ("outer", "pid"):
        pid = int((tmp_path / name).read_text())
        wait_until(lambda pid=pid: not is_alive(pid))


def test_the_guard_stands_on_its_own() -> None:
    source = Path(guard_file).read_text()
    assert "flemma" not in source.partition('"""')[2].partition('"""')[2]


def written(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


async def wait_gone(pid: int) -> None:
    async with asyncio.timeout(10):
        while is_alive(pid):
            await asyncio.sleep(0.01)

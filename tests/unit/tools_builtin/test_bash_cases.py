"""Commands that would wait for a person, or hit who runs them (cases X-04 to X-06, X-11, X-19)."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from flemma.tools.builtin.bash import definition
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolResult
from tests.support.tool_context import make_context
from tests.unit.tools.exploration import Programs

bash = definition()


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    made = make_context(tmp_path, tool_name="bash")
    yield made
    made.processes.kill_all()  # pyright: ignore


async def run(context: ToolContext, command: str, **options: object) -> ToolResult:
    result = await bash.execute({"label": "test", "command": command, **options}, context)  # pyright: ignore
    assert isinstance(result, ToolResult)
    return result


GIT = "git -c user.name=t -c user.email=t@t"


@pytest.fixture
def repository(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits, and an editor that would wait for ever."""
    for name in ("GIT_EDITOR", "GIT_SEQUENCE_EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EDITOR", "sleep 60; true")
    root = Path(context.cwd)
    script = f"git init -q . && for n in 1 2; do {GIT} commit -qm $n --allow-empty; done"
    subprocess.run(["bash", "-c", script], cwd=root, check=True)
    subprocess.run(["git", "config", "core.editor", "sleep 60; true"], cwd=root, check=True)
    subprocess.run(["git", "config", "sequence.editor", "sleep 60; true"], cwd=root, check=True)
    return root


async def test_git_never_opens_an_editor(context: ToolContext, repository: Path) -> None:
    """X-05."""
    empty = await run(context, f"{GIT} commit --allow-empty", timeout=20)
    assert empty.error is not None
    assert "Aborting commit due to empty commit message" in empty.error
    amended = await run(context, f"{GIT} commit --amend --allow-empty", timeout=20)
    assert amended.success, amended.error
    rebased = await run(context, f"{GIT} rebase -i HEAD~1", timeout=20)
    assert rebased.success, rebased.error
    assert not (repository / ".git/rebase-merge").exists()


async def test_git_asks_nobody_for_a_password(context: ToolContext) -> None:
    """X-04: it says so instead."""
    asking = "printf 'protocol=https\\nhost=127.0.0.1\\n\\n' | git credential fill"
    result = await run(context, asking, timeout=20)
    assert result.error is not None
    assert "terminal prompts disabled" in result.error


async def test_a_program_that_asks_on_the_terminal_says_itself_that_there_is_none(
    context: ToolContext,
) -> None:
    """X-04: as sudo and ssh do."""
    result = await run(context, "read -rsp 'Password: ' word </dev/tty; echo [$word]", timeout=20)
    assert isinstance(result.output, str)
    assert result.output.endswith("bash: line 1: /dev/tty: No such device or address\n[]")


@pytest.mark.parametrize("command", ["cat pipe", "echo x >pipe", "cat </dev/stdin >pipe"])
async def test_a_pipe_that_nobody_serves_holds_up_only_its_own_call(
    context: ToolContext, command: str
) -> None:
    """X-06, X-03."""
    os.mkfifo(Path(context.cwd, "pipe"))
    result = await run(context, command, timeout=0.3)
    assert result.error == "Command timed out after 0.3 seconds."


@pytest.mark.parametrize("command", ["timeout 20 cat", "cat /dev/stdin", "read -r word", "ed"])
async def test_who_reads_standard_input_finds_its_end_at_once(
    context: ToolContext, command: str
) -> None:
    """X-03."""
    result = await run(context, f"{command}; echo over", timeout=15)
    assert isinstance(result.output, str)
    assert result.output.endswith("over")


@pytest.mark.parametrize(
    "command", ["kill -TERM 0", "kill -KILL 0", "kill -TERM -$$", "kill -INT 0; sleep 20"]
)
async def test_a_signal_to_the_group_of_a_command_stays_with_the_command(
    context: ToolContext, command: str
) -> None:
    """X-11: this process would not live to check it."""
    result = await run(context, f"echo begun; {command}", timeout=15)
    assert result.error is not None
    assert result.error.startswith("begun\n")
    assert "timed out" not in result.error
    assert (await run(context, "echo fine")).output == "fine"


async def test_without_bash_the_way_out_is_named(tmp_path: Path) -> None:
    """X-19."""
    context = make_context(tmp_path, processes=Programs({}))
    assert await run(context, "true") == ToolResult.failure(
        "Failed to start job: bash was not found on PATH. "
        "Install it, or set tools.bash.shell to a shell."
    )


async def test_bash_is_found_wherever_the_path_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X-19: there need not be a /bin/bash."""
    own = tmp_path / "bin"
    own.mkdir()
    (own / "bash").write_text('#!/bin/sh\necho "own shell: $2"\n')
    (own / "bash").chmod(0o755)
    monkeypatch.setenv("PATH", f"{own}:{os.environ['PATH']}")
    assert (await run(make_context(tmp_path), "the line")).output == "own shell: the line"

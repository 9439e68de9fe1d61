"""The bash tool on real commands (acceptance 65 to 68; cases X-01 to X-24)."""

import asyncio
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flemma.errors import SandboxUnavailable
from flemma.schema import to_json_schema
from flemma.tools.builtin.bash import definition
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolPreview, ToolResult
from tests.support.processes import is_alive
from tests.support.tool_context import Confinement, DirectoryStore, make_context

bash = definition()


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    made = make_context(tmp_path, tool_name="bash")
    yield made
    made.processes.kill_all()  # pyright: ignore


async def run(context: ToolContext, command: str | None, **options: Any) -> ToolResult:
    result = await bash.execute({"label": "test", "command": command, **options}, context)  # pyright: ignore
    assert isinstance(result, ToolResult)
    return result


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo hi", ToolResult(success=True, output="hi", untruncated="hi")),
        ("true", ToolResult(success=True, output="(no output)", untruncated="")),
        ("printf 'x\\n\\n'; exit 3", ToolResult.failure("x\n\nCommand exited with code 3")),
        ("false", ToolResult.failure("(no output)\n\nCommand exited with code 1")),
        (
            "echo out; echo err >&2",
            ToolResult(success=True, output="out\nerr", untruncated="out\nerr"),
        ),
        ("kill -KILL $$", ToolResult.failure("Killed\n\nCommand exited with code 137")),
        ("printf '\\e[31m10%%\\r100%%\\e[0m\\n'", ToolResult(True, "100%", untruncated="100%")),
        ("printf 'a\\0b\\xff'", ToolResult(True, "a\\x00b\\xff", untruncated="a\\x00b\\xff")),
    ],
)
async def test_output_and_exit_code_become_the_result(
    context: ToolContext, command: str, expected: ToolResult
) -> None:
    """Acceptance 65; X-14, X-15, X-22, X-24."""
    assert await run(context, command) == expected


@pytest.mark.parametrize("command", [None, "", "  \n"])
async def test_a_command_is_needed(context: ToolContext, command: str | None) -> None:
    assert await run(context, command) == ToolResult.failure("No command provided")


async def test_a_timeout_says_so_after_what_was_printed(context: ToolContext) -> None:
    """Acceptance 67; X-03, X-08."""
    silent = await run(context, "sleep 9", timeout=1)
    assert silent == ToolResult.failure("Command timed out after 1 second.")
    result = await run(context, "echo $$ >pid; echo begun; sleep 9", timeout=1.5)
    assert result == ToolResult.failure("begun\n\nCommand timed out after 1.5 seconds.")
    assert not is_alive(int(Path(context.cwd, "pid").read_text()))


@pytest.mark.parametrize("timeout", [None, 0, -1, float("nan")])
async def test_without_a_usable_timeout_the_default_applies(
    tmp_path: Path, timeout: float | None
) -> None:
    context = make_context(tmp_path, timeout=0.2)
    result = await run(context, "sleep 9", timeout=timeout)
    assert result == ToolResult.failure("Command timed out after 0.2 seconds.")


async def test_a_process_that_is_left_running_is_mentioned(context: ToolContext) -> None:
    """X-01."""
    result = await run(context, "sleep 600 & echo started")
    assert result.success
    assert result.output == (
        "started\n\n[A process started by this command is still running in the background.]"
    )
    assert result.untruncated == "started"


async def test_long_output_ends_with_where_all_of_it_is(context: ToolContext) -> None:
    """Acceptance 68."""
    result = await run(context, "seq 2001")
    path = str(context.store.path)
    assert result.output == (
        "\n".join(map(str, range(2, 2002)))
        + f"\n\n[Showing lines 2-2001 of 2001. Full output: {path}]"
    )
    assert result.full_output_path == path
    assert Path(path).read_text() == "\n".join(map(str, range(1, 2002)))


async def test_output_of_exactly_the_limit_is_whole_and_leaves_no_file(
    context: ToolContext,
) -> None:
    """X-17."""
    result = await run(context, "seq 2000; printf '\\n\\n\\n'")
    assert result.output == "\n".join(map(str, range(1, 2001)))
    assert not Path(str(context.store.path)).exists()


async def test_one_enormous_line_keeps_its_end(context: ToolContext) -> None:
    """X-16."""
    result = await run(context, "head -c 10000000 /dev/zero | tr '\\0' x; printf '😀'")
    assert isinstance(result.output, str)
    content, _, notice = result.output.rpartition("\n\n")
    assert content == "x" * 51196 + "😀"
    assert notice.startswith("[Showing last 50.0KB of line 1. Full output: ")
    assert Path(str(result.full_output_path)).stat().st_size == 10_000_004


async def test_blank_lines_without_end_are_no_output(context: ToolContext) -> None:
    result = await run(context, "yes '' | head -c 3000000")
    assert (result.output, result.full_output_path) == ("(no output)", None)
    assert list(Path(str(context.store.directory)).iterdir()) == []


async def test_memory_stays_bounded_whatever_a_command_prints(context: ToolContext) -> None:
    """X-12; the size of the test, not of the claim, is limited."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await run(context, "yes some line of output | head -c 30000000", timeout=50)
    assert Path(str(result.full_output_path)).stat().st_size == 29_999_999
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


async def test_output_that_cannot_be_stored_is_still_cut(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store", writable=False)
    result = await run(make_context(tmp_path, store=store), "seq 3000")
    assert isinstance(result.output, str)
    assert result.output.endswith("\n\n[Showing lines 1001-3000 of 3000]")
    assert result.full_output_path is None


async def test_cancelling_ends_the_command_and_removes_what_was_stored(
    context: ToolContext,
) -> None:
    """X-07, X-08."""
    task = asyncio.create_task(run(context, "echo $$ >pid; seq 5000; touch ready; sleep 600"))
    async with asyncio.timeout(10):
        while not Path(context.cwd, "ready").exists():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(int(Path(context.cwd, "pid").read_text()))
    assert not list(Path(str(context.store.directory)).glob("*"))


async def test_commands_see_variables_that_keep_them_from_asking(tmp_path: Path) -> None:
    """X-05; the store directory wins over configured variables."""
    env = {"PAGER": "less", "FLEMMA_TOOLS_STORE_PATH": "/wrong", "N": 1}
    context = make_context(tmp_path, config={"env": env})
    result = await run(
        context,
        "echo $GIT_EDITOR $GIT_TERMINAL_PROMPT $GIT_PAGER $PAGER $N\n"
        "printenv FLEMMA_TOOLS_STORE_PATH",
    )
    assert result.output == f"true 0 cat less 1\n{context.store.directory}"


async def test_the_store_directory_is_made_for_commands_that_name_it(context: ToolContext) -> None:
    directory = Path(str(context.store.directory))
    await run(context, "true")
    assert not directory.exists()
    await run(context, 'echo kept >"$FLEMMA_TOOLS_STORE_PATH/note"')
    assert (directory / "note").read_text() == "kept\n"


async def test_the_configured_shell_is_used_and_a_missing_one_named(tmp_path: Path) -> None:
    """X-18, X-19."""
    sh = make_context(tmp_path, config={"shell": "/bin/sh"})
    assert (await run(sh, "echo $0")).output == "/bin/sh"
    bad = make_context(tmp_path, config={"shell": "/no/shell"})
    assert await run(bad, "true") == ToolResult.failure(
        "Failed to start job: Program not found: /no/shell."
    )
    lost = make_context(tmp_path, cwd="/no/such")
    assert (await run(lost, "true")).error == (
        "Failed to start job: Working directory does not exist: /no/such. "
        "Create it, or set the cwd of the tool to an existing directory."
    )
    assert (await run(sh, "echo fine")).output == "fine"


async def test_commands_run_behind_the_sandbox_or_not_at_all(tmp_path: Path) -> None:
    context = make_context(tmp_path, sandbox=Confinement(prefix=("env", "CONFINED=yes")))
    assert (await run(context, "echo $CONFINED")).output == "yes"

    class Unavailable(Confinement):
        async def wrap_command(self, argv: Any) -> Any:
            raise SandboxUnavailable(f"no backend for {argv[0]}")

    refused = await run(make_context(tmp_path, sandbox=Unavailable()), "true")
    assert refused.error is not None
    assert refused.error.startswith("Sandbox error: no backend for ")


def test_the_definition_is_strict_and_can_be_approved_by_the_sandbox() -> None:
    schema = to_json_schema(bash.input_schema)
    assert schema["required"] == ["command", "label", "timeout"]
    assert schema["properties"]["timeout"]["type"] == ["number", "null"]
    assert (bash.name, bash.strict, bash.asynchronous) == ("bash", True, True)
    assert bash.capabilities == {"auto_approves_if_sandboxed"}


def test_the_preview_is_the_command_line() -> None:
    assert bash.format_preview is not None
    assert bash.format_preview({"command": "git status", "label": "checking"}) == ToolPreview(
        "$ git status", "checking", "bash"
    )

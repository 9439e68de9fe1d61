"""The grep tool, with each program it can use."""

import asyncio
import os
from pathlib import Path

import pytest

from flemma.errors import SandboxUnavailable
from flemma.tools.builtin import grep
from flemma.tools.builtin.grep_backends import GrepDialect, detect_grep, to_extended
from flemma.tools.context import ToolContext
from tests.support.tool_context import Confinement, make_context
from tests.unit.tools.exploration import Programs, call, git, installed, outcome, write

PROJECT = {
    "a.py": "first TODO 1\nnothing\nlast TODO 22\n",
    "src/b.py": "TODO 3\n",
    "src/deep/c.ts": "x = TODO\n",
    "src/deep/[id] it's 100% #1.py": "TODO odd\n",
    "node_modules/m.js": "TODO excluded\n",
    ".hidden/h.py": "TODO hidden\n",
    ".env": "TODO=hidden\n",
    "ignored.log": "TODO ignored\n",
    "keep.log": "TODO kept\n",
    "out/o.py": "TODO ignored too\n",
    ".gitignore": "*.log\n!keep.log\nout/\n",
}

POSIX_GREP = """#!/bin/sh
for argument; do [ "$argument" = -P ] && exit 2; done
exec {grep} "$@"
"""


@pytest.fixture(params=["rg", "grep -P", "grep -E"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> ToolContext:
    root = tmp_path / "project"
    write(root, PROJECT)
    git(root, "init", "-q")
    return make_context(root, processes=programs(request.param, tmp_path), tool_name="grep")


def programs(backend: str, tmp_path: Path) -> Programs:
    if backend == "rg":
        return Programs(installed("rg"))
    found = installed("grep")
    if backend == "grep -E":
        script = tmp_path / "grep"
        script.write_text(POSIX_GREP.format(grep=found["grep"]))
        script.chmod(0o755)
        found = {"grep": str(script)}
    return Programs(found)


async def run(context: ToolContext, **tool_input: object) -> str:
    return await call(grep.definition(), context, tool_input)  # pyright: ignore[reportArgumentType]


async def error(context: ToolContext, **tool_input: object) -> str:
    result = await outcome(grep.definition(), context, tool_input)  # pyright: ignore[reportArgumentType]
    assert not result.success
    assert result.error is not None
    return result.error


async def test_every_program_gives_the_same_lines(context: ToolContext) -> None:
    """E-29: all matches of a file; E-30: ignore files honoured; E-26: odd names."""
    assert (await run(context, pattern=r"TODO")).split("\n") == [
        "a.py:1:first TODO 1",
        "a.py:3:last TODO 22",
        "keep.log:1:TODO kept",
        "src/b.py:1:TODO 3",
        "src/deep/[id] it's 100% #1.py:1:TODO odd",
        "src/deep/c.ts:1:x = TODO",
        "",
        "[6 matches]",
    ]


async def test_a_limit_ends_the_search_and_says_so(context: ToolContext) -> None:
    """Acceptance 77."""
    output = await run(context, pattern="TODO", limit=2)
    lines = output.split("\n")
    assert len(lines) == 4
    assert lines[-2:] == ["", "[2 matches, limit reached]"]
    assert (await run(context, pattern="TODO", limit=0.5)).endswith("[1 match, limit reached]")


async def test_exactly_as_many_matches_as_the_limit_are_not_called_limited(
    context: ToolContext,
) -> None:
    assert (await run(context, pattern="TODO", limit=6)).endswith("\n\n[6 matches]")


async def test_no_match_is_a_success(context: ToolContext) -> None:
    """Acceptance 77."""
    assert await run(context, pattern="nosuchthing") == "No matches found."


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [(r"TODO \d\d", 1), (r"\w+ TODO", 2), (r"TODO\s[\d]", 3), (r"^[^\s]+ \d$", 1)],
)
async def test_shorthand_classes_work_everywhere(
    context: ToolContext, pattern: str, matches: int
) -> None:
    output = await run(context, pattern=pattern)
    assert output.endswith(f"[{matches} match{'' if matches == 1 else 'es'}]")


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("*.ts", ["src/deep/c.ts"]),
        ("*.{ts,js}", ["src/deep/c.ts"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**/*.ts", ["src/deep/c.ts"]),
        ("!*.py", ["keep.log", "src/deep/c.ts"]),
        ("[ab].py", ["a.py", "a.py", "src/b.py"]),
    ],
)
async def test_a_glob_narrows_the_files(context: ToolContext, glob: str, files: list[str]) -> None:
    output = await run(context, pattern="TODO", glob=glob)
    assert [line.split(":")[0] for line in output.split("\n")[:-2]] == files


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("src", 3),
        ("src/", 3),
        ("./src/deep", 2),
        ("src/b.py", 1),
        ("@src/b.py", 1),
        ("src/deep/[id] it's 100% #1.py", 1),
        ("node_modules", 1),
        (".hidden", 1),
        (".env", 1),
        ("out", 1),
        ("ignored.log", 1),
    ],
)
async def test_a_path_is_searched_whatever_the_rules_say(
    context: ToolContext, path: str, lines: int
) -> None:
    output = await run(context, pattern="TODO", path=path)
    assert len(output.split("\n")) == lines + 2
    assert output.startswith(path.removeprefix("./").removeprefix("@").rstrip("/"))


async def test_an_absolute_path_inside_the_working_directory_is_shown_relative(
    context: ToolContext,
) -> None:
    inside = await run(context, pattern="TODO", path=f"{context.cwd}/src/b.py")
    assert inside.startswith("src/b.py:1:")
    all_of_it = await run(context, pattern="TODO 3", path=context.cwd)
    assert all_of_it.startswith("src/b.py:1:")


async def test_a_path_outside_the_working_directory_is_shown_absolute(
    context: ToolContext, tmp_path: Path
) -> None:
    write(tmp_path, {"elsewhere/x.txt": "TODO\n"})
    output = await run(context, pattern="TODO", path=str(tmp_path / "elsewhere"))
    assert output == f"{tmp_path}/elsewhere/x.txt:1:TODO\n\n[1 match]"


async def test_a_long_line_is_cut_and_a_huge_one_does_no_harm(
    context: ToolContext, tmp_path: Path
) -> None:
    """E-30: bounded memory."""
    write(tmp_path, {"long/l.txt": "é" * 600 + "TODO\n", "long/m.txt": "TODO" + "y" * 3_000_000})
    output = await run(context, pattern="TODO", path=str(tmp_path / "long"))
    first, second, *_ = output.split("\n")
    assert first.endswith("é... [truncated]")
    assert len(first.partition(":1:")[2].encode()) <= 500
    assert len(second) < 700


async def test_odd_patterns_are_data(context: ToolContext, tmp_path: Path) -> None:
    write(tmp_path, {"odd/-e.txt": "--help me\n%s\n"})
    path = str(tmp_path / "odd")
    assert (await run(context, pattern="--help", path=path)).endswith("[1 match]")
    assert (await run(context, pattern="%s", path=path)).endswith("[1 match]")
    assert (await run(context, pattern=" ", path=path)).endswith("[1 match]")


async def test_a_broken_pattern_is_an_error_with_its_reason(context: ToolContext) -> None:
    message = await error(context, pattern="(unclosed")
    assert message.startswith("Search failed with exit code 2\n")


async def test_a_circle_of_links_ends(context: ToolContext) -> None:
    """E-30."""
    Path(context.cwd, "src", "loop").symlink_to(context.cwd)
    assert (await run(context, pattern="TODO 3")).endswith("[1 match]")


async def test_configured_excludes_replace_the_defaults(context: ToolContext) -> None:
    narrowed = make_context(
        Path(context.cwd), processes=context.processes, config={"exclude": ["src", "*.log"]}
    )
    output = await run(narrowed, pattern="TODO")
    assert [line.split(":")[0] for line in output.split("\n")[:-2]] == [
        "a.py",
        "a.py",
        "node_modules/m.js",
    ]


async def test_output_is_cut_at_the_size_limit_with_exact_counts(
    context: ToolContext, tmp_path: Path
) -> None:
    """E-31."""
    write(tmp_path, {"many/m.txt": "TODO\n" * 2500})
    output = await run(context, pattern="TODO", path=str(tmp_path / "many"), limit=5000)
    shown = len(output.split("\n")) - 2
    assert output.endswith(f"[2500 matches, first {shown} shown]")


async def test_a_search_that_takes_too_long_is_an_error_with_what_was_found(
    tmp_path: Path,
) -> None:
    """E-30: bounded time."""
    slow = tmp_path / "rg"
    slow.write_text("#!/bin/sh\nprintf 'a.txt\\0001:found\\n'\nexec sleep 60\n")
    slow.chmod(0o755)
    context = make_context(tmp_path, processes=Programs({"rg": str(slow)}), timeout=1)
    assert await error(context, pattern="x") == (
        "a.txt:1:found\n\n[1 match]\n\nSearch timed out after 1 second."
    )


async def test_a_program_that_never_stops_is_ended_at_the_limit(tmp_path: Path) -> None:
    """E-30."""
    endless = tmp_path / "rg"
    pid = tmp_path / "pid"
    endless.write_text(
        f"#!/bin/sh\necho $$ > {pid}\nwhile printf 'a.txt\\0001:found\\n'; do :; done\n"
    )
    endless.chmod(0o755)
    context = make_context(tmp_path, processes=Programs({"rg": str(endless)}))
    assert (await run(context, pattern="x", limit=3)).endswith("[3 matches, limit reached]")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_cancelling_the_call_ends_the_program(tmp_path: Path) -> None:
    quiet = tmp_path / "rg"
    pid = tmp_path / "pid"
    quiet.write_text(f"#!/bin/sh\necho $$ > {pid}.new && mv {pid}.new {pid}\nexec sleep 60\n")
    quiet.chmod(0o755)
    context = make_context(tmp_path, processes=Programs({"rg": str(quiet)}))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run(context, pattern="x"))
        while not pid.exists():
            await asyncio.sleep(0.01)
        task.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.parametrize(
    ("tool_input", "message"),
    [
        ({}, "No pattern provided"),
        ({"pattern": ""}, "No pattern provided"),
        ({"pattern": None}, "No pattern provided"),
        ({"pattern": "x", "path": "no/such"}, "Path not found: no/such"),
        (
            {"pattern": "x", "path": "/dev/null"},
            "Not a file or directory: /dev/null (a device, pipe or socket)",
        ),
    ],
)
async def test_unusable_input_is_an_error_that_names_it(
    tmp_path: Path, tool_input: dict[str, object], message: str
) -> None:
    """E-23, E-24."""
    assert await error(make_context(tmp_path), **tool_input) == message


async def test_without_any_program_the_error_says_what_to_install(tmp_path: Path) -> None:
    context = make_context(tmp_path, processes=Programs({}))
    message = "No search backend available (install rg or grep)"
    assert await error(context, pattern="x") == message


async def test_a_program_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    context = make_context(tmp_path, processes=Programs({"rg": "/no/such/rg"}))
    assert (await error(context, pattern="x")).startswith("Failed to start search process: ")


async def test_the_search_runs_in_the_sandbox(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x\n"})
    fake = installed("env")["env"]
    context = make_context(
        tmp_path, sandbox=Confinement(prefix=(fake, "printf", "boxed\\0%s:text\\n", "7"))
    )
    assert await run(context, pattern="x") == "boxed:7:text\n\n[1 match]"

    class Missing(Confinement):
        async def wrap_command(self, argv: object) -> list[str]:
            raise SandboxUnavailable("bwrap: gone")

    refused = make_context(tmp_path, sandbox=Missing())
    assert await error(refused, pattern="x") == "Sandbox error: bwrap: gone"


async def test_the_program_is_looked_for_once(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x\n"})
    asked: list[str] = []

    class Counting(Programs):
        def which(self, program: str) -> str | None:
            asked.append(program)
            return super().which(program)

    context = make_context(tmp_path, processes=Counting(installed("grep")))
    definition = grep.definition()
    for _ in range(2):
        assert await call(definition, context, {"pattern": "x"}) == "a.txt:1:x\n\n[1 match]"
    assert asked == ["rg", "grep"]


async def test_grep_without_perl_expressions_is_recognised(tmp_path: Path) -> None:
    context = make_context(tmp_path, processes=programs("grep -E", tmp_path))
    backend = await detect_grep(context)
    assert backend is not None
    assert backend.dialect is GrepDialect.EXTENDED


@pytest.mark.parametrize(
    ("pattern", "translated"),
    [
        (r"\d+", "[0-9]+"),
        (r"\w\s", "[a-zA-Z0-9_][[:space:]]"),
        (r"\D\W\S", "[^0-9][^a-zA-Z0-9_][^[:space:]]"),
        (r"[\w.-]", "[a-zA-Z0-9_.-]"),
        (r"[^\s]", "[^[:space:]]"),
        (r"[]\d]\d", "[]0-9][0-9]"),
        (r"\\d", r"\\d"),
        (r"a\.b\(", r"a\.b\("),
        ("x\\", "x\\"),
    ],
)
def test_shorthand_classes_become_posix_ones(pattern: str, translated: str) -> None:
    assert to_extended(pattern) == translated

"""The find tool, with each program it can use."""

from pathlib import Path

import pytest

from flemma.errors import SandboxUnavailable
from flemma.tools.builtin import find
from flemma.tools.context import ToolContext
from tests.support.tool_context import Confinement, make_context
from tests.unit.tools.exploration import Programs, call, git, installed, outcome, write

PROJECT = {
    "README.md": "",
    "a.py": "",
    "src/b.py": "",
    "src/b.test.ts": "",
    "src/deep/b.test.ts": "",
    "src/deep/[id].tsx": "",
    "lib/api/v1/c.go": "",
    "lib/c.go": "",
    "odd/100% #1 (x) 'y'.py": "",
    "odd/new\nline.py": "",
    "node_modules/m.py": "",
    "dist/d.py": "",
    ".hidden/h.py": "",
    ".dot.py": "",
    "ignored.log": "",
    "out/o.py": "",
    ".gitignore": "*.log\nout/\n",
}


@pytest.fixture(params=["fd", "git", "find"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> ToolContext:
    root = tmp_path / "project"
    write(root, PROJECT)
    git(root, "init", "-q")
    if request.param == "fd":
        found = {"fdfind": installed("fdfind")["fdfind"]}
    else:
        # find stays behind git for directories that git does not list.
        found = installed(*dict.fromkeys((request.param, "find")))
        git(root, "add", "a.py", "src/b.py", "dist/d.py", ".dot.py")
        write(root, {"deleted.py": ""})
        git(root, "add", "deleted.py")
        (root / "deleted.py").unlink()
    return make_context(root, processes=Programs(found), tool_name="find")


async def run(context: ToolContext, **tool_input: object) -> str:
    return await call(find.definition(), context, tool_input)  # pyright: ignore[reportArgumentType]


async def error(context: ToolContext, **tool_input: object) -> str:
    result = await outcome(find.definition(), context, tool_input)  # pyright: ignore[reportArgumentType]
    assert not result.success
    assert result.error is not None
    return result.error


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py", "odd/100% #1 (x) 'y'.py", "odd/new\nline.py", "src/b.py"]),
        ("README.md", ["README.md"]),
        ("readme.md", []),
        ("b.*", ["src/b.py", "src/b.test.ts", "src/deep/b.test.ts"]),
        ("*.{go,md}", ["README.md", "lib/api/v1/c.go", "lib/c.go"]),
        ("src/*.ts", ["src/b.test.ts", "src/deep/b.test.ts"]),
        ("src/**/*.ts", ["src/b.test.ts", "src/deep/b.test.ts"]),
        ("**/api/**/*.go", ["lib/api/v1/c.go"]),
        ("**/*.go", ["lib/api/v1/c.go", "lib/c.go"]),
        ("l*/c.go", ["lib/api/v1/c.go", "lib/c.go"]),
        ("{lib/api,src/deep}/*.*", ["lib/api/v1/c.go", "src/deep/[id].tsx", "src/deep/b.test.ts"]),
        ("[id].tsx", ["src/deep/[id].tsx"]),
        ("[ab].py", ["a.py", "src/b.py"]),
        ("src/", ["src/b.py", "src/b.test.ts", "src/deep/[id].tsx", "src/deep/b.test.ts"]),
        ("./a.py", ["a.py"]),
        ("nosuch/*.py", []),
        ("out/*.py", ["out/o.py"]),
        (".hidden/*", [".hidden/h.py"]),
        ("node_modules/*.py", ["node_modules/m.py"]),
        ("*.log", []),
        ("-x", []),
    ],
)  # fmt: skip
async def test_every_program_finds_the_same_files(
    context: ToolContext, pattern: str, found: list[str]
) -> None:
    """E-26, E-27: names are literal; E-30: ignore files honoured."""
    output = await run(context, pattern=pattern)
    assert output == ("\n".join(found) or "No files found matching pattern.")


async def test_a_path_moves_the_search(context: ToolContext, tmp_path: Path) -> None:
    assert await run(context, pattern="*.go", path="lib/api") == "lib/api/v1/c.go"
    assert await run(context, pattern="*.go", path=f"{context.cwd}/lib/api") == "lib/api/v1/c.go"
    assert await run(context, pattern=f"{context.cwd}/lib/api/*.go") == "lib/api/v1/c.go"
    write(tmp_path, {"elsewhere/e.go": ""})
    elsewhere = str(tmp_path / "elsewhere")
    assert await run(context, pattern="*.go", path=elsewhere) == f"{elsewhere}/e.go"


async def test_results_over_the_limit_are_counted_exactly(context: ToolContext) -> None:
    """E-31."""
    assert await run(context, pattern="*.py", limit=2) == (
        "a.py\nodd/100% #1 (x) 'y'.py\n\n"
        "[Results limited to 2 entries. Narrow your pattern for more specific results.]\n"
        "[2 more not listed]"
    )
    single = await run(context, pattern="*.py", limit=0)
    assert "[Results limited to 1 entry. Narrow" in single


async def test_output_over_the_size_limit_says_how_much_is_shown(
    context: ToolContext, tmp_path: Path
) -> None:
    """E-31."""
    write(tmp_path, {f"many/{number:04}.txt": "" for number in range(2100)})
    output = await run(context, pattern="*.txt", path=str(tmp_path / "many"), limit=3000)
    lines = output.split("\n")
    assert lines[-1] == (
        f"[Showing {len(lines) - 2} of 2100 results (truncated). "
        "Narrow your pattern for more specific results.]"
    )


async def test_a_circle_of_links_ends(context: ToolContext) -> None:
    """E-30."""
    Path(context.cwd, "src", "loop").symlink_to(context.cwd)
    assert await run(context, pattern="README.md") == "README.md"


@pytest.mark.parametrize(
    ("tool_input", "message"),
    [
        ({}, "No pattern provided"),
        ({"pattern": "*", "path": "no/such"}, "Path not found: no/such"),
        ({"pattern": "*", "path": "f.txt"}, "Not a directory: f.txt (it is a file)"),
        (
            {"pattern": "*", "path": "/dev/null"},
            "Not a directory: /dev/null (a device, pipe or socket)",
        ),
    ],
)
async def test_unusable_input_is_an_error_that_names_it(
    tmp_path: Path, tool_input: dict[str, object], message: str
) -> None:
    """E-23, E-24."""
    write(tmp_path, {"f.txt": ""})
    assert await error(make_context(tmp_path), **tool_input) == message


async def test_without_any_program_the_error_says_what_to_install(tmp_path: Path) -> None:
    context = make_context(tmp_path, processes=Programs({}))
    message = "No file-finding tool available (install fd, git, or find)"
    assert await error(context, pattern="*") == message


async def test_outside_a_work_tree_find_serves_instead_of_git(tmp_path: Path) -> None:
    write(tmp_path, {"plain/a.txt": ""})
    context = make_context(tmp_path, processes=Programs(installed("git", "find")))
    assert await run(context, pattern="*.txt") == "plain/a.txt"


async def test_another_program_called_fd_is_not_taken_for_it(tmp_path: Path) -> None:
    other = tmp_path / "fd"
    other.write_text("#!/bin/sh\necho 'FDclone file manager'\n")
    other.chmod(0o755)
    write(tmp_path, {"sub/a.txt": ""})
    programs = Programs({"fd": str(other), **installed("find")})
    assert await run(make_context(tmp_path, processes=programs), pattern="a.*") == "sub/a.txt"


async def test_a_failing_program_is_an_error_with_its_words(tmp_path: Path) -> None:
    broken = tmp_path / "find"
    broken.write_text("#!/bin/sh\necho 'find: it broke' >&2\nexit 1\n")
    broken.chmod(0o755)
    context = make_context(tmp_path, processes=Programs({"find": str(broken)}))
    assert await error(context, pattern="*.none") == "find: it broke"
    broken.write_text("#!/bin/sh\nexit 3\n")
    assert await error(context, pattern="*.none") == "Command exited with code 3"


async def test_a_search_that_takes_too_long_is_an_error_with_what_was_found(
    tmp_path: Path,
) -> None:
    """E-30: bounded time."""
    slow = tmp_path / "find"
    slow.write_text("#!/bin/sh\nprintf './find\\0'\nexec sleep 60\n")
    slow.chmod(0o755)
    context = make_context(tmp_path, processes=Programs({"find": str(slow)}), timeout=1)
    assert await error(context, pattern="f*") == "find\n\nFind timed out after 1 second."


async def test_the_listing_runs_in_the_sandbox(tmp_path: Path) -> None:
    class Missing(Confinement):
        async def wrap_command(self, argv: object) -> list[str]:
            raise SandboxUnavailable("bwrap: gone")

    context = make_context(tmp_path, sandbox=Missing())
    assert await error(context, pattern="*") == "Sandbox error: bwrap: gone"

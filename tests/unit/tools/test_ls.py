"""The ls and flemma.jobs.status tools."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from flemma.adapters.files import LocalFiles
from flemma.ports.files import DirectoryEntry
from flemma.tools.builtin import jobs_status, ls
from flemma.tools.definition import ToolResult
from tests.support.tool_context import make_context
from tests.unit.tools.exploration import call, outcome, write


async def listing(root: Path, **tool_input: object) -> str:
    return await call(ls.definition(), make_context(root), tool_input)  # pyright: ignore[reportArgumentType]


async def test_directories_come_first_and_hidden_entries_are_listed(tmp_path: Path) -> None:
    """Acceptance 79."""
    write(tmp_path, {"alpha.txt": "", "Zed/x": "", ".hidden": "", "b [1] 100%.txt": ""})
    assert await listing(tmp_path, path=".") == (
        "Zed/\n.hidden\nalpha.txt\nb [1] 100%.txt\n\n[4 entries]"
    )


async def test_deeper_entries_are_relative_paths(tmp_path: Path) -> None:
    write(tmp_path, {"src/main.c": "", "src/lib/a.c": "", "top.c": ""})
    assert await listing(tmp_path, path=str(tmp_path), max_depth=2) == (
        "src/\nsrc/lib/\nsrc/main.c\ntop.c\n\n[4 entries, depth=2]"
    )


async def test_the_depth_is_at_most_ten(tmp_path: Path) -> None:
    """Acceptance 79."""
    deep = tmp_path.joinpath(*(str(level) for level in range(12)))
    deep.mkdir(parents=True)
    output = await listing(tmp_path, path=".", max_depth=50)
    assert output.endswith("\n\n[10 entries, depth=10]")


async def test_one_entry_and_none_are_worded_right(tmp_path: Path) -> None:
    write(tmp_path, {"one/f": ""})
    (tmp_path / "none").mkdir()
    assert await listing(tmp_path, path="one") == "f\n\n[1 entry]"
    assert await listing(tmp_path, path="none") == "[0 entries]"


async def test_links_to_directories_are_marked_but_not_entered(tmp_path: Path) -> None:
    """E-30: circles end."""
    write(tmp_path, {"d/f": ""})
    (tmp_path / "d" / "up").symlink_to(tmp_path)
    (tmp_path / "broken").symlink_to("nowhere")
    assert await listing(tmp_path, path=".", max_depth=9) == (
        "d/\nd/up/\nbroken\nd/f\n\n[4 entries, depth=9]"
    )


async def test_entries_over_the_limit_are_counted_exactly(tmp_path: Path) -> None:
    """E-31."""
    write(tmp_path, {f"{number:03}.txt": "" for number in range(20)} | {"sub/deep.txt": ""})
    output = await listing(tmp_path, path=".", limit=3, max_depth=2)
    assert output == ("sub/\n000.txt\n001.txt\n\n[3 entries, depth=2]\n[19 more not listed]")


async def test_output_over_the_size_limit_is_counted_exactly(tmp_path: Path) -> None:
    """E-31."""
    write(tmp_path, {f"{number:04}": "" for number in range(2100)})
    output = await listing(tmp_path, path=".", limit=5000)
    assert output.endswith("1999\n\n[2000 entries]\n[100 more not listed]")


async def test_a_directory_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    class Guarded(LocalFiles):
        async def list(self, path: str) -> Sequence[DirectoryEntry]:
            if path.endswith("closed"):
                raise PermissionError(13, "Permission denied")
            return await super().list(path)

    write(tmp_path, {"closed/f": "", "open/f": ""})
    context = make_context(tmp_path, files=Guarded())
    assert await call(ls.definition(), context, {"path": ".", "max_depth": 2}) == (
        "closed/\nopen/\nopen/f\n\n[3 entries, depth=2]\n[not readable: closed/]"
    )
    result = await outcome(ls.definition(), context, {"path": "closed"})
    assert result.error == "Cannot list directory: closed: Permission denied"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (None, "No path provided"),
        ("", "No path provided"),
        ("no/such", "Directory not found: no/such"),
        ("f.txt", "Not a directory: f.txt (it is a file; use read to see its content)"),
        ("/dev/null", "Not a directory: /dev/null (a device, pipe or socket)"),
    ],
)
async def test_what_is_no_directory_is_named_for_what_it_is(
    tmp_path: Path, path: str | None, message: str
) -> None:
    """E-23."""
    write(tmp_path, {"f.txt": ""})
    result = await outcome(ls.definition(), make_context(tmp_path), {"path": path})
    assert result == ToolResult.failure(message)


async def test_job_status_gives_what_is_known_of_the_job(tmp_path: Path) -> None:
    known = {"status": "running", "job_id": "job_k7x2m", "elapsed_seconds": 3}
    context = make_context(tmp_path, job_status=lambda job_id: known | {"job_id": job_id})
    definition = jobs_status.definition()
    assert await outcome(definition, context, {"job_id": "job_k7x2m"}) == ToolResult.ok(known)
    assert not (await outcome(definition, context, {})).success
    assert definition.capabilities == {"disables_background", "disables_save_to"}

"""`flemma.save_to` and eager materialisation (behaviour 6.1, 6.4)."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from flemma.adapters.files import LocalFiles
from flemma.app.redirect import RedirectOptions, Redirector, head_preview
from flemma.app.results import FinalResult
from flemma.app.store_paths import StoreKey
from flemma.tools.context import SandboxAccess
from flemma.tools.definition import ToolResult
from tests.support.tool_context import Confinement
from tests.unit.app.store_support import KEY, Shelf

DEFAULTS = RedirectOptions(preview_lines=10, preview_bytes=2048, materialize=False)
LINES = "\n".join(f"line {number}" for number in range(1, 21))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "home").mkdir()
    return Shelf(tmp_path)


async def settle(
    shelf: Shelf,
    save_to: str | None,
    result: ToolResult | None = None,
    options: RedirectOptions = DEFAULTS,
    sandbox: SandboxAccess | None = None,
    key: StoreKey = KEY,
) -> FinalResult:
    redirector = Redirector(
        shelf.store,
        LocalFiles(),
        shelf.screen,
        sandbox or Confinement(),
        options,
        str(shelf.directory),
    )
    return await redirector.settle(result or ToolResult.ok(LINES), key, save_to)


@pytest.mark.parametrize(
    ("save_to", "path"),
    [
        ("out.txt", "out.txt"),
        ("new/deep/out.txt", "new/deep/out.txt"),
        ("./a/../out.txt", "out.txt"),
        ("~/out.txt", "home/out.txt"),
        ("$HOME/out.txt", "home/out.txt"),
        ("$FLEMMA_TOOLS_STORE_PATH/out.txt", ".flemma/work.chat/out.txt"),
        ("${FLEMMA_TOOLS_STORE_PATH}/sub/out.txt", ".flemma/work.chat/sub/out.txt"),
    ],
)
async def test_the_output_goes_where_the_model_says(shelf: Shelf, save_to: str, path: str) -> None:
    final = await settle(shelf, save_to)
    target = shelf.directory / path
    assert target.read_text() == LINES
    preview = "\n".join(LINES.split("\n")[:10])
    saved = f"[Output saved: {target} — {len(LINES)}B, 20 lines]"
    assert final == FinalResult(f"{preview}\n\n{saved}", is_error=False)


async def test_an_absolute_path_is_taken_as_it_is(shelf: Shelf) -> None:
    target = shelf.directory / "absolute.txt"
    final = await settle(shelf, str(target))
    assert target.read_text() == LINES
    assert f"[Output saved: {target} — " in final.text


async def test_structured_output_is_saved_as_json(shelf: Shelf) -> None:
    final = await settle(shelf, "out.json", ToolResult.ok({"b": 1, "a": [2]}))
    text = '{\n  "a": [\n    2\n  ],\n  "b": 1\n}'
    assert (shelf.directory / "out.json").read_text() == text
    assert final.text.startswith(text)
    assert not final.structured


@pytest.mark.parametrize(
    ("text", "counted"),
    [("", "0B, 1 lines"), ("x", "1B, 1 lines"), ("x\n", "2B, 2 lines"), ("é\n\n", "4B, 3 lines")],
)
async def test_sizes_and_lines_are_exact(shelf: Shelf, text: str, counted: str) -> None:
    final = await settle(shelf, "out.txt", ToolResult.ok(text))
    assert final.text.endswith(f" — {counted}]")


@pytest.mark.parametrize(
    "save_to",
    [
        "out/",
        ".",
        "..",
        "directory",
        "directory/.",
        "missing/",
        "/",
        "~",
        "$FLEMMA_TOOLS_STORE_PATH",
        "$FLEMMA_TOOLS_STORE_PATH/",
        "$FLEMMA_TOOLS_STORE_PATH/..",
        ".flemma",
        "$UNSET",
    ],
)
async def test_a_directory_is_no_target(shelf: Shelf, save_to: str) -> None:  # acceptance 83
    (shelf.directory / "directory").mkdir()
    final = await settle(shelf, save_to)
    notice = (
        f"[Output not saved: save_to target '{save_to}' is a directory — append a filename. "
        "Showing the full output instead.]"
    )
    assert final == FinalResult(f"{LINES}\n\n{notice}", is_error=False)
    assert not (shelf.directory / ".flemma").exists()


async def test_a_device_or_pipe_is_no_target_and_stays(shelf: Shelf) -> None:
    os.mkfifo(shelf.directory / "pipe")
    final = await settle(shelf, "pipe")
    assert "[Output not saved: save_to target 'pipe' is a device, pipe or socket." in final.text
    assert (shelf.directory / "pipe").is_fifo()


async def test_the_sandbox_is_asked(shelf: Shelf) -> None:
    sandbox = Confinement(writable=str(shelf.directory / "allowed"))
    (shelf.directory / "link").symlink_to(shelf.directory / "elsewhere.txt")
    for save_to in ("denied.txt", "allowed/../denied.txt", "link"):
        final = await settle(shelf, save_to, sandbox=sandbox)
        reason = f"save_to destination '{save_to}' is not writable under sandbox policy"
        assert f"\n\n[Output not saved: {reason}. Showing the full output instead.]" in final.text
    assert not (shelf.directory / "denied.txt").exists()
    assert "[Output saved: " in (await settle(shelf, "allowed/x", sandbox=sandbox)).text


async def test_what_was_there_is_backed_up(shelf: Shelf) -> None:
    target = shelf.directory / "out.txt"
    target.write_text("precious")
    await settle(shelf, "out.txt")
    assert (shelf.directory / "out.1.txt").read_text() == "precious"
    shelf.backup = None
    await settle(shelf, "out.txt", ToolResult.ok("again"))
    assert target.read_text() == "again"
    assert not (shelf.directory / "out.2.txt").exists()


async def test_only_successful_results_are_redirected(shelf: Shelf) -> None:
    final = await settle(shelf, "out.txt", ToolResult.failure("it broke", "half"))
    assert final == FinalResult("it broke\n\nPartial output:\nhalf", is_error=True)
    assert not (shelf.directory / "out.txt").exists()


async def test_a_target_that_cannot_be_written_shows_the_output(shelf: Shelf) -> None:
    (shelf.directory / "file").write_text("in the way")
    final = await settle(shelf, "file/out.txt")
    reason = f"Failed to create directory '{shelf.directory / 'file'}'"
    notice = f"[Output not saved: {reason}. Showing the full output instead.]"
    assert final.text == f"{LINES}\n\n{notice}"


@pytest.mark.parametrize(
    ("lines", "size", "expected"),
    [
        (0, 2048, ""),
        (2, 2048, "one\ntwo"),
        (10, 2048, "one\ntwo\nthrée"),
        (10, 7, "one\ntwo"),
        (10, 6, "one"),
        (10, 2, ""),
    ],
)
def test_the_preview_holds_whole_lines_within_both_limits(
    lines: int, size: int, expected: str
) -> None:
    assert head_preview("one\ntwo\nthrée", lines, size) == expected


async def test_without_a_preview_the_stub_is_one_line(shelf: Shelf) -> None:
    final = await settle(shelf, "out.txt", options=replace(DEFAULTS, preview_lines=0))
    assert final.text.startswith("[Output saved: ")


class TestSpooledOutput:
    """Output that was too large for memory comes as a file in the store."""

    async def spooled(self, shelf: Shelf, text: str) -> ToolResult:
        spool = await shelf.store.for_call(KEY).open_spool()
        assert spool is not None
        spool.write(text.encode())
        tail = f"{text[-20:]}\n\n[Showing …]"
        path = await spool.commit()
        return ToolResult(success=True, output=tail, full_output_path=path, truncated=True)

    async def test_the_whole_of_it_is_saved_and_the_copy_in_the_store_stays(
        self, shelf: Shelf
    ) -> None:
        text = "x" * 30 + "\n" + "line\n" * 100_000
        (shelf.directory / "out.txt").write_text("precious")
        final = await settle(shelf, "out.txt", await self.spooled(shelf, text))
        target = shelf.directory / "out.txt"
        assert target.read_text() == text
        assert (shelf.directory / "out.1.txt").read_text() == "precious"
        assert (shelf.root / "tool_bash_toolu_01.txt").read_text() == text
        assert final.text.startswith("x" * 30 + "\nline\n")
        assert final.text.endswith(f"[Output saved: {target} — 488.3KB, 100002 lines]")
        assert sorted(each.name for each in shelf.directory.glob("*out*")) == [
            "out.1.txt",
            "out.txt",
        ]

    async def test_saving_over_the_copy_in_the_store_keeps_it(self, shelf: Shelf) -> None:
        save_to = "$FLEMMA_TOOLS_STORE_PATH/tool_bash_toolu_01.txt"
        final = await settle(shelf, save_to, await self.spooled(shelf, "a\nb"))
        assert (shelf.root / "tool_bash_toolu_01.txt").read_text() == "a\nb"
        assert final.text.startswith("a\nb\n\n[Output saved: ")

    async def test_bytes_that_are_no_text_are_kept_and_shown_safely(self, shelf: Shelf) -> None:
        result = await self.spooled(shelf, "")
        assert result.full_output_path is not None
        Path(result.full_output_path).write_bytes(b"\xff\xfe\n\x00")
        final = await settle(shelf, "out.bin", result)
        assert (shelf.directory / "out.bin").read_bytes() == b"\xff\xfe\n\x00"
        assert final.text.startswith("\ufffd\ufffd\n")

    async def test_output_that_was_lost_is_not_called_saved(self, shelf: Shelf) -> None:
        result = ToolResult(success=True, output="tail", truncated=True, incomplete=True)
        final = await settle(shelf, "out.txt", result)
        assert "[Output not saved: the whole output could not be kept." in final.text
        assert not (shelf.directory / "out.txt").exists()


class TestMaterialized:
    """`tools.store.materialize` keeps every result."""

    OPTIONS = replace(DEFAULTS, materialize=True)

    @pytest.mark.parametrize(
        ("result", "kept"),
        [
            (ToolResult.ok("text"), "text"),
            (ToolResult.ok(None), ""),
            (ToolResult.ok({"a": 1}), '{\n  "a": 1\n}'),
            (ToolResult.failure("bad"), "bad"),
            (ToolResult.failure("bad", "half"), "bad\n\nPartial output:\nhalf"),
            (ToolResult(success=True, output="cut", untruncated="whole"), "whole"),
        ],
    )
    async def test_each_result_has_its_file(
        self, shelf: Shelf, result: ToolResult, kept: str
    ) -> None:
        key = StoreKey("job", "bash", "job_abcde")
        await settle(shelf, None, result, self.OPTIONS, key=key)
        assert (shelf.root / "job_bash_job_abcde.txt").read_text() == kept

    async def test_a_spooled_output_is_not_written_again(self, shelf: Shelf) -> None:
        path = shelf.root / "tool_bash_toolu_01.txt"
        path.parent.mkdir(parents=True)
        path.write_text("all")
        for result in (
            ToolResult(success=True, output="cut", full_output_path=str(path)),
            ToolResult.failure("cut", full_output_path=str(path)),
        ):
            await settle(shelf, None, result, self.OPTIONS)
        assert [file.name for file in shelf.root.iterdir()] == [path.name]
        assert path.read_text() == "all"

    async def test_a_failure_warns_and_the_result_stands(self, shelf: Shelf) -> None:
        (shelf.directory / ".flemma").write_text("in the way")
        final = await settle(shelf, None, options=self.OPTIONS)
        assert final.text == LINES
        assert shelf.screen.told[0][0].startswith("Could not save full tool output: ")

    async def test_nothing_is_written_unless_wanted(self, shelf: Shelf) -> None:
        await settle(shelf, None)
        assert not shelf.root.exists()


LONG = "\n".join(f"line {number}" for number in range(1, 2501))


async def test_a_long_output_is_cut_and_the_whole_of_it_is_in_the_store(shelf: Shelf) -> None:
    final = await settle(shelf, None, ToolResult.ok(LONG))
    stored = Path(shelf.store.path(KEY))
    assert final.text.startswith("line 1\n")
    assert final.text.endswith(
        f"line 2000\n\n[Showing lines 1-2000 of 2500. Full output: {stored}]"
    )
    assert stored.read_text() == LONG


async def test_an_output_at_the_limit_is_not_cut(shelf: Shelf) -> None:
    """Case X-17."""
    fits = "\n".join("x" for _ in range(2000))
    assert (await settle(shelf, None, ToolResult.ok(fits))).text == fits
    assert "1-2000 of 2001" in (await settle(shelf, None, ToolResult.ok(f"{fits}\nx"))).text


async def test_a_long_line_is_only_in_the_store(shelf: Shelf) -> None:
    final = await settle(shelf, None, ToolResult.ok("é" * 30_000))
    path = shelf.store.path(KEY)
    assert final.text == (
        f"[Output too large: 58.6KB in a single line, exceeds 50.0KB limit. Full output: {path}]"
    )


async def test_a_long_error_is_cut_and_stays_an_error(shelf: Shelf) -> None:
    final = await settle(shelf, None, ToolResult.failure("it broke", LONG))
    assert final.is_error
    assert final.text.startswith("it broke\n\nPartial output:\nline 1\n")
    assert "Full output: " in final.text


async def test_a_long_structure_is_cut_as_text_and_no_longer_called_json(shelf: Shelf) -> None:
    final = await settle(shelf, None, ToolResult.ok({"numbers": list(range(3000))}))
    assert not final.structured
    assert final.text.startswith('{\n  "numbers": [\n    0,')
    assert Path(shelf.store.path(KEY)).read_text().endswith("2999\n  ]\n}")


async def test_a_tool_that_cut_its_output_itself_is_left_alone(shelf: Shelf) -> None:
    result = replace(ToolResult.ok(LONG), truncated=True)
    assert (await settle(shelf, None, result)).text == LONG
    assert not Path(shelf.store.path(KEY)).exists()


async def test_save_to_gets_the_whole_output_and_nothing_goes_to_the_store(shelf: Shelf) -> None:
    final = await settle(shelf, "out.txt", ToolResult.ok(LONG))
    assert final.text.endswith("2500 lines]")
    assert (shelf.directory / "out.txt").read_text() == LONG
    assert not Path(shelf.store.path(KEY)).exists()


async def test_a_materialised_output_that_is_cut_is_written_once(shelf: Shelf) -> None:
    options = replace(DEFAULTS, materialize=True)
    final = await settle(shelf, None, ToolResult.ok(LONG), options)
    stored = Path(shelf.store.path(KEY))
    assert f"Full output: {stored}]" in final.text
    assert [path.name for path in stored.parent.iterdir()] == [stored.name]

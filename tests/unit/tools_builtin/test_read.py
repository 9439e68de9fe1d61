"""The read tool on real files (acceptance 70, 71; cases E-05, E-22 to E-26, B-16)."""

import os
from pathlib import Path
from typing import Any

import pytest

from flemma.tools.builtin.read import definition
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolPreview, ToolResult
from tests.support.tool_context import LoadedBuffers, make_context

read = definition()
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path, tool_name="read")


async def run(context: ToolContext, path: str | None, **options: Any) -> ToolResult:
    result = await read.execute({"label": "test", "path": path, **options}, context)  # pyright: ignore
    assert isinstance(result, ToolResult)
    return result


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def more(count: str, offset: int) -> str:
    return f"[{count} in file. Use offset={offset} to continue.]"


TEN = numbered(10)


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (TEN, {}, TEN.rstrip()),
        ("no newline", {}, "no newline"),
        (TEN, {"offset": 4, "limit": 3}, f"line 4\nline 5\nline 6\n\n{more('4 more lines', 7)}"),
        (TEN, {"offset": 9, "limit": 1}, f"line 9\n\n{more('1 more line', 10)}"),
        (TEN, {"offset": 9.9, "limit": 99}, "line 9\nline 10"),
        (TEN, {"offset": 0, "limit": 0}, f"line 1\n\n{more('9 more lines', 2)}"),
        ("\tkeeps\ttabs\n", {}, "\tkeeps\ttabs"),
        ("\n\n", {}, "\n"),
        ("a\r\nb\r\n", {}, "a\nb"),
        ("a\rb\r", {}, "a\nb"),
        ("", {}, "(empty file)"),
        ("", {"limit": 5}, "(empty file)"),
        ("stray \0" + "." * 100, {}, "stray \\x00" + "." * 100),
    ],
)  # fmt: skip
async def test_the_lines_asked_for_are_returned(
    context: ToolContext, content: str, options: dict[str, Any], expected: str
) -> None:
    """Acceptance 70; E-05, E-24."""
    Path(context.cwd, "file").write_bytes(content.encode())
    assert await run(context, "file", **options) == ToolResult.ok(expected)


async def test_an_offset_beyond_the_end_is_an_error(context: ToolContext) -> None:
    """Acceptance 71."""
    Path(context.cwd, "three").write_text("1\n2\n3\n")
    Path(context.cwd, "empty").touch()
    assert (await run(context, "three", offset=99)).error == (
        "Offset 99 is beyond end of file (3 lines total)"
    )
    assert (await run(context, "empty", offset=1)).error == (
        "Offset 1 is beyond end of file (0 lines total)"
    )


@pytest.mark.parametrize(
    ("content", "offset", "notice"),
    [
        (numbered(2001), 1, "[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]"),
        (
            ("x" * 1023 + "\n") * 99,
            1,
            "[Showing lines 1-50 of 99 (50.0KB limit). Use offset=51 to continue.]",
        ),
        (numbered(4000), 1500, "[Showing lines 1500-3499 of 4000. Use offset=3500 to continue.]"),
    ],
)  # fmt: skip
async def test_long_files_are_cut_with_how_to_go_on(
    context: ToolContext, content: str, offset: int, notice: str
) -> None:
    Path(context.cwd, "long").write_text(content)
    output = (await run(context, "long", offset=offset)).output
    assert isinstance(output, str)
    assert output.endswith(f"\n\n{notice}")


async def test_an_over_long_line_is_not_shown(context: ToolContext) -> None:
    Path(context.cwd, "my file").write_text("short\n" + "x" * 60000)
    assert (await run(context, "my file", offset=2)).output == (
        "[Line 2 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '2p' 'my file' | head -c 51200]"
    )


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (None, "No path provided"),
        ("", "No path provided"),
        ("none.txt", "File not found: none.txt"),
        ("directory", "File not found: directory is a directory. Use ls to list it."),
        ("pipe", "File not found: pipe is a device, pipe or socket, not a regular file."),
        ("/dev/zero", "File not found: /dev/zero is a device, pipe or socket, not a regular file."),
    ],
)
async def test_what_is_no_file_is_named(context: ToolContext, path: str | None, error: str) -> None:
    """E-23, E-24, X-06."""
    Path(context.cwd, "directory").mkdir()
    os.mkfifo(Path(context.cwd, "pipe"))
    assert await run(context, path) == ToolResult.failure(error)


@pytest.mark.parametrize(
    ("path", "reference"),
    [
        ("a.png", "@./a.png;type=image/png"),
        ("./a.png", "@./a.png;type=image/png"),
        ("sub/../a.png", "@./sub/../a.png;type=image/png"),
        ("with space (1) 100%.png", "@./with%20space%20(1)%20100%25.png;type=image/png"),
        ("{cwd}/a.png", "@/{cwd}/a.png;type=image/png"),
        ("@a.png", "@/{cwd}/a.png;type=image/png"),
    ],
)
async def test_an_image_becomes_a_reference(
    context: ToolContext, path: str, reference: str
) -> None:
    """E-26."""
    Path(context.cwd, "sub").mkdir()
    for name in ("a.png", "with space (1) 100%.png"):
        Path(context.cwd, name).write_bytes(PNG)
    result = await run(context, path.format(cwd=context.cwd))
    assert result == ToolResult.ok(reference.format(cwd=context.cwd))


@pytest.mark.parametrize(
    ("name", "content", "mime"),
    [
        ("a.pdf", b"%PDF-1.4 only ascii", "application/pdf"),
        ("misnamed.txt", PNG, "image/png"),
        ("data.bin", b"\x00\x01\x02\x03" * 20, "application/octet-stream"),
        ("archive.gz", b"\x1f\x8b\x08\x00" + bytes(40), "application/x-gzip"),
    ],
)
async def test_the_type_is_that_of_the_content(
    context: ToolContext, name: str, content: bytes, mime: str
) -> None:
    Path(context.cwd, name).write_bytes(content)
    assert (await run(context, name)).output == f"@./{name};type={mime}"


async def test_text_is_text_whatever_its_name(context: ToolContext) -> None:
    Path(context.cwd, "drawing.svg").write_text("<svg/>")
    assert (await run(context, "drawing.svg")).output == "<svg/>"


async def test_what_would_break_every_later_request_is_not_attached(context: ToolContext) -> None:
    """B-16."""
    Path(context.cwd, "big.png").write_bytes(PNG + bytes(4_000_000))
    Path(context.cwd, "long.pdf").write_bytes(b"%PDF-1.4\n\xff" + b"<</Type /Page>>\n" * 101)
    big, long = await run(context, "big.png"), await run(context, "long.pdf")
    assert big.error is not None
    assert big.error.startswith("Image is too large: big.png has 3.8MB, at most 3.8MB")
    assert long.error is not None
    assert long.error.startswith("PDF has too many pages: long.pdf has 101, at most 100")


@pytest.mark.parametrize(
    ("data", "output"),
    [
        ("naïve".encode("cp1252"), "naïve\n\n[The file is encoded in cp1252.]"),
        ("\ufeffnaïve".encode("utf-16-le"), "naïve\n\n[The file is encoded in utf-16-le.]"),
        ("\ufeffnaïve".encode(), "naïve"),
    ],
)
async def test_other_encodings_are_decoded_and_named(
    context: ToolContext, data: bytes, output: str
) -> None:
    Path(context.cwd, "file").write_bytes(data)
    assert (await run(context, "file")).output == output


async def test_unsaved_changes_in_the_editor_are_what_is_read(tmp_path: Path) -> None:
    """E-22."""
    path = tmp_path / "file"
    path.write_text("on disk\n")
    buffers = LoadedBuffers()
    context = make_context(tmp_path, buffers=buffers)
    buffers.load(path, "in the editor\n", modified=True)
    assert (await run(context, "file")).output == (
        "in the editor\n\n[unsaved: changes in the editor are included]"
    )
    buffers.load(tmp_path / "new", "not on disk yet", modified=True)
    output = (await run(context, "new")).output
    assert isinstance(output, str)
    assert output.startswith("not on disk yet\n\n[unsaved")


async def test_an_unmodified_buffer_follows_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old\n")
    buffers = LoadedBuffers()
    buffers.load(path)
    path.write_text("changed by a command\n")
    context = make_context(tmp_path, buffers=buffers)
    assert (await run(context, "file")).output == "changed by a command"


@pytest.mark.parametrize(
    ("options", "detail"),
    [
        ({}, ("config.lua",)),
        ({"offset": 100, "limit": 50}, ("config.lua", "+100,50")),
        ({"offset": 100, "limit": None}, ("config.lua", "+100")),
        ({"limit": 50}, ("config.lua", "+0,50")),
    ],
)
def test_the_preview_shows_path_and_range(options: dict[str, Any], detail: tuple[str, ...]) -> None:
    assert read.format_preview is not None
    preview = read.format_preview({"path": "config.lua", "label": "reading tail", **options})
    assert preview == ToolPreview(detail, "reading tail")
    assert read.capabilities == {"emits_template"}

"""The write tool on real files (behaviour 4.3; acceptance 76; cases E-02, E-14 to E-21)."""

import os
from pathlib import Path
from typing import Any

import pytest

from flemma.tools.builtin.write import definition
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolPreview, ToolResult
from tests.support.tool_context import Confinement, LoadedBuffers, make_context

write = definition()
UNENCODABLE = (
    "Cannot write file: '→' (U+2192) cannot be encoded in cp1252, the encoding of the file"
)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path, tool_name="write")


async def run(context: ToolContext, path: str | None, content: str | None) -> ToolResult:
    values: Any = {"label": "test", "path": path, "content": content}
    result = await write.execute(values, context)  # pyright: ignore
    assert isinstance(result, ToolResult)
    return result


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "Successfully wrote 0 bytes to new/file"),
        ("x", "Successfully wrote 1 byte to new/file"),
        ("é\n", "Successfully wrote 3 bytes to new/file"),
        ("a\r\nb", "Successfully wrote 4 bytes to new/file"),
    ],
)
async def test_a_new_file_gets_exactly_the_content(
    context: ToolContext, content: str, message: str
) -> None:
    assert await run(context, "new/file", content) == ToolResult.ok(message)
    assert Path(context.cwd, "new/file").read_bytes() == content.encode()


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"old\n", "new", b"new"),
        (b"a\r\nb\r\n", "a\nnew\nb\n", b"a\r\nnew\r\nb\r\n"),
        (b"a\nb\r\nc\n", "a\nb\nd\ne\n", b"a\nb\r\nd\ne\n"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),
        (b"\xef\xbb\xbfold", "new", b"\xef\xbb\xbfnew"),
        (b"\xef\xbb\xbfold", "\ufeffnew", b"\xef\xbb\xbfnew"),
        ("\ufeffold".encode("utf-16-be"), "new", "\ufeffnew".encode("utf-16-be")),
        (b"caf\xe9\n", "th\u00e9\n", b"th\xe9\n"),
        (bytes(40), "text now →", "text now →".encode()),
        (b"", "x\n", b"x\n"),
    ],
)
async def test_encoding_and_line_endings_of_the_old_file_are_kept(
    context: ToolContext, before: bytes, content: str, after: bytes
) -> None:
    """E-02, E-04."""
    path = Path(context.cwd, "file")
    path.write_bytes(before)
    expected = f"Successfully wrote {len(after)} bytes to file"
    assert await run(context, "file", content) == ToolResult.ok(expected)
    assert path.read_bytes() == after


@pytest.mark.parametrize(
    ("path", "content", "error"),
    [
        (None, "x", "No path provided"),
        ("file", None, "No content provided"),
        ("directory", "x", "Cannot write file: directory is a directory"),
        ("new/", "x", "Cannot write file: new/ is a directory"),
        ("pipe", "x", "Cannot write file: pipe is a device, pipe or socket, not a regular file"),
        ("plain/below", "x", "Cannot write file: Not a directory"),
        ("latin", "→", UNENCODABLE),
    ],
)  # fmt: skip
async def test_what_cannot_be_written_is_said(
    context: ToolContext, path: str | None, content: str | None, error: str
) -> None:
    """E-04, E-23, E-24."""
    Path(context.cwd, "directory").mkdir()
    Path(context.cwd, "plain").touch()
    Path(context.cwd, "latin").write_bytes(b"\xe9")
    os.mkfifo(Path(context.cwd, "pipe"))
    assert (await run(context, path, content)).error == error
    assert Path(context.cwd, "latin").read_bytes() == b"\xe9"


async def test_the_sandbox_is_asked_first(tmp_path: Path) -> None:
    """Acceptance 76."""
    context = make_context(tmp_path, sandbox=Confinement(writable=str(tmp_path / "in")))
    assert (await run(context, "../out.txt", "x")).error == (
        "Sandbox: write denied – path is outside writable directories: ../out.txt"
    )
    assert (await run(context, "in/x", "x")).success


async def test_a_loaded_buffer_changes_only_where_it_differs(tmp_path: Path) -> None:
    """E-21."""
    path = tmp_path / "file"
    path.write_text("one\ntwo\nthree\n")
    buffers = LoadedBuffers()
    buffer = buffers.load(path)
    await run(make_context(tmp_path, buffers=buffers), "file", "one\n2\nthree\n")
    assert buffer.undo_steps == [(1, 2)]
    assert path.read_text() == "one\n2\nthree\n"


async def test_a_modified_buffer_is_changed_but_left_to_the_user_to_save(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("on disk\n")
    buffers = LoadedBuffers()
    buffer = buffers.load(path, "typed\n", modified=True)
    result = await run(make_context(tmp_path, buffers=buffers), "file", "written\n")
    assert isinstance(result.output, str)
    assert result.output.startswith("Successfully wrote 8 bytes to file. The file has unsaved")
    assert (buffer.lines, path.read_text()) == (["written"], "on disk\n")


def test_the_preview_shows_the_size() -> None:
    assert write.format_preview is not None
    preview = write.format_preview({"path": "output.txt", "content": "x" * 2355, "label": "log"})
    assert preview == ToolPreview(("output.txt", "(2.3KB)"), "log")

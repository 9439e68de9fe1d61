"""A chat file without an editor: when changes reach the disk, and whose file it is."""

import asyncio
from pathlib import Path

import pytest

from flemma.adapters.file_buffer import FileBuffer
from flemma.adapters.files import LocalFiles
from flemma.chat.document import Document
from flemma.chat.nodes import AppendText, Edit, ReplaceLines
from flemma.errors import BufferGone, EditorError


class FullDisk(LocalFiles):
    """Files that can be read, and written as long as there is room."""

    room = True

    async def write(self, path: str, data: bytes) -> None:
        if not self.room:
            raise OSError(28, "No space left on device")
        await super().write(path, data)


async def opened(path: Path, text: str) -> FileBuffer:
    path.write_bytes(text.encode())
    return await FileBuffer.open(str(path), LocalFiles())


def line(text: str):
    def compute(document: Document) -> tuple[Edit, ...]:
        return (ReplaceLines(document.line_count, document.line_count, (text,)),)

    return compute


def streamed(text: str):
    def compute(document: Document) -> tuple[Edit, ...]:
        return (AppendText(document.line_count - 1, text),)

    return compute


async def test_a_change_of_structure_is_in_the_file_at_once_and_streamed_text_with_the_next_save(
    tmp_path: Path,
):  # L-01
    path = tmp_path / "notes.chat"
    buffer = await opened(path, "@You:\nHi.\n")
    await buffer.edit(line("@Assistant:"))
    assert path.read_text() == "@You:\nHi.\n@Assistant:\n"
    await buffer.edit(streamed("\nHel"))
    await buffer.edit(streamed("lo."))
    assert path.read_text() == "@You:\nHi.\n@Assistant:\n"
    await buffer.save()
    assert path.read_text() == "@You:\nHi.\n@Assistant:\nHello.\n"


async def test_a_write_of_somebody_else_is_never_overwritten(tmp_path: Path):  # L-04
    path = tmp_path / "notes.chat"
    buffer = await opened(path, "@You:\nHi.\n")
    path.write_text("mine\n")
    with pytest.raises(BufferGone, match="changed by somebody else"):
        await buffer.edit(line("@Assistant:"))
    with pytest.raises(BufferGone):
        await buffer.edit(line("again"))
    assert path.read_text() == "mine\n"
    assert buffer.lost is not None


async def test_a_file_that_was_not_changed_is_not_touched(tmp_path: Path):
    path = tmp_path / "notes.chat"
    buffer = await opened(path, "@You:\nHi.\n")
    before = path.stat()
    await buffer.edit(lambda document: ())
    await buffer.save()
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_a_full_disk_is_an_error_and_the_text_is_written_as_soon_as_there_is_room(
    tmp_path: Path,
):
    path = tmp_path / "notes.chat"
    path.write_text("@You:\nHi.\n")
    files = FullDisk()
    buffer = await FileBuffer.open(str(path), files)
    files.room = False
    with pytest.raises(EditorError, match="No space left"):
        await buffer.edit(line("@Assistant:"))
    assert path.read_text() == "@You:\nHi.\n"
    files.room = True
    await buffer.save()
    assert path.read_text() == "@You:\nHi.\n@Assistant:\n"


async def test_a_cancelled_edit_is_still_written_whole(tmp_path: Path):
    path = tmp_path / "notes.chat"
    buffer = await opened(path, "@You:\nHi.\n")
    editing = asyncio.ensure_future(buffer.edit(line("@Assistant:")))
    await asyncio.sleep(0)
    editing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await editing
    await buffer.edit(line("Hello."))
    assert path.read_text() == "@You:\nHi.\n@Assistant:\nHello.\n"

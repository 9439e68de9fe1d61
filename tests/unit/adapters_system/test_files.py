"""Files on a real disk (cases E-14, E-15, E-16, E-23, E-24)."""

import os
import stat
from pathlib import Path

import pytest

from flemma.adapters.files import LocalFiles
from flemma.ports.files import FileKind

files = LocalFiles()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_file_gets_parents_and_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        await files.write(str(tmp_path / "a" / "b.txt"), b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"new"
    assert mode(tmp_path / "a" / "b.txt") == 0o640


@pytest.mark.parametrize("kept", [0o755, 0o600, 0o4711])
async def test_mode_bits_are_kept_when_a_file_is_replaced(tmp_path: Path, kept: int) -> None:
    """E-14."""
    path = tmp_path / "script"
    path.write_bytes(b"old")
    path.chmod(kept)
    await files.write(str(path), b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", kept)


async def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("no extended attributes here")
    await files.write(str(path), b"new")
    assert os.getxattr(path, "user.note") == b"kept"


async def test_writing_goes_through_symbolic_links(tmp_path: Path) -> None:
    """E-15, a dangling link too."""
    (tmp_path / "real").write_bytes(b"old")
    for name, target in (("link", "real"), ("dangling", "absent")):
        (tmp_path / name).symlink_to(target)
        await files.write(str(tmp_path / name), b"new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / target).read_bytes() == b"new"


async def test_other_names_of_a_file_stay_the_same_file(tmp_path: Path) -> None:
    path, other = tmp_path / "one", tmp_path / "other"
    path.write_bytes(b"old and long")
    other.hardlink_to(path)
    await files.write(str(path), b"new")
    assert other.read_bytes() == b"new"


async def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """E-16."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        await files.write(str(path), "no bytes")  # pyright: ignore[reportArgumentType]
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


async def test_a_very_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    await files.write(str(path), b"x")
    await files.write(str(path), b"y")
    assert path.read_bytes() == b"y"


async def test_directories_and_pipes_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    """E-23, E-24, X-06."""
    os.mkfifo(tmp_path / "pipe")
    for path, kind in (
        (str(tmp_path), FileKind.DIRECTORY),
        (str(tmp_path / "pipe"), FileKind.OTHER),
        ("/dev/zero", FileKind.OTHER),
    ):
        assert files.kind(path) is kind
        with pytest.raises(OSError, match=r"directory|regular file"):
            await files.read(path)
        with pytest.raises(OSError, match=r"directory|regular file"):
            await files.write(path, b"x")


async def test_reading_can_be_limited(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert await files.read(str(path), limit=4) == b"0123"
    assert await files.read(str(path)) == b"0123456789"
    assert files.size(str(path)) == 10


def test_what_does_not_exist_is_missing(tmp_path: Path) -> None:
    assert files.kind(str(tmp_path / "none")) is FileKind.MISSING
    assert files.kind("nul\0byte") is FileKind.MISSING


async def test_a_directory_is_listed_with_links_told_apart(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("directory")
    (tmp_path / "circle").symlink_to("circle")
    entries = {entry.name: entry for entry in await files.list(str(tmp_path))}
    assert {name for name, entry in entries.items() if entry.is_directory} == {"directory", "link"}
    assert {name for name, entry in entries.items() if entry.is_link} == {"link", "circle"}


async def test_files_move_over_others_and_links_resolve(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    (tmp_path / "link").symlink_to("b")
    await files.rename(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "b").read_bytes() == b"a"
    assert files.real_path(str(tmp_path / "link" / "x")) == str(tmp_path / "b" / "x")
    files.make_directories(str(tmp_path / "d" / "e"))
    assert (tmp_path / "d" / "e").is_dir()


async def test_files_are_copied_and_counted_in_pieces(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"line\n" * 300_000)
    await files.copy(str(source), str(target))
    assert target.read_bytes() == source.read_bytes()
    assert await files.count_newlines(str(target)) == 300_000

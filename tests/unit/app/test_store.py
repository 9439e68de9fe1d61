"""Writing store files: backups, spools, and what the user is told when it fails (6.3)."""

import asyncio
from pathlib import Path

import pytest

from flemma.adapters.files import LocalFiles
from flemma.app.store import Backups, ResultStore, StoreError
from flemma.app.store_paths import StoreKey
from flemma.ports.editor import Level
from tests.unit.app.store_support import KEY, FullDisk, Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


async def written(store: ResultStore, text: str, key: StoreKey = KEY) -> Path:
    path = store.path(key)
    await store.write(path, text)
    return Path(path)


async def test_the_newest_run_has_the_canonical_name(shelf: Shelf) -> None:  # acceptance 82
    for text in ("first", "second", "third"):
        path = await written(shelf.store, text)
    assert path == shelf.root / "tool_bash_toolu_01.txt"
    assert path.read_text() == "third"
    assert (shelf.root / "tool_bash_toolu_01.1.txt").read_text() == "first"
    assert (shelf.root / "tool_bash_toolu_01.2.txt").read_text() == "second"
    assert shelf.screen.told == []


async def test_without_backups_the_old_file_is_overwritten(shelf: Shelf) -> None:
    shelf.backup = None
    await written(shelf.store, "first")
    path = await written(shelf.store, "second")
    assert [file.name for file in shelf.root.iterdir()] == [path.name]


async def test_a_strategy_of_ones_own_moves_the_old_file(shelf: Shelf) -> None:
    async def aside(path: str) -> None:
        await asyncio.to_thread(Path(path).rename, f"{path}.old")

    backups = Backups(LocalFiles())
    backups.register("mine", aside)
    shelf.backup = backups.find("mine")
    await written(shelf.store, "first")
    path = await written(shelf.store, "second")
    assert Path(f"{path}.old").read_text() == "first"


@pytest.mark.parametrize("error", [StoreError("no"), OSError("no"), KeyError("no")])
async def test_a_failing_backup_warns_and_the_write_goes_on(shelf: Shelf, error: Exception) -> None:
    async def fail(path: str) -> None:
        raise error

    shelf.backup = fail
    await written(shelf.store, "first")
    assert (await written(shelf.store, "second")).read_text() == "second"
    assert shelf.screen.told == [(f"Store backup failed: {error}", Level.WARN)]


async def test_an_unknown_strategy_is_named_when_it_is_needed(shelf: Shelf) -> None:
    shelf.backup = Backups(LocalFiles()).find("verison")
    await written(shelf.store, "first")
    assert shelf.screen.told == []
    await written(shelf.store, "second")
    text = "Store backup failed: Unknown backup strategy 'verison' (known: version)"
    assert shelf.screen.told == [(text, Level.WARN)]


async def test_half_a_character_does_not_keep_a_result_from_the_store(shelf: Shelf) -> None:
    path = await written(shelf.store, "a\ud83db\udcff")  # cases B-14, B-15
    assert path.read_text() == "a\ufffdb\ufffd"


async def test_spooled_output_appears_when_it_is_complete(shelf: Shelf) -> None:
    spool = await shelf.store.for_call(KEY).open_spool()
    assert spool is not None
    spool.write(b"one\n")
    assert not any(file.suffix == ".txt" for file in shelf.root.iterdir())
    spool.write(b"two")
    path = Path(await spool.commit())
    assert path == shelf.root / "tool_bash_toolu_01.txt"
    assert path.read_text() == "one\ntwo"
    assert list(shelf.root.iterdir()) == [path]
    assert path.stat().st_mode == shelf_mode(shelf)


def shelf_mode(shelf: Shelf) -> int:
    plain = shelf.directory / "plain"
    plain.write_text("")
    return plain.stat().st_mode


async def test_a_discarded_spool_leaves_nothing_and_the_old_file_alone(shelf: Shelf) -> None:
    path = await written(shelf.store, "old")
    spool = await shelf.store.for_call(KEY).open_spool()
    assert spool is not None
    spool.write(b"new")
    spool.discard()
    assert [file.name for file in shelf.root.iterdir()] == [path.name]
    assert path.read_text() == "old"


async def test_an_output_that_cannot_be_stored_is_told_and_no_file_is_named(shelf: Shelf) -> None:
    (shelf.directory / ".flemma").write_text("in the way")
    call = shelf.store.for_call(KEY)
    assert await call.write("text") is None
    assert await call.open_spool() is None
    reason = f"Failed to create directory '{shelf.root}'"
    assert shelf.screen.told == [(f"Could not save full tool output: {reason}", Level.WARN)] * 2


async def test_a_spool_that_cannot_be_put_in_place_is_told(shelf: Shelf) -> None:
    call = shelf.store.for_call(KEY)
    spool = await call.open_spool()
    assert spool is not None
    assert call.path is not None
    spool.write(b"text")
    Path(call.path).mkdir()
    with pytest.raises(StoreError):
        await spool.commit()
    spool.discard()
    ((text, level),) = shelf.screen.told
    assert text.startswith("Could not save full tool output: Failed to rename ")
    assert level is Level.WARN
    assert [file.name for file in shelf.root.iterdir()] == [Path(call.path).name]


async def test_a_full_disk_is_told(shelf: Shelf) -> None:
    shelf.spools = FullDisk()
    spool = await shelf.store.for_call(KEY).open_spool()
    assert spool is not None
    with pytest.raises(StoreError, match="No space left"):
        spool.write(b"x")
    spool.discard()
    ((text, _),) = shelf.screen.told
    assert text.startswith("Could not save full tool output: Failed to write ")


async def test_a_store_that_cannot_be_computed_has_no_place(shelf: Shelf) -> None:
    shelf.path_format = "$nope"
    assert shelf.store.directory is None
    call = shelf.store.for_call(KEY)
    assert (call.directory, call.path) == (None, None)
    assert await call.write("text") is None
    assert shelf.screen.told[0][0].startswith("Could not save full tool output: Unknown store")

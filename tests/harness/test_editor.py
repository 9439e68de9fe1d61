"""The harness itself, with a Neovim that has no plugin: it must be able to fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.nvim import Editor
from tests.support.processes import is_alive
from tests.support.wait import wait_until


@pytest.fixture
def plain() -> Iterator[Editor]:
    with Editor(plugin=False, size=(40, 10)) as editor:
        yield editor


def test_typed_keys_reach_the_buffer_and_the_screen(plain: Editor):
    plain.keys("ihello <lt>you><Esc>")
    assert plain.text() == "hello <you>"
    assert plain.cursor() == (1, 10)
    assert plain.screen_lines()[0] == "hello <you>"


def test_a_file_with_odd_characters_in_its_name_is_opened(plain: Editor):
    path = plain.directory / "a b%#[x].chat"
    path.write_text("one\ntwo\n")
    buffer = plain.open(path)
    assert plain.lines(buffer) == ["one", "two"]
    assert Path(plain.request("nvim_buf_get_name", buffer)) == path


def test_notifications_are_collected_and_never_ask_for_a_key(plain: Editor):
    plain.exec_lua('vim.notify(("x"):rep(500), vim.log.levels.ERROR)')
    [notification] = plain.notifications()
    assert (len(notification.text), notification.level) == (500, 4)
    assert not plain.mode()["blocking"]


def test_virtual_text_and_lines_are_seen_with_their_row(plain: Editor):
    plain.set_lines(["a", "b"])
    plain.exec_lua("""
        local ns = vim.api.nvim_create_namespace("test")
        local chunks = { { "bash:", "Title" }, { " ls" } }
        vim.api.nvim_buf_set_extmark(0, ns, 1, 0, { virt_lines = { chunks } })
        vim.api.nvim_buf_set_extmark(0, ns, 0, 0, { virt_text = { { "done" } } })
    """)
    assert plain.virtual_text() == [(0, "done"), (1, "bash: ls")]
    assert [mark.namespace for mark in plain.extmarks("test")] == ["test", "test"]
    assert plain.extmarks("another") == []
    assert plain.screen_lines()[:3] == ["a done", "b", "bash: ls"]


def test_scrolled_and_wide_text_is_on_the_screen_where_neovim_puts_it(plain: Editor):
    plain.set_lines([f"{number} 日本" for number in range(50)])
    plain.keys("<C-e><C-e><C-e>")
    assert plain.screen_lines()[:2] == ["3 日本", "4 日本"]


def test_a_question_fails_the_next_request_instead_of_hanging_it(plain: Editor):
    plain.keys(':echo "a\\nb\\nc"<CR>')
    with pytest.raises(AssertionError, match="waits for a key"):
        plain.text()
    assert "waits for a key" in plain.describe()


def test_a_busy_editor_is_measured(plain: Editor):
    with plain.measure_blocking() as pause:
        plain.exec_lua("vim.uv.sleep(80)")
    assert pause.longest >= 80


def test_a_wait_that_fails_says_what_was_awaited_and_shows_the_buffer(plain: Editor):
    plain.set_lines(["only this"])
    with pytest.raises(AssertionError) as failure:
        plain.wait_until(lambda: 0, timeout=0.05, message="the answer")
    assert "still not: the answer (last value 0)" in str(failure.value)
    assert "only this" in str(failure.value)


def test_a_wait_returns_what_it_waited_for():
    values = iter([None, "", "found"])
    assert wait_until(lambda: next(values)) == "found"


def test_text_that_comes_later_is_awaited(plain: Editor):
    plain.exec_lua("vim.defer_fn(function() vim.api.nvim_set_current_line('late') end, 20)")
    assert plain.wait_for_text("late") == "late"


def test_the_child_sees_only_the_given_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_OF_THE_DEVELOPER", "1")
    with Editor(plugin=False, environment={"GIVEN": "yes"}) as editor:
        assert editor.call("getenv", "SECRET_OF_THE_DEVELOPER") is None
        assert editor.call("getenv", "GIVEN") == "yes"
        assert editor.call("stdpath", "config").startswith(str(editor.home))


def test_closing_ends_what_the_editor_started_and_removes_its_files():
    editor = Editor(plugin=False)
    editor.exec_lua("vim.fn.jobstart({'setsid', 'sleep', '1000'}, { detach = true })")
    child = editor.wait_until(lambda: [pid for pid in editor.processes() if pid != editor.pid])[0]
    home = editor.home
    editor.close()
    assert not is_alive(child)
    assert not is_alive(editor.pid)
    assert not home.exists()

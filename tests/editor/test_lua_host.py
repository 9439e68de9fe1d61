"""The supervisor of the host, with a fake one: start, replay, crash, restart, refusal, quitting."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.editor.lua_shim import HANDLE, fake_interpreter, fold, heard, message
from tests.support.nvim import Editor
from tests.support.processes import is_alive
from tests.support.wait import wait_until

STATUS = 'return require("flemma.host").status()'


class Hosted:
    """An editor whose interpreter is the fake host."""

    def __init__(
        self, start_editor: Callable[..., Editor], directory: Path, **environment: str
    ) -> None:
        self.log = directory / "heard.jsonl"
        python = fake_interpreter(directory)
        environment = {"FLEMMA_FAKE_LOG": str(self.log), **environment}
        self.editor = start_editor(options={"python": str(python)}, environment=environment)

    def open(self, name: str = "talk.chat", text: str = "@You:\nhi\n") -> int:
        """Open a chat."""
        path = self.editor.directory / name
        path.write_text(text)
        self.editor.open(path)
        return self.editor.call("bufnr")

    def status(self) -> str:
        """Return what the supervisor is doing."""
        return self.editor.exec_lua(STATUS)

    def wait_for(self, status: str) -> None:
        """Wait until the supervisor is in a state."""
        self.editor.wait_until(lambda: self.status() == status, message=f"host is {status}")

    def heard(self, method: str) -> list[Any]:
        """Return the payloads of a message, of all hosts."""
        return [payload for _, name, payload in heard(self.log) if name == method]

    def wait_to_hear(self, method: str, count: int = 1) -> list[Any]:
        """Wait until a message came so many times."""
        self.editor.wait_until(lambda: len(self.heard(method)) >= count, message=method)
        return self.heard(method)

    def tell(self, method: str, payload: Any) -> Any:
        """Say something as the host."""
        return self.editor.exec_lua(HANDLE, method, payload)


@pytest.fixture
def hosted(start_editor: Callable[..., Editor], tmp_path: Path) -> Hosted:
    return Hosted(start_editor, tmp_path)


def test_no_host_runs_before_the_first_chat(hosted: Hosted) -> None:
    # Cases P-04, P-11: other files never start it.
    hosted.editor.open(hosted.editor.directory / "other.txt")
    assert hosted.status() == "stopped"
    assert hosted.editor.host_pid() is None
    loaded = hosted.editor.exec_lua('return package.loaded["flemma.rpc"] ~= nil')
    assert loaded is False


def test_the_first_chat_starts_it_and_is_announced(hosted: Hosted) -> None:
    number = hosted.open()
    (start,) = hosted.wait_to_hear("start")
    (opened,) = hosted.wait_to_hear("buffer:opened")
    assert (start["version"], start["plugin_version"]) == (1, "0.1.0")
    assert start["lua_modules"] == []
    assert start["options"] == {}
    assert opened["bufnr"] == number
    assert opened["path"].endswith("/talk.chat")
    assert opened["restarted"] is False


def test_a_key_pressed_before_it_is_ready_is_played(hosted: Hosted) -> None:
    # Case V-14: opening waits for nothing.
    number = hosted.open()
    hosted.editor.keys("<C-]>")
    (command,) = hosted.wait_to_hear("command")
    assert (command["name"], command["bufnr"], command["key"]) == ("send", number, True)
    order = [name for _, name, _ in heard(hosted.log)]
    assert order.index("buffer:opened") < order.index("command")


def test_a_command_starts_it_too(hosted: Hosted) -> None:
    hosted.editor.command("Flemma status verbose")
    (command,) = hosted.wait_to_hear("command")
    assert (command["name"], command["arguments"], command["key"]) == ("status", "verbose", False)


def test_a_virtual_environment_of_the_project_is_not_ours(
    start_editor: Callable[..., Editor], tmp_path: Path
) -> None:
    # Case P-04.
    hosted = Hosted(
        start_editor, tmp_path, VIRTUAL_ENV="/elsewhere", PYTHONPATH="/elsewhere", KEPT="yes"
    )
    found = hosted.editor.exec_lua('return require("flemma.interpreter").environment()')
    assert "VIRTUAL_ENV" not in found
    assert "PYTHONPATH" not in found
    assert found["KEPT"] == "yes"


def test_a_crash_unlocks_ends_spinners_and_restarts(hosted: Hosted) -> None:
    editor = hosted.editor
    number = hosted.open()
    hosted.wait_for("ready")
    tick = editor.request("nvim_buf_get_changedtick", number)
    status = {"kind": "status", "row": 0, "text": "Executing…", "group": "Title", "spinner": True}
    drawn = message(2, 0, 2, marks=[status], folds=[fold("x", 0, 1)])
    hosted.tell("view", {"bufnr": number, "tick": tick, "remove": [], "set": [drawn]})
    hosted.tell("lock", {"bufnr": number, "locked": True})
    hosted.tell("progress", {"bufnr": number, "phase": "waiting"})
    editor.command("Flemma die")
    opened = hosted.wait_to_hear("buffer:opened", 2)
    assert opened[1]["restarted"] is True
    assert editor.option("modifiable") is True
    assert editor.exec_lua('return require("flemma.spinner").is_running()') is False
    assert editor.exec_lua('return require("flemma.progress").is_running()') is False
    (told,) = editor.notifications()
    assert "exit code 3" in told.text
    assert "1 running tool stopped" in told.text
    assert "Traceback: the last words" in told.text


def test_a_key_pressed_while_it_restarts_is_played(hosted: Hosted) -> None:
    hosted.open()
    hosted.wait_for("ready")
    hosted.editor.kill_host()
    hosted.wait_for("waiting")
    hosted.editor.keys("<C-]>")
    hosted.wait_to_hear("command")


def test_it_stays_off_after_crashing_again_and_again(hosted: Hosted) -> None:
    hosted.open()
    for _ in range(3):
        hosted.wait_for("ready")
        hosted.editor.exec_lua("vim.defer_fn = function(f) vim.schedule(f) end")
        hosted.editor.command("Flemma die")
        hosted.editor.wait_until(lambda: hosted.status() != "ready")
    hosted.wait_for("ready")
    hosted.editor.command("Flemma die")
    hosted.wait_for("failed")
    assert "stays off" in hosted.editor.notifications()[-1].text
    hosted.editor.command("Flemma status")
    hosted.wait_for("ready")


def test_one_that_cannot_start_is_reported_once_with_the_way_out(
    start_editor: Callable[..., Editor], tmp_path: Path
) -> None:
    # Cases P-04, P-08.
    hosted = Hosted(start_editor, tmp_path, FLEMMA_FAKE_FAIL="1")
    hosted.open()
    hosted.wait_for("failed")
    hosted.open("second.chat")
    assert hosted.status() == "failed"
    (told,) = hosted.editor.notifications()
    assert "No module named 'pynvim'" in told.text
    assert "make install" in told.text
    assert ":checkhealth flemma" in told.text


def test_an_interpreter_that_is_not_there_is_reported(start_editor: Callable[..., Editor]) -> None:
    editor = start_editor(options={"python": "/no/such/python"})
    editor.open(editor.directory / "talk.chat")
    (told,) = editor.notifications()
    assert "/no/such/python" in told.text


def test_an_old_host_is_refused(start_editor: Callable[..., Editor], tmp_path: Path) -> None:
    hosted = Hosted(start_editor, tmp_path, FLEMMA_FAKE_VERSION="0.0.9")
    hosted.open()
    hosted.wait_for("failed")
    (told,) = hosted.editor.notifications()
    assert "0.0.9" in told.text
    assert "0.1.0" in told.text
    assert hosted.heard("buffer:opened") == []


def test_a_second_host_is_refused(hosted: Hosted) -> None:
    # Case P-17.
    hosted.open()
    hosted.wait_for("ready")
    answer = hosted.tell("attach", {"channel": 99})
    assert answer["ok"] is False
    assert "another" in answer["error"]


@pytest.mark.parametrize("mute", [False, True])
def test_quitting_ends_it(start_editor: Callable[..., Editor], tmp_path: Path, mute: bool) -> None:
    # Case P-14: also one that hears nothing any more.
    more = {"FLEMMA_FAKE_MUTE": "1"} if mute else {}
    hosted = Hosted(start_editor, tmp_path, **more)
    hosted.open()
    hosted.wait_to_hear("start")
    pid = hosted.editor.host_pid()
    assert pid
    hosted.editor.keys_without_answer(":qa!<CR>")
    wait_until(lambda: not is_alive(hosted.editor.pid), message="Neovim is gone")
    wait_until(lambda: not is_alive(pid), message="the host is gone")


def test_setup_later_sends_the_options(hosted: Hosted) -> None:
    hosted.open()
    hosted.wait_for("ready")
    hosted.editor.exec_lua(
        'require("flemma").setup({ model = "m", tools = { max_concurrent = 3 } })'
    )
    (setup,) = hosted.wait_to_hear("setup")
    assert setup["options"] == {"model": "m", "tools": {"max_concurrent": 3}}


def test_functions_in_options_are_references(hosted: Hosted) -> None:
    hosted.open()
    hosted.wait_for("ready")
    hosted.editor.exec_lua(
        """
        _G.decide = function() return true end
        local options = { tools = { auto_approve = decide } }
        require("flemma").setup(options)
        require("flemma").setup(options)
        """
    )
    first, second = hosted.wait_to_hear("setup", 2)
    assert first == second
    assert list(first["options"]["tools"]["auto_approve"]) == ["__flemma_function"]


def test_a_wiped_chat_is_closed(hosted: Hosted) -> None:
    number = hosted.open()
    hosted.wait_for("ready")
    hosted.editor.command("bwipeout!")
    assert hosted.wait_to_hear("buffer:closed")[0] == {"bufnr": number}


def test_a_chat_read_again_is_announced_again(hosted: Hosted) -> None:
    number = hosted.open()
    hosted.wait_to_hear("buffer:opened")
    hosted.editor.command("edit!")
    assert [p["bufnr"] for p in hosted.wait_to_hear("buffer:opened", 2)] == [number, number]


def test_health_names_what_is_missing(hosted: Hosted) -> None:
    hosted.editor.command("checkhealth flemma")
    report = hosted.editor.text()
    assert "ANTHROPIC_API_KEY is not set" in report
    assert ":help |flemma-credentials|" in report
    assert "make install" in report

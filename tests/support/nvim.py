"""A real Neovim under test: started clean, driven by keys, seen as a user sees it."""

import asyncio
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import pynvim

from scripts.neovim import find_neovim
from tests.support.processes import MARKER, end_marked, kill, marked
from tests.support.screen import Screen
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
XDG_DIRECTORIES = ("CONFIG", "DATA", "STATE", "CACHE")
LOG_TAIL = 4000
TURNS_TO_CLOSE = 5
"""Turns of the event loop after which closed pipes have told everyone."""

Found = TypeVar("Found")


class Notification(NamedTuple):
    """What the plugin told the user through ``vim.notify``; ``level`` is one of ``vim.log``."""

    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Extmark:
    """An extmark with the name of its namespace; rows and columns are 0-based."""

    namespace: str
    id: int
    row: int
    column: int
    details: dict[str, Any]


@dataclass(slots=True)
class Pause:
    """The longest time in milliseconds that the editor did nothing for its user."""

    longest: float = 0.0


class Editor:
    """A Neovim child with an attached UI and private XDG directories; a context manager.

    ``options`` go to ``require("flemma").setup``; None leaves setup to the test, and without
    ``plugin`` the plugin is not even on the runtimepath. ``environment`` is all that the child sees
    beside PATH, a locale and its private directories.
    """

    def __init__(
        self,
        *,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        plugin: bool = True,
        size: tuple[int, int] = (100, 40),
        directory: Path | None = None,
    ) -> None:
        neovim = find_neovim()
        assert neovim, "no Neovim 0.11 or newer: run `make dev`"
        # Short, because Neovim puts a socket below it and the path of a socket has 107 bytes.
        self.home = Path(tempfile.mkdtemp(prefix="flemma-"))
        self.directory = directory or self.home / "work"
        self.directory.mkdir(exist_ok=True)
        self.screen = Screen(*size)
        self._marker = uuid.uuid4().hex
        self._nvim = pynvim.attach("child", argv=self._argv(neovim, environment or {}, plugin))
        self.pid: int = self.call("getpid")
        self.request("nvim_ui_attach", *size, {"rgb": True, "ext_linegrid": True})
        if plugin and options is not None:
            self.exec_lua('require("flemma").setup(...)', dict(options))

    def _argv(self, neovim: str, environment: Mapping[str, str], plugin: bool) -> list[str]:
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            MARKER: self._marker,
            **{f"XDG_{name}_HOME": str(self._private(name)) for name in XDG_DIRECTORIES},
            "XDG_RUNTIME_DIR": str(self._private("RUN")),
            "TMPDIR": str(self._private("TMP")),
            **environment,
        }
        rtp = [f"set runtimepath^={ROOT}"] if plugin else []
        commands = [*rtp, f"luafile {ROOT}/tests/support/child.lua", f"cd {self.directory}"]
        return [
            *("env", "-i", *(f"{name}={value}" for name, value in variables.items())),
            *(neovim, "--clean", "--embed", "--headless"),
            *(part for command in commands for part in ("--cmd", command)),
        ]

    def _private(self, name: str) -> Path:
        path = self.home / name.lower()
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    # Asking Neovim

    def request(self, method: str, *arguments: Any) -> Any:
        """Call an API function. Fails at once, and not for ever, when Neovim waits for a key."""
        mode = self._nvim.request("nvim_get_mode")
        if mode["blocking"]:
            self._take_redraws()
            raise AssertionError(f"Neovim waits for a key:\n{self.screen.text()}")
        answer = self._nvim.request(method, *arguments)
        self._take_redraws()
        return answer

    def _take_redraws(self) -> None:
        # The only way to look at notifications without waiting for one.
        pending = self._nvim._session._pending_messages  # pyright: ignore[reportPrivateUsage]
        while pending:
            message = pending.popleft()
            if message.name == "redraw":
                self.screen.redraw(message.args)

    def exec_lua(self, source: str, *arguments: Any) -> Any:
        """Run a Lua chunk with ``...`` set to the arguments and return what it returns."""
        return self.request("nvim_exec_lua", source, list(arguments))

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a Vim function."""
        return self.request("nvim_call_function", function, list(arguments))

    def command(self, command: str) -> None:
        """Run an Ex command."""
        self.request("nvim_command", command)

    def output(self, command: str) -> str:
        """Run an Ex command and return what it prints."""
        return self.request("nvim_exec2", command, {"output": True})["output"]

    def keys(self, keys: str) -> None:
        """Type, in ``<C-]>`` notation, and let Neovim take it all in."""
        written = 0
        raw = keys.encode()
        while written < len(raw):
            written += self._nvim.request("nvim_input", raw[written:].decode())
        if not self.mode()["blocking"]:
            self.request("nvim_eval", "1")

    def keys_without_answer(self, keys: str) -> None:
        """Type and do not wait: for keys after which Neovim may be gone."""
        self._nvim.request("nvim_input", keys)

    def mode(self) -> dict[str, Any]:
        """Return ``{mode, blocking}``; answers even when Neovim waits for a key."""
        return self._nvim.request("nvim_get_mode")

    # Buffers

    def open(self, path: Path | str) -> int:
        """Edit a file and return its buffer number."""
        self.exec_lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(path))
        return self.request("nvim_get_current_buf")

    def lines(self, buffer: int = 0) -> list[str]:
        """Return the lines of a buffer, 0 being the current one."""
        return self.request("nvim_buf_get_lines", buffer, 0, -1, True)

    def text(self, buffer: int = 0) -> str:
        """Return the text of a buffer."""
        return "\n".join(self.lines(buffer))

    def set_lines(self, lines: list[str], buffer: int = 0) -> None:
        """Replace the whole text of a buffer."""
        self.request("nvim_buf_set_lines", buffer, 0, -1, True, lines)

    def cursor(self) -> tuple[int, int]:
        """Return line (1-based, as users count) and byte column (0-based)."""
        line, column = self.request("nvim_win_get_cursor", 0)
        return line, column

    def set_cursor(self, line: int, column: int = 0) -> None:
        """Put the cursor on a line, 1-based."""
        self.request("nvim_win_set_cursor", 0, [line, column])

    def option(self, name: str, buffer: int = 0) -> Any:
        """Return the value of a buffer option."""
        return self.request("nvim_get_option_value", name, {"buf": buffer})

    # The screen

    def extmarks(self, namespace: str | None = None, buffer: int = 0) -> list[Extmark]:
        """Return the extmarks of all namespaces, or of one, in the order of the text."""
        names = {value: key for key, value in self.request("nvim_get_namespaces").items()}
        marks = self.request("nvim_buf_get_extmarks", buffer, -1, 0, -1, {"details": True})
        found = [
            Extmark(names.get(details["ns_id"], ""), identifier, row, column, details)
            for identifier, row, column, details in marks
        ]
        return [mark for mark in found if namespace in (None, mark.namespace)]

    def virtual_text(self, buffer: int = 0) -> list[tuple[int, str]]:
        """Return row and text of everything shown that is not in the buffer."""
        return [
            (mark.row, "".join(chunk[0] for chunk in line))
            for mark in self.extmarks(buffer=buffer)
            for line in (
                *([mark.details["virt_text"]] if "virt_text" in mark.details else []),
                *mark.details.get("virt_lines", []),
            )
        ]

    def screen_lines(self) -> list[str]:
        """Return the rows a user sees now."""
        self.request("nvim_command", "redraw")
        self.request("nvim_eval", "1")
        return self.screen.lines()

    def notifications(self) -> list[Notification]:
        """Return everything the plugin said through ``vim.notify`` so far."""
        said = self.exec_lua("return flemma_test.notifications")
        return [Notification(text, level) for text, level in said]

    def messages(self) -> str:
        """Return the message history, where uncaught Lua and Vim errors go."""
        return self.output("messages")

    # Time

    def wait_until(
        self, check: Callable[[], Found], *, timeout: float = 10.0, message: str | None = None
    ) -> Found:
        """Wait for ``check`` to return something true; a failure shows the state of the editor."""
        return wait_until(check, timeout=timeout, message=message, describe=self.describe)

    def wait_for_text(self, part: str, *, buffer: int = 0, timeout: float = 10.0) -> str:
        """Wait until the buffer contains ``part`` and return its text."""

        self.wait_until(
            lambda: part in self.text(buffer), timeout=timeout, message=f"{part!r} in the buffer"
        )
        return self.text(buffer)

    @contextmanager
    def measure_blocking(self) -> Generator[Pause]:
        """Measure the longest pause of the editor's main loop inside the block."""
        pause = Pause()
        self.exec_lua("flemma_test.start_measuring()")
        try:
            yield pause
        finally:
            pause.longest = self.exec_lua("return flemma_test.stop_measuring()")

    # Processes

    def host_pid(self) -> int | None:
        """Return the process id of the Python host, None when there is none."""
        return self.exec_lua('return require("flemma.host").pid()')

    def kill_host(self) -> int:
        """Kill the host without a word, as the kernel does, and return its old process id."""
        pid = self.host_pid()
        assert pid, f"no host to kill\n{self.describe()}"
        kill(pid)
        return pid

    def processes(self) -> list[int]:
        """Return the ids of all living processes that stem from this editor, itself included."""
        return marked(self._marker)

    def close(self) -> None:
        """End the editor and everything it started, and remove its directories."""
        end_marked(self._marker)
        _hang_up(self._nvim)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # When a test fails

    def describe(self) -> str:
        """Return all that helps to see why a test failed."""
        if self.mode()["blocking"]:
            return f"Neovim waits for a key:\n{self.screen.text()}"
        parts = {
            "buffer": self.text(),
            "state": f"cursor {self.cursor()}, mode {self.mode()['mode']}",
            "notifications": "\n".join(f"[{n.level}] {n.text}" for n in self.notifications()),
            ":messages": self.messages(),
            "virtual text": "\n".join(f"{row}: {text}" for row, text in self.virtual_text()),
            **{log.name: _tail(log) for log in sorted(self.home.rglob("*.log"))},
        }
        return "\n".join(f"--- {name}\n{text}" for name, text in parts.items() if text)


def _hang_up(nvim: pynvim.Nvim) -> None:
    """Close the connection to a dead Neovim; pynvim alone would leave its pipes open."""
    with suppress(OSError, EOFError):
        while True:
            nvim.next_message()
    for _ in range(TURNS_TO_CLOSE):
        nvim.loop.run_until_complete(asyncio.sleep(0))
    nvim.close()


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-LOG_TAIL:]

"""A real Neovim under test: started clean, driven by keys, seen as a user sees it."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from scripts.neovim import ROOT
from tests.support.child import Child
from tests.support.processes import kill
from tests.support.wait import wait_until

SHOWN = 6000
"""Characters of each part of a failure report."""

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


class Editor(Child):
    """A Neovim with the plugin, driven by keys and seen as a user sees it.

    ``options`` go to ``require("flemma").setup``; None leaves setup to the test, and without
    ``plugin`` the plugin is not even on the runtimepath. See :class:`Child` for the rest.
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
        super().__init__(
            environment=environment or {},
            commands=[f"set runtimepath^={ROOT}"] if plugin else [],
            size=size,
            directory=directory,
        )
        if plugin and options is not None:
            self.exec_lua('require("flemma").setup(...)', dict(options))

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

    def wait_for_host(self, timeout: float = 30.0) -> int:
        """Wait until the host has answered the handshake and return its process id."""

        def settled() -> str | None:
            status = self.exec_lua('return require("flemma.host").status()')
            return status if status in ("ready", "failed") else None

        status = self.wait_until(settled, timeout=timeout, message="a host that is ready")
        pid = self.host_pid()
        assert status == "ready", f"the host failed\n{self.describe()}"
        assert pid, "a host that is ready has a process"
        return pid

    def kill_host(self) -> int:
        """Kill the host without a word, as the kernel does, and return its old process id."""
        pid = self.host_pid()
        assert pid, f"no host to kill\n{self.describe()}"
        kill(pid)
        return pid

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
            **{log.name: log.read_text(errors="replace") for log in self.home.rglob("*.log")},
        }
        return "\n".join(f"--- {name}\n{_tail(text)}" for name, text in parts.items() if text)


def _tail(text: str) -> str:
    return text if len(text) <= SHOWN else f"...\n{text[-SHOWN:]}"

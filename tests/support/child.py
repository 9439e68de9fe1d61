"""A Neovim as a child process: started clean, asked over RPC, its screen rebuilt."""

import asyncio
import os
import shutil
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pynvim

from scripts.neovim import ROOT, find_neovim
from tests.support.processes import MARKER, end_marked, marked
from tests.support.screen import Screen

XDG_DIRECTORIES = ("CONFIG", "DATA", "STATE", "CACHE")
TURNS_TO_CLOSE = 5
"""Turns of the event loop after which closed pipes have told everyone."""


class Child:
    """A Neovim with an attached UI and private XDG directories; a context manager.

    ``environment`` is all that it sees beside PATH, a locale and its private directories;
    ``commands`` are Ex commands that run before plugins are loaded.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        commands: Sequence[str],
        size: tuple[int, int],
        directory: Path | None,
    ) -> None:
        neovim = find_neovim()
        assert neovim, "no Neovim 0.11 or newer: run `make dev`"
        # Short, because Neovim puts a socket below it and the path of a socket has 107 bytes.
        self.home = Path(tempfile.mkdtemp(prefix="flemma-"))
        self.directory = directory or self.home / "work"
        self.directory.mkdir(exist_ok=True)
        self.screen = Screen(*size)
        self._marker = uuid.uuid4().hex
        self._nvim = pynvim.attach("child", argv=self._argv(neovim, environment, commands))
        self.pid: int = self.call("getpid")
        self.request("nvim_ui_attach", *size, {"rgb": True, "ext_linegrid": True})

    def _argv(
        self, neovim: str, environment: Mapping[str, str], commands: Sequence[str]
    ) -> list[str]:
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
        prepared = (*commands, f"luafile {ROOT}/tests/support/child.lua", f"cd {self.directory}")
        return [
            *("env", "-i", *(f"{name}={value}" for name, value in variables.items())),
            *(neovim, "--clean", "--embed", "--headless"),
            *(part for command in prepared for part in ("--cmd", command)),
        ]

    def _private(self, name: str) -> Path:
        path = self.home / name.lower()
        path.mkdir(mode=0o700, exist_ok=True)
        return path

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


def _hang_up(nvim: pynvim.Nvim) -> None:
    """Close the connection to a dead Neovim; pynvim alone would leave its pipes open."""
    with suppress(OSError, EOFError):
        while True:
            nvim.next_message()
    for _ in range(TURNS_TO_CLOSE):
        nvim.loop.run_until_complete(asyncio.sleep(0))
    nvim.close()

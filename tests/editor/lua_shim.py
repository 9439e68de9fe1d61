"""A chat buffer with the Lua side only: what it sends is kept, and the test speaks for the host."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.nvim import ROOT, Editor

HANDLE = 'return require("flemma.rpc").handle(...)'

RECORD = """
local host = require("flemma.host")
_G.sent = {}
host.ensure_started = function() end
host.notify = function(method, payload) table.insert(_G.sent, { method, payload }) end
"""


class Shim:
    """An editor with a chat whose host is the test."""

    def __init__(self, start_editor: Callable[..., Editor], **options: Any) -> None:
        self.editor = start_editor(options=options)
        self.editor.exec_lua(RECORD)
        self.buffer = 0

    def open(self, text: str, name: str = "talk.chat") -> int:
        """Open a chat with this text."""
        path = self.editor.directory / name
        path.write_text(text)
        self.editor.open(path)
        self.buffer = self.editor.call("bufnr")
        self.editor.exec_lua("_G.sent = {}")
        return self.buffer

    def tell(self, method: str, payload: Any) -> Any:
        """Say something as the host."""
        return self.editor.exec_lua(HANDLE, method, payload)

    def tick(self) -> int:
        """Return the changedtick of the chat."""
        return self.editor.request("nvim_buf_get_changedtick", self.buffer)

    def apply(self, *edits: list[Any], group: str | None = None, tick: int | None = None) -> Any:
        """Apply edits as the host does."""
        payload = {
            "bufnr": self.buffer,
            "tick": self.tick() if tick is None else tick,
            "edits": list(edits),
            "undo_group": group,
        }
        return self.tell("apply", payload)

    def view(self, *messages: dict[str, Any], **more: Any) -> Any:
        """Draw messages."""
        payload = {
            "bufnr": self.buffer,
            "tick": self.tick(),
            "remove": [],
            "set": list(messages),
            **more,
        }
        return self.tell("view", payload)

    def sent(self, method: str) -> list[Any]:
        """Return the payloads Lua sent under a name."""
        pairs = self.editor.exec_lua("return _G.sent")
        return [payload for name, payload in pairs if name == method]


def message(key: int, start: int, length: int, role: str = "user", **more: Any) -> dict[str, Any]:
    """Return a message of a view."""
    drawn = {"key": key, "start": start, "length": length, "role": role, "marks": [], "folds": []}
    return {**drawn, **more}


def fold(identifier: str, row: int, end_row: int, level: int = 1, **more: Any) -> dict[str, Any]:
    """Return a fold of a view."""
    return {
        "id": identifier,
        "row": row,
        "end_row": end_row,
        "level": level,
        "close": False,
        "head": [[identifier, "Title"]],
        "entries": [],
        "tail": [],
        **more,
    }


def fake_interpreter(directory: Path) -> Path:
    """Return a program that takes the interpreter's place and runs the fake host."""
    script = directory / "python"
    host = ROOT / "tests" / "editor" / "fake_host.py"
    script.write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} {host}\n", encoding="utf-8"
    )
    script.chmod(0o755)
    return script


def heard(log: Path) -> list[tuple[int, str, Any]]:
    """Return what fake hosts heard: process id, method, payload."""
    if not log.exists():
        return []
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()]

"""A real execution context for tests of tools: real files and processes below a directory."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flemma.adapters.files import LocalFiles
from flemma.adapters.processes import SystemProcesses
from flemma.chat.document import Document
from flemma.errors import BufferChanged
from flemma.ports.files import BufferChange, BufferText
from flemma.tools.context import ToolContext


def make_context(tmp_path: Path, **overrides: Any) -> ToolContext:
    """Return a context whose chat file is ``tmp_path/notes.chat`` and whose cwd is ``tmp_path``.

    Any field of :class:`ToolContext` can be given. End what commands left running with
    ``context.processes.kill_all()``.
    """
    store = DirectoryStore(tmp_path / ".flemma" / "notes.chat")
    values: dict[str, Any] = {
        "bufnr": 1,
        "tool_id": "toolu_01",
        "tool_name": "tool",
        "cwd": str(tmp_path),
        "timeout": 30,
        "dirname": str(tmp_path),
        "filename": str(tmp_path / "notes.chat"),
        "path": Paths(str(tmp_path), store.directory),
        "sandbox": Confinement(),
        "store": store,
        "files": LocalFiles(),
        "buffers": LoadedBuffers(),
        "processes": SystemProcesses(),
        "config": None,
        "get_parsed_document": lambda: Document.from_lines(()),
        "job_status": lambda job_id: {"job_id": job_id, "status": "unknown"},  # pyright: ignore
        "environment": {"FLEMMA_TOOLS_STORE_PATH": store.directory},
    }
    return ToolContext(**{**values, **overrides})


@dataclass(frozen=True)
class Paths:
    """`ctx.path` below one directory."""

    base: str
    store: str

    def resolve(self, path: str) -> str:
        """Return an absolute path."""
        path = path.replace("$FLEMMA_TOOLS_STORE_PATH/", f"{self.store}/", 1)
        return str(Path(self.base, Path(path).expanduser()))


@dataclass(frozen=True)
class Confinement:
    """`ctx.sandbox`: writable below ``writable`` (None: everywhere), commands behind ``prefix``."""

    writable: str | None = None
    prefix: Sequence[str] = ()

    async def is_path_writable(self, path: str) -> bool:
        """Tell whether the path lies in the writable directory."""
        real = os.path.realpath(path)
        return self.writable is None or real.startswith(f"{self.writable}/")

    async def wrap_command(self, argv: Sequence[str]) -> Sequence[str]:
        """Put the prefix in front."""
        return [*self.prefix, *argv]

    async def confinement(self) -> None:
        """There is no backend."""


@dataclass(frozen=True)
class DirectoryStore:
    """`ctx.store` in a directory; without backups. ``writable`` False: nothing can be stored."""

    root: Path
    writable: bool = True

    @property
    def directory(self) -> str:
        """The store directory; may not exist."""
        return str(self.root)

    @property
    def path(self) -> str:
        """The file of this call."""
        return str(self.root / "tool_tool_toolu_01.txt")

    async def write(self, text: str) -> str | None:
        """Write the full output."""
        if not self.writable:
            return None
        self.root.mkdir(parents=True, exist_ok=True)
        Path(self.path).write_bytes(text.encode())
        return self.path

    async def open_spool(self) -> "DirectorySpool | None":
        """Open a file beside the final one."""
        if not self.writable:
            return None
        self.root.mkdir(parents=True, exist_ok=True)
        return DirectorySpool(Path(self.path))


class DirectorySpool:
    """A store file being written."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._temporary = target.with_suffix(".part")
        self._file = self._temporary.open("wb")

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)

    async def commit(self) -> str:
        """Put it at its path."""
        self._file.close()
        self._temporary.replace(self._target)
        return str(self._target)

    def discard(self) -> None:
        """Remove it."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


@dataclass
class LoadedBuffer:
    """A file that an editor holds; ``undo_steps`` are the ranges that were replaced."""

    lines: list[str]
    modified: bool = False
    final_newline: bool = True
    line_ending: str = "\n"
    undo_steps: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    reloads: int = 0

    @property
    def content(self) -> bytes:
        """What saving writes."""
        text = self.line_ending.join(self.lines)
        return (text + (self.line_ending if self.final_newline else "")).encode()


@dataclass
class LoadedBuffers:
    """`ctx.buffers` as an editor behaves, over real files."""

    loaded: dict[str, LoadedBuffer] = field(default_factory=dict[str, LoadedBuffer])

    def load(self, path: Path, text: str | None = None, *, modified: bool = False) -> LoadedBuffer:
        """Load a file, or an unsaved ``text`` in its place."""
        content = path.read_text() if text is None else text
        buffer = LoadedBuffer(
            content.removesuffix("\n").split("\n"),
            modified=modified,
            final_newline=content.endswith("\n") or not content,
        )
        self.loaded[str(path)] = buffer
        return buffer

    async def read(self, path: str) -> BufferText | None:
        """Return the loaded buffer of ``path``, or None."""
        buffer = self.loaded.get(path)
        if buffer is None:
            return None
        steps = len(buffer.undo_steps)
        return BufferText(
            tuple(buffer.lines), buffer.modified, buffer.final_newline, buffer.line_ending, steps
        )

    async def replace(self, path: str, change: BufferChange) -> None:
        """Change lines as one undo step, if nothing else changed them."""
        buffer = self.loaded[path]
        if change.revision != len(buffer.undo_steps):
            raise BufferChanged(f"{path} changed")
        buffer.lines[change.first : change.last] = change.lines
        buffer.final_newline = change.final_newline
        buffer.modified = True
        buffer.undo_steps.append((change.first, change.last))

    async def save(self, path: str) -> None:
        """Write the buffer to its file."""
        buffer = self.loaded[path]
        Path(path).write_bytes(buffer.content)
        buffer.modified = False

    async def reload(self, path: str) -> None:
        """Read the file again if it differs."""
        buffer = self.loaded[path]
        buffer.reloads += 1
        if not buffer.modified and Path(path).read_bytes() != buffer.content:
            buffer.lines = Path(path).read_text().removesuffix("\n").split("\n")

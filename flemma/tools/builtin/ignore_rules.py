"""Which files a search leaves out, for programs that do not know it themselves.

The rules are those of the programs that do: hidden files, excluded names, and what `.gitignore`
(inside a git work tree), `.git/info/exclude` and `.ignore` files say (case E-30). The directory
that was asked for is searched whatever the rules say about it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flemma.ports.files import FileKind, Files

if TYPE_CHECKING:
    import pathspec

DEFAULT_EXCLUDES = (
    ".git",
    "node_modules",
    "__pycache__",
    ".venv",
    "target",
    "dist",
    "build",
    "vendor",
)
_LARGEST = 1 << 20
"""Bytes read of one ignore file."""


class IgnoreRules:
    """Decides for paths below one search root; reads each ignore file once."""

    def __init__(self, files: Files, root: str, excludes: Sequence[str]) -> None:
        self._files = files
        self._root = root.rstrip("/")
        self._excludes = _rules(excludes)
        self._work_tree = self._find_work_tree()
        self._top: str | None = None
        self._read: dict[str, pathspec.GitIgnoreSpec] = {}
        self._hidden_directories: dict[str, bool] = {"": False}

    async def hides(self, relative: str) -> bool:
        """Tell whether the file ``relative`` to the search root is left out."""
        directory, _, _ = relative.rpartition("/")
        return await self._hides_directory(directory) or await self._hides(relative, "")

    async def _hides_directory(self, relative: str) -> bool:
        known = self._hidden_directories.get(relative)
        if known is None:
            parent, _, _ = relative.rpartition("/")
            known = await self._hides_directory(parent) or await self._hides(relative, "/")
            self._hidden_directories[relative] = known
        return known

    async def _hides(self, relative: str, suffix: str) -> bool:
        if relative.rpartition("/")[2].startswith("."):
            return True
        if self._excludes.check_file(relative + suffix).include:
            return True
        if self._top is None:
            self._top = await self._highest()
        return await self._ignored(f"{self._root}/{relative}", suffix, self._top)

    async def _highest(self) -> str:
        """Return the highest directory whose ignore files count: not those above the search root
        when they ignore the root itself."""
        if self._work_tree is None or self._work_tree == self._root:
            return self._root
        ignored = await self._ignored(self._root, "/", self._work_tree)
        return self._root if ignored else self._work_tree

    async def _ignored(self, path: str, suffix: str, top: str) -> bool:
        """The nearest ignore file that says anything about the path decides."""
        directory = path.rpartition("/")[0]
        while True:
            rules = await self._rules_in(directory)
            said = rules.check_file(path.removeprefix(f"{directory}/") + suffix).include
            if said is not None:
                return said
            if directory == top or not directory:
                return False
            directory = directory.rpartition("/")[0]

    async def _rules_in(self, directory: str) -> "pathspec.GitIgnoreSpec":
        if directory not in self._read:
            names = [".ignore"]
            if self._work_tree is not None:
                names.insert(0, ".gitignore")
            if directory == self._work_tree:
                names.insert(0, ".git/info/exclude")
            lines: list[str] = []
            for name in names:
                lines.extend(await self._lines(f"{directory}/{name}"))
            self._read[directory] = _rules(lines)
        return self._read[directory]

    async def _lines(self, path: str) -> list[str]:
        if self._files.kind(path) is not FileKind.FILE:
            return []
        try:
            data = await self._files.read(path, limit=_LARGEST)
        except OSError:
            # Git, too, goes on without an ignore file that it may not read.
            return []
        return data.decode("utf-8", "replace").splitlines()

    def _find_work_tree(self) -> str | None:
        directory = self._root
        while True:
            if self._files.kind(f"{directory}/.git") is not FileKind.MISSING:
                return directory
            if not directory:
                return None
            directory = directory.rpartition("/")[0]


def configured_excludes(config: Mapping[str, Any] | None) -> Sequence[str]:
    """Return the `exclude` list of a tool's settings, else the default one."""
    configured = (config or {}).get("exclude")
    return DEFAULT_EXCLUDES if configured is None else [str(name) for name in configured]


def _rules(lines: Sequence[str]) -> "pathspec.GitIgnoreSpec":
    import pathspec

    return pathspec.GitIgnoreSpec.from_lines(lines)

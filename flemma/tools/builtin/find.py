"""The `find` tool: find files by name (spec: behaviour 4.6)."""

import os.path
import re
from dataclasses import dataclass

from flemma import schema as s
from flemma.errors import ProcessError, SandboxUnavailable
from flemma.ports.files import FileKind
from flemma.text.sizes import counted
from flemma.text.truncate import truncate_head
from flemma.tools.builtin.find_backends import FindBackend, FindBackends
from flemma.tools.builtin.ignore_rules import IgnoreRules, configured_excludes
from flemma.tools.builtin.label import label_field
from flemma.tools.builtin.locations import given_count, given_text, locate, shown_path
from flemma.tools.builtin.path_globs import has_wildcard, name_below, split_path
from flemma.tools.builtin.search_process import SearchRun, run_search
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

DEFAULT_LIMIT = 500
_MOST = 100_000
"""Paths that are collected at all; a search that finds more is ended."""
_NARROW = "Narrow your pattern for more specific results."


def definition() -> ToolDefinition:
    """Return the tool. The listing program is looked for at the first call and remembered."""
    return ToolDefinition(
        name="find",
        description=(
            "Find files by name with a glob such as '*.py', 'src/*.test.ts' or '**/api/*.go'. The "
            "last part of the pattern is the file name, matched at any depth below the directories "
            "before it; case matters. Hidden files, files ignored by git and the usual build and "
            "dependency directories are skipped, unless the path points into them."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "pattern": s.string().describe("Glob for the files to find"),
                "path": s.string()
                .nullable()
                .describe("Directory to search (default: the working directory)"),
                "limit": s.number().nullable().describe("Most paths to return (default: 500)"),
            }
        ).strict(),
        execute=FindTool().execute,
        strict=True,
        asynchronous=True,
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "Find files by name",
                "guidelines": ["Use find to locate files by name before you read them."],
            }
        },
    )


class FindTool:
    """Remembers the listing programs between calls."""

    def __init__(self) -> None:
        self._backends = FindBackends()

    async def execute(self, tool_input: ToolInput, context: ToolContext) -> ToolResult:
        """Run one search."""
        pattern = given_text(tool_input, "pattern")
        if not pattern:
            return ToolResult.failure("No pattern provided")
        path = given_text(tool_input, "path")
        start = locate(context, path)
        if (problem := _not_a_directory(context.files.kind(start), path or start)) is not None:
            return ToolResult.failure(problem)
        scope = _scope(context, start, pattern)
        if context.files.kind(scope.directory) is not FileKind.DIRECTORY:
            return ToolResult.ok("No files found matching pattern.")
        try:
            backend = await self._backends.choose(context, scope.directory)
            if backend is None:
                return ToolResult.failure(
                    "No file-finding tool available (install fd, git, or find)"
                )
            limit = given_count(tool_input, "limit", DEFAULT_LIMIT, _MOST)
            return await _Search(context, backend, scope, limit).run()
        except SandboxUnavailable as error:
            return ToolResult.failure(f"Sandbox error: {error.message}")
        except ProcessError as error:
            return ToolResult.failure(f"Failed to start job: {error.message}")


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where to list, and what a path relative to it must match: the glob, or the plain name."""

    directory: str
    glob: re.Pattern[str]
    literal_name: str | None


class _Search:
    """One search: filters the listing, counts, and words the result."""

    def __init__(
        self, context: ToolContext, backend: FindBackend, scope: _Scope, limit: int
    ) -> None:
        self._context = context
        self._backend = backend
        self._scope = scope
        self._limit = limit
        self._excludes = configured_excludes(context.get_config())
        self._rules = IgnoreRules(context.files, scope.directory, self._excludes)
        self._found: set[str] = set()

    async def run(self) -> ToolResult:
        argv = self._backend.argv(self._excludes)
        run = await run_search(self._context, argv, self._scope.directory, b"\0", self._take)
        if run.timed_out:
            return self._timed_out()
        if not self._found:
            return _nothing(run)
        return ToolResult.ok(self._text(stopped=run.stopped))

    async def _take(self, record: bytes) -> bool:
        path = record.decode("utf-8", "replace").removeprefix("./")
        if self._matches(path) and await self._visible(path):
            self._found.add(path)
        return len(self._found) >= _MOST

    def _matches(self, path: str) -> bool:
        if self._scope.glob.fullmatch(path):
            return True
        return self._scope.literal_name == path.rpartition("/")[2]

    async def _visible(self, path: str) -> bool:
        if self._backend.filters:
            return True
        if await self._rules.hides(path):
            return False
        # git also lists what was deleted from the disk, and nested repositories.
        return self._context.files.kind(f"{self._scope.directory}/{path}") is FileKind.FILE

    def _text(self, *, stopped: bool) -> str:
        paths = sorted(self._shown(path) for path in self._found)
        total = f"more than {len(paths)}" if stopped else str(len(paths))
        cut = truncate_head("\n".join(paths[: self._limit]))
        if cut.truncated:
            note = f"[Showing {cut.output_lines} of {total} results (truncated). {_NARROW}]"
            return f"{cut.content}\n\n{note}"
        hidden = len(paths) - self._limit
        if hidden <= 0:
            return cut.content
        noun = "entry" if self._limit == 1 else "entries"
        more = f"more than {hidden}" if stopped else f"{hidden}"
        note = f"[Results limited to {self._limit} {noun}. {_NARROW}]"
        return f"{cut.content}\n\n{note}\n[{more} more not listed]"

    def _shown(self, path: str) -> str:
        directory = shown_path(self._scope.directory, self._context.cwd)
        return path if directory == "." else f"{directory.rstrip('/')}/{path}"

    def _timed_out(self) -> ToolResult:
        message = f"Find timed out after {counted(self._context.timeout, 'second')}."
        if not self._found:
            return ToolResult.failure(message)
        return ToolResult.failure(f"{self._text(stopped=True)}\n\n{message}")


def _scope(context: ToolContext, start: str, pattern: str) -> _Scope:
    """Directories without wildcards, or that exist by that very name, move the start."""
    *parts, name = split_path(pattern)
    directory = start
    if pattern.startswith(("/", "~/")):
        directory = locate(context, f"{parts.pop(0)}/")
    while parts:
        further = os.path.normpath(os.path.join(directory, parts[0]))  # noqa: PTH118 - literal text
        if has_wildcard(parts[0]) and context.files.kind(further) is not FileKind.DIRECTORY:
            break
        directory = further
        parts.pop(0)
    literal = name if has_wildcard(name) and not parts else None
    return _Scope(directory, name_below(parts, name or "*"), literal)


def _not_a_directory(kind: FileKind, path: str) -> str | None:
    match kind:
        case FileKind.DIRECTORY:
            return None
        case FileKind.MISSING:
            return f"Path not found: {path}"
        case FileKind.FILE:
            return f"Not a directory: {path} (it is a file)"
        case FileKind.OTHER:
            return f"Not a directory: {path} (a device, pipe or socket)"


def _nothing(run: SearchRun) -> ToolResult:
    # fd exits with 1 when nothing matched.
    if run.exit_code in (None, 0) or (run.exit_code == 1 and not run.errors):
        return ToolResult.ok("No files found matching pattern.")
    return ToolResult.failure(run.errors or f"Command exited with code {run.exit_code}")


def _preview(tool_input: ToolInput) -> ToolPreview:
    pattern, path = given_text(tool_input, "pattern"), given_text(tool_input, "path")
    return ToolPreview(
        detail=(pattern, f"in {path}" if path else ""),
        label=given_text(tool_input, "label") or None,
    )

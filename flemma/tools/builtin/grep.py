"""The `grep` tool: search file contents (spec: behaviour 4.5)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flemma import schema as s
from flemma.errors import ProcessError, SandboxUnavailable
from flemma.ports.files import FileKind
from flemma.text.sizes import counted, format_size
from flemma.text.truncate import truncate_head, truncate_line
from flemma.tools.builtin.grep_backends import GrepBackend, detect_grep
from flemma.tools.builtin.ignore_rules import IgnoreRules, configured_excludes
from flemma.tools.builtin.label import label_field
from flemma.tools.builtin.locations import given_count, given_text, locate, shown_path
from flemma.tools.builtin.path_globs import path_glob
from flemma.tools.builtin.search_process import OUTPUT_LIMIT, SearchRun, run_search
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

DEFAULT_LIMIT = 100
_MOST = 10_000
"""Matches that are ever kept: beyond, a result would be cut anyway."""


def definition() -> ToolDefinition:
    """Return the tool. The search program is looked for at the first call and remembered."""
    return ToolDefinition(
        name="grep",
        description=(
            "Search the contents of files with a regular expression. Gives one line per matching "
            "line: file, line number and text. Hidden files, files ignored by git and the usual "
            "build and dependency directories are skipped, unless 'path' points into them."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "pattern": s.string().describe("Regular expression to look for"),
                "path": s.string()
                .nullable()
                .describe("File or directory to search (default: the working directory)"),
                "glob": s.string()
                .nullable()
                .describe("Search only files that fit this glob, e.g. '*.py' or 'src/**/*.ts'"),
                "limit": s.number().nullable().describe("Most matches to return (default: 100)"),
            }
        ).strict(),
        execute=GrepTool().execute,
        strict=True,
        asynchronous=True,
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "Search file contents by regular expression",
                "guidelines": [
                    "Use grep to find text in files; it skips ignored files and keeps output short."
                ],
            }
        },
    )


class GrepTool:
    """Remembers the search program between calls."""

    def __init__(self) -> None:
        self._backend: GrepBackend | None = None

    async def execute(self, tool_input: ToolInput, context: ToolContext) -> ToolResult:
        """Run one search."""
        pattern = given_text(tool_input, "pattern") or _blank_pattern(tool_input)
        if not pattern:
            return ToolResult.failure("No pattern provided")
        path = given_text(tool_input, "path")
        target = locate(context, path)
        kind = context.files.kind(target)
        if kind is FileKind.MISSING:
            return ToolResult.failure(f"Path not found: {path or target}")
        if kind is FileKind.OTHER:
            return ToolResult.failure(f"Not a file or directory: {path} (a device, pipe or socket)")
        try:
            self._backend = self._backend or await detect_grep(context)
            if self._backend is None:
                return ToolResult.failure("No search backend available (install rg or grep)")
            search = _Search(
                context,
                self._backend,
                target,
                glob=given_text(tool_input, "glob"),
                excludes=configured_excludes(context.get_config()),
                limit=given_count(tool_input, "limit", DEFAULT_LIMIT, _MOST),
                is_file=kind is FileKind.FILE,
            )
            return await search.run(pattern)
        except SandboxUnavailable as error:
            return ToolResult.failure(f"Sandbox error: {error.message}")
        except ProcessError as error:
            return ToolResult.failure(f"Failed to start search process: {error.message}")


@dataclass(frozen=True, slots=True, order=True)
class _Match:
    path: str
    line: int
    text: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.text}"


class _Search:
    """One search: filters what the program does not filter, counts, and words the result."""

    def __init__(
        self,
        context: ToolContext,
        backend: GrepBackend,
        target: str,
        *,
        glob: str,
        excludes: Sequence[str],
        limit: int,
        is_file: bool,
    ) -> None:
        self._context = context
        self._backend = backend
        self._glob = glob
        self._excludes = excludes
        self._limit = limit
        self._is_file = is_file
        self._target = shown_path(target, context.cwd)
        self._rules = None if backend.filters or is_file else self._ignore_rules(target)
        self._matches: list[_Match] = []
        self._more = False

    async def run(self, pattern: str) -> ToolResult:
        argv = self._backend.argv(pattern, self._glob, self._excludes, self._target)
        run = await run_search(self._context, argv, self._context.cwd, b"\n", self._take)
        if run.timed_out:
            return self._timed_out()
        if not self._matches:
            return self._nothing(run)
        return ToolResult.ok(self._text(limited=self._more or run.stopped))

    async def _take(self, record: bytes) -> bool:
        name, separator, rest = record.partition(b"\0")
        number, _, text = rest.partition(b":")
        if not separator or not number.isdigit():
            return False
        path = name.decode("utf-8", "replace").removeprefix("./")
        if not await self._wanted(path):
            return False
        if len(self._matches) == self._limit:
            self._more = True
            return True
        shown = truncate_line(text.decode("utf-8", "replace").rstrip("\r"))
        self._matches.append(_Match(path, int(number), shown))
        return False

    async def _wanted(self, path: str) -> bool:
        if self._backend.filters:
            return True
        if self._glob and not self._is_file:
            wanted = path_glob(self._glob.removeprefix("!")).fullmatch(path) is not None
            if wanted is self._glob.startswith("!"):
                return False
        if self._rules is None:
            return True
        return not await self._rules.hides(self._below_target(path))

    def _ignore_rules(self, target: str) -> IgnoreRules:
        return IgnoreRules(self._context.files, target, self._excludes)

    def _below_target(self, path: str) -> str:
        return path if self._target == "." else path.removeprefix(f"{self._target}/")

    def _text(self, *, limited: bool) -> str:
        self._matches.sort()
        cut = truncate_head("\n".join(str(match) for match in self._matches))
        total = len(self._matches)
        notes = [f"{total} match" if total == 1 else f"{total} matches"]
        if limited:
            notes.append("limit reached")
        if cut.truncated:
            notes.append(f"first {cut.output_lines} shown")
        return f"{cut.content}\n\n[{', '.join(notes)}]"

    def _timed_out(self) -> ToolResult:
        message = f"Search timed out after {counted(self._context.timeout, 'second')}."
        if not self._matches:
            return ToolResult.failure(message)
        return ToolResult.failure(f"{self._text(limited=False)}\n\n{message}")

    def _nothing(self, run: SearchRun) -> ToolResult:
        if run.stopped:
            return ToolResult.failure(
                f"Search ended after {format_size(OUTPUT_LIMIT)} of matches in ignored files; "
                "narrow the path or the pattern"
            )
        # Programs also exit with 2 for a file they may not read; that alone is no failed search.
        failed = run.exit_code is not None and run.exit_code not in (0, 1)
        if not failed or (run.exit_code == 2 and not run.errors):
            return ToolResult.ok("No matches found.")
        reason = f"\n{run.errors}" if run.errors else ""
        return ToolResult.failure(f"Search failed with exit code {run.exit_code}{reason}")


def _blank_pattern(tool_input: ToolInput) -> str:
    """White space can be what is looked for."""
    value = tool_input.get("pattern")
    return value if isinstance(value, str) else ""


def _preview(tool_input: ToolInput) -> ToolPreview:
    pattern, path, glob = (given_text(tool_input, key) for key in ("pattern", "path", "glob"))
    return ToolPreview(
        detail=(f"/{pattern}/", path, glob), label=given_text(tool_input, "label") or None
    )

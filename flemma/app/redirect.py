"""`flemma.save_to` and eager materialisation: what happens to a result on its way to the buffer.

Spec: tools, "flemma.save_to"; behaviour 6.1, 6.4.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from flemma.app.results import FinalResult, finalize, full_text
from flemma.app.store import ResultStore, StoreError
from flemma.app.store_paths import StoreKey, expand_environment, normalise
from flemma.errors import FlemmaError
from flemma.ports.editor import Level, Screen
from flemma.ports.files import FileKind, Files
from flemma.text.notices import overflow_notice, with_notice
from flemma.text.safe import byte_length, without_surrogates
from flemma.text.sizes import format_size
from flemma.text.truncate import truncate_head
from flemma.tools.context import SandboxAccess
from flemma.tools.definition import ToolResult

PREVIEW_READ = 1 << 16
"""Bytes read of a spooled file for the preview."""


@dataclass(frozen=True, slots=True)
class RedirectOptions:
    """`tools.store.preview` and `tools.store.materialize`."""

    preview_lines: int
    preview_bytes: int
    materialize: bool


class Redirector:
    """Puts results where they belong: into the buffer, or into a file with a stub."""

    def __init__(
        self,
        store: ResultStore,
        files: Files,
        screen: Screen,
        sandbox: SandboxAccess,
        options: RedirectOptions,
        base_directory: str,
    ) -> None:
        self._store = store
        self._files = files
        self._screen = screen
        self._sandbox = sandbox
        self._options = options
        self._base_directory = base_directory

    async def settle(self, result: ToolResult, key: StoreKey, save_to: str | None) -> FinalResult:
        """Return the result for the buffer. Never fails: trouble is told in the result."""
        stored = result.full_output_path
        if self._options.materialize and stored is None:
            stored = await self._keep(result, key)
        if save_to is None or not result.success:
            return await self._within_limits(result, key, stored)
        try:
            return await self._redirect(result, save_to)
        except (FlemmaError, OSError) as error:
            full = await self._within_limits(result, key, stored)
            notice = f"[Output not saved: {error}. Showing the full output instead.]"
            return FinalResult(f"{full.text}\n\n{notice}", is_error=False)

    async def _within_limits(
        self, result: ToolResult, key: StoreKey, stored: str | None
    ) -> FinalResult:
        """Cut what is too long for a conversation, unless the tool minded the limits itself.

        The whole output is then in the store, at ``stored`` if it is there already (spec: tools,
        "Output truncation"; behaviour 5.5).
        """
        final = finalize(result)
        truncation = truncate_head(final.text)
        if result.truncated or not truncation.truncated:
            return final
        path = stored or await self._keep(result, key)
        notice = overflow_notice(truncation, "head", path)
        return FinalResult(with_notice(truncation.content, notice), final.is_error)

    async def _keep(self, result: ToolResult, key: StoreKey) -> str | None:
        """Write the whole output to the store; return its path, None after a warning."""
        try:
            path = self._store.path(key)
            await self._store.write(path, full_text(result))
        except FlemmaError as error:
            self._screen.notify(f"Could not save full tool output: {error}", Level.WARN)
            return None
        return path

    async def _redirect(self, result: ToolResult, save_to: str) -> FinalResult:
        if result.incomplete:
            raise StoreError("the whole output could not be kept")
        target = await self._target(save_to)
        if result.full_output_path is not None:
            return await self._copy(result.full_output_path, target)
        text = without_surrogates(full_text(result))
        await self._store.write(target, text)
        return self._stub(text, target, byte_length(text), text.count("\n") + 1)

    async def _copy(self, source: str, target: str) -> FinalResult:
        """A spooled output can be too large for memory: copy the file, read only its head."""
        if source != target:
            await self._store.copy(source, target)
        head = (await self._files.read(target, limit=PREVIEW_READ)).decode("utf-8", "replace")
        lines = await self._files.count_newlines(target) + 1
        return self._stub(head, target, self._files.size(target), lines)

    async def _target(self, save_to: str) -> str:
        directory = self._store.directory
        variables = {**self._store.environment, "FLEMMA_TOOLS_STORE_PATH": directory or ""}
        expanded = expand_environment(save_to, variables)
        if not expanded.startswith("/"):
            expanded = f"{self._base_directory}/{expanded}"
        target = normalise(expanded)
        if self._names_directory(expanded, target, directory):
            raise StoreError(f"save_to target '{save_to}' is a directory — append a filename")
        if self._files.kind(target) is FileKind.OTHER:
            raise StoreError(f"save_to target '{save_to}' is a device, pipe or socket")
        if not await self._sandbox.is_path_writable(target):
            raise StoreError(
                f"save_to destination '{save_to}' is not writable under sandbox policy"
            )
        return target

    def _names_directory(self, expanded: str, target: str, store: str | None) -> bool:
        if expanded.endswith(("/", "/.", "/..")):
            return True
        if store is not None and PurePosixPath(store).is_relative_to(target):
            return True
        return self._files.kind(target) is FileKind.DIRECTORY

    def _stub(self, text: str, path: str, size: int, lines: int) -> FinalResult:
        saved = f"[Output saved: {path} — {format_size(size)}, {lines} lines]"
        preview = head_preview(text, self._options.preview_lines, self._options.preview_bytes)
        return FinalResult(f"{preview}\n\n{saved}" if preview else saved, is_error=False)


def head_preview(text: str, max_lines: int, max_bytes: int) -> str:
    """Return the first whole lines of ``text`` within both limits."""
    taken: list[str] = []
    used = 0
    limit = max(0, max_lines)
    for line in text.split("\n", limit)[:limit]:
        used += byte_length(line) + (1 if taken else 0)
        if used > max_bytes:
            break
        taken.append(line)
    return "\n".join(taken)

"""The context of tools that users write, in Lua or Python: the stable contract, without waiting.

It offers what :class:`flemma.tools.context.ToolContext` offers, but everything answers at once, so
that a plain function can use it (spec: tools, "ExecutionContext"). Whole outputs that were cut are
kept, and stored when the call is over.
"""

import copy
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, cast

from flemma.chat.document import Document
from flemma.errors import SandboxUnavailable
from flemma.ports.files import Files
from flemma.ports.processes import Processes
from flemma.text.notices import overflow_notice, with_notice
from flemma.text.sizes import format_size
from flemma.text.truncate import (
    MAX_BYTES,
    MAX_LINES,
    Direction,
    Truncation,
    truncate_head,
    truncate_tail,
)
from flemma.tools.context import PathResolver, SandboxAccess, ToolContext

Value = TypeVar("Value")
Wait: TypeAlias = Callable[[Awaitable[Any]], Any]
"""What becomes of an awaitable: its value, or in a coroutine function the awaitable itself."""


def at_once(awaitable: Awaitable[Value]) -> Value:
    """Return the value of a coroutine that has nothing to wait for.

    Raises :class:`SandboxUnavailable` when it has: the backend that is asked answers later.
    """
    steps = cast("Coroutine[Any, Any, Value]", awaitable)
    try:
        steps.send(None)
    except StopIteration as stop:
        return cast("Value", stop.value)
    steps.close()
    raise SandboxUnavailable("the sandbox backend does not answer at once")


@dataclass(frozen=True, slots=True)
class TruncatedText:
    """What `ctx.truncate` returns: the facts of a truncation, and the file of the whole text."""

    content: str
    truncated: bool
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    truncated_by: str | None = None
    last_line_partial: bool = False
    first_line_exceeds_limit: bool = False
    full_output_path: str | None = None

    @classmethod
    def of(cls, truncation: Truncation, **changes: Any) -> "TruncatedText":
        """Return the facts of ``truncation``, some of them changed."""
        facts: dict[str, Any] = {**asdict(truncation), "truncated": truncation.truncated}
        return cls(**{**facts, **changes})


@dataclass(slots=True)
class TruncateAccess:
    """`ctx.truncate`."""

    store_path: str | None
    """File for the whole output of the call, None if there is none."""
    overflows: list[str] = field(default_factory=list[str])
    """Whole outputs, to be written to the store when the call is over."""
    used: bool = False
    """Whether something was cut: the tool minds the limits itself."""

    MAX_LINES = MAX_LINES
    MAX_BYTES = MAX_BYTES

    def truncate_head(
        self, content: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
    ) -> TruncatedText:
        """Keep the first lines, within both limits."""
        return self._cut("head", content, max_lines, max_bytes)

    def truncate_tail(
        self, content: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
    ) -> TruncatedText:
        """Keep the last lines, within both limits."""
        return self._cut("tail", content, max_lines, max_bytes)

    def truncate_with_overflow(
        self,
        content: str,
        direction: Direction = "tail",
        max_lines: int = MAX_LINES,
        max_bytes: int = MAX_BYTES,
    ) -> TruncatedText:
        """Truncate; when that cuts something, the whole text goes to the result store and the
        content ends in a notice with its path."""
        cut = truncate_head if direction == "head" else truncate_tail
        truncation = cut(content, max_lines=max_lines, max_bytes=max_bytes)
        if not truncation.truncated:
            return TruncatedText.of(truncation)
        self.used = True
        if self.store_path is not None:
            self.overflows.append(content)
        notice = overflow_notice(truncation, direction, self.store_path)
        return TruncatedText.of(
            truncation,
            content=with_notice(truncation.content, notice),
            full_output_path=self.store_path,
        )

    def format_size(self, size: float) -> str:
        """Return a number of bytes as people read it."""
        return format_size(int(size))

    def _cut(
        self, direction: Direction, content: str, max_lines: int, max_bytes: int
    ) -> TruncatedText:
        cut = truncate_head if direction == "head" else truncate_tail
        truncation = cut(content, max_lines=max_lines, max_bytes=max_bytes)
        self.used = self.used or truncation.truncated
        return TruncatedText.of(truncation)


class CustomSandbox:
    """`ctx.sandbox`."""

    def __init__(self, access: SandboxAccess, wait: Wait) -> None:
        self._access = access
        self._wait = wait

    def is_path_writable(self, path: str) -> bool:
        """Tell whether the sandbox policy of the buffer allows writing ``path``."""
        return at_once(self._access.is_path_writable(path))

    def wrap_command(self, argv: Sequence[str]) -> Any:
        """Return ``argv`` confined by the policy of the buffer (unchanged when the sandbox is off).

        A coroutine function has to await it. Raises :class:`flemma.errors.SandboxUnavailable`.
        """
        return self._wait(self._access.wrap_command(argv))


class CustomContext:
    """Everything a tool of a user may rely on."""

    def __init__(self, context: ToolContext, wait: Wait = at_once) -> None:
        self._context = context
        self._wait = wait
        self.bufnr = context.bufnr
        self.tool_id = context.tool_id
        self.tool_name = context.tool_name
        self.cwd = context.cwd
        self.timeout = context.timeout
        self.dirname = context.dirname
        self.filename = context.filename
        self.environment: Mapping[str, str] = context.environment

    @property
    def path(self) -> PathResolver:
        """`ctx.path.resolve(path)` starts relative paths at the chat file's directory."""
        return self._context.path

    @cached_property
    def sandbox(self) -> CustomSandbox:
        """The sandbox policy of the buffer."""
        return CustomSandbox(self._context.sandbox, self._wait)

    @cached_property
    def truncate(self) -> TruncateAccess:
        """Cutting output to what a model should be given."""
        return TruncateAccess(self._context.store.path)

    @property
    def processes(self) -> Processes:
        """Runs programs so that none is left behind; for coroutine functions."""
        return self._context.processes

    @property
    def files(self) -> Files:
        """Reads and writes files; for coroutine functions."""
        return self._context.files

    def get_config(self) -> dict[str, Any] | None:
        """Return a deep copy of `tools.<name>` of the configuration, None if there is none."""
        config = self._context.get_config()
        return None if config is None else copy.deepcopy(dict(config))

    def get_parsed_document(self) -> Document:
        """Return the chat as it is now."""
        return self._context.get_parsed_document()

    @property
    def overflows(self) -> Sequence[str]:
        """Whole outputs to be stored when the call is over."""
        return self.truncate.overflows if "truncate" in self.__dict__ else ()

    @property
    def truncated(self) -> bool:
        """Whether the tool cut its output itself."""
        return "truncate" in self.__dict__ and self.truncate.used

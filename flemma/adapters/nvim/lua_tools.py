"""Tools written in Lua: their definitions, their calls, and the context they use while they run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from flemma.adapters.nvim.lua import Lua, LuaError
from flemma.chat.document import Document
from flemma.errors import FlemmaError
from flemma.schema import Node, from_table
from flemma.text.notices import overflow_notice, with_notice
from flemma.text.sizes import format_size
from flemma.text.truncate import MAX_BYTES, MAX_LINES, Truncation, truncate_head, truncate_tail
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

Payload = Mapping[str, Any]
SCHEMA = "__flemma_schema"


@dataclass(slots=True)
class _RunningCall:
    """A call under way; ``overflows`` are outputs to be stored when it is over."""

    context: ToolContext
    overflows: list[str] = field(default_factory=list[str])


class LuaTools:
    """Makes definitions of what Lua registered, and serves the context of running calls."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua
        self._running: dict[int, _RunningCall] = {}

    def definition(self, name: str, table: dict[str, Any]) -> ToolDefinition:
        """Return the definition. Raises what a malformed schema or field raises."""
        execute = table.get("execute")
        preview = table.get("format_preview")
        capabilities: Sequence[Any] = table.get("capabilities") or ()
        return ToolDefinition(
            name=name,
            description=str(table.get("description") or ""),
            input_schema=_schema(table["input_schema"]),
            execute=self._executor(name, execute),
            strict=bool(table.get("strict")),
            asynchronous=bool(table.get("async")),
            enabled=table.get("enabled") is not False,
            capabilities=frozenset(str(tag) for tag in capabilities),
            remote_preview=None if preview is None else _preview(preview),
            output_schema=table.get("output_schema") or None,
            personalities=table.get("personalities") or {},
            origin="lua",
        )

    def context(self, payload: Payload) -> dict[str, Any]:
        """Answer a context function: ``{ok, value}``."""
        running = self._running.get(int(payload["tool_call"]))
        if running is None:
            return {"ok": False, "value": "the tool call is over"}
        arguments: Sequence[Any] = payload.get("arguments") or ()
        try:
            value = _ask(running, str(payload["function"]), *arguments)
        except (FlemmaError, OSError, TypeError, ValueError) as error:
            return {"ok": False, "value": str(error)}
        return {"ok": True, "value": value}

    def _executor(self, name: str, function: Any) -> Callable[[ToolInput, ToolContext], Any]:
        async def execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
            if function is None:
                return ToolResult.failure(f"Tool '{name}' is not executable")
            number = self._lua.next_call()
            running = self._running[number] = _RunningCall(context)
            try:
                returned = await self._lua.call(
                    function.number,
                    [dict(tool_input), _context_data(context)],
                    mode="tool",
                    number=number,
                )
            except LuaError as error:
                return ToolResult.failure(error.message)
            finally:
                del self._running[number]
            for text in running.overflows:
                await context.store.write(text)
            return _result(returned)

        return execute


def _schema(schema: Any) -> Node | Mapping[str, Any]:
    table = cast("Mapping[str, Any]", schema)
    return from_table(table) if SCHEMA in table else table


def _preview(function: Any) -> Callable[[ToolInput], Any]:
    async def ask(tool_input: ToolInput) -> ToolPreview | str:
        returned = await function(dict(tool_input), MAX_PREVIEW)
        if not isinstance(returned, Mapping):
            return "" if returned is None else str(returned)
        table = cast("Mapping[str, Any]", returned)
        highlight: Mapping[str, Any] = table.get("highlight") or {}
        detail = table.get("detail")
        return ToolPreview(
            detail=tuple(map(str, cast("Sequence[Any]", detail)))
            if isinstance(detail, list)
            else detail,
            label=table.get("label"),
            highlight=highlight.get("lang"),
        )

    return ask


MAX_PREVIEW = 200
"""Columns a preview function may count on; what it returns is fitted to the window anyway."""


def _result(returned: Any) -> ToolResult:
    if not isinstance(returned, Mapping):
        return ToolResult.failure("Tool returned no result")
    table = cast("Mapping[str, Any]", returned)
    if table.get("success"):
        return ToolResult.ok(table.get("output"))
    error = table.get("error")
    return ToolResult.failure(str(error) if error is not None else "", table.get("output"))


def _context_data(context: ToolContext) -> dict[str, Any]:
    return {
        "bufnr": context.bufnr,
        "tool_id": context.tool_id,
        "tool_name": context.tool_name,
        "cwd": context.cwd,
        "timeout": context.timeout,
        "dirname": context.dirname,
        "filename": context.filename,
    }


def _ask(call: _RunningCall, function: str, *arguments: Any) -> Any:
    context = call.context
    match function:
        case "path.resolve":
            return context.path.resolve(str(arguments[0]))
        case "sandbox.is_path_writable":
            return _at_once(context.sandbox.is_path_writable(str(arguments[0])))
        case "sandbox.wrap_command":
            return list(_at_once(context.sandbox.wrap_command(list(arguments[0]))))
        case "truncate.truncate_head":
            return _facts(truncate_head(str(arguments[0]), **_limits(arguments)))
        case "truncate.truncate_tail":
            return _facts(truncate_tail(str(arguments[0]), **_limits(arguments)))
        case "truncate.truncate_with_overflow":
            return _with_overflow(call, *arguments)
        case "truncate.format_size":
            return format_size(int(arguments[0]))
        case "get_config":
            return context.get_config()
        case "get_parsed_document":
            return document_table(context.get_parsed_document())
        case _:
            raise ValueError(f"there is no context function '{function}'")


def _at_once(awaitable: Any) -> Any:
    """Drive a coroutine that has nothing to wait for.

    Lua holds the editor while it asks; what had to wait (the first probe of a sandbox) was done
    before the tool started.
    """
    try:
        awaitable.send(None)
    except StopIteration as stop:
        return stop.value
    awaitable.close()
    raise ValueError("the sandbox is still being probed; try again")


def _limits(arguments: Sequence[Any]) -> dict[str, int]:
    options: Mapping[str, Any] = arguments[1] if len(arguments) > 1 and arguments[1] else {}
    return {
        "max_lines": int(options.get("max_lines") or MAX_LINES),
        "max_bytes": int(options.get("max_bytes") or MAX_BYTES),
    }


def _facts(truncation: Truncation) -> dict[str, Any]:
    facts = {key: value for key, value in asdict(truncation).items() if value is not None}
    return {**facts, "truncated": truncation.truncated}


def _with_overflow(call: _RunningCall, content: Any, options: Any = None) -> dict[str, Any]:
    text = str(content)
    wanted: Mapping[str, Any] = options or {}
    direction = "head" if wanted.get("direction") == "head" else "tail"
    cut = truncate_head if direction == "head" else truncate_tail
    truncation = cut(text, **_limits((text, options)))
    if not truncation.truncated:
        return _facts(truncation)
    # Lua waits for this answer, and the disk must not hold it up: written when the call is over.
    path = call.context.store.path
    if path is not None:
        call.overflows.append(text)
    notice = overflow_notice(truncation, direction, path)
    facts = _facts(truncation)
    facts["content"] = with_notice(truncation.content, notice)
    if path is not None:
        facts["full_output_path"] = path
    return facts


def document_table(document: Document) -> dict[str, Any]:
    """Return a document as plain tables for Lua: messages with their segments, 1-based lines."""
    messages: list[dict[str, Any]] = []
    for index, message in enumerate(document.messages):
        start = document.start_of(index)
        segments: list[dict[str, Any]] = []
        for segment in message.segments:
            fields = asdict(segment)
            fields["kind"] = _kind(type(segment).__name__)
            fields["position"] = {
                "start_line": start + segment.start + 1,
                "end_line": start + segment.end + 1,
            }
            segments.append({key: value for key, value in fields.items() if value is not None})
        messages.append(
            {
                "role": message.role,
                "position": {"start_line": start + 1, "end_line": start + message.line_count},
                "segments": segments,
            }
        )
    return {"messages": messages}


def _kind(name: str) -> str:
    """Return ``tool_use`` for ``ToolUse``."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")

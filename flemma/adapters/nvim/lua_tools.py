"""Tools written in Lua: their definitions, their calls, and the context they use while they run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from flemma.adapters.custom_tools import settle
from flemma.adapters.nvim.lua import Lua, LuaError
from flemma.adapters.nvim.lua_sandbox import LuaSandbox
from flemma.chat.document import Document
from flemma.errors import FlemmaError, SandboxUnavailable
from flemma.schema import Node, from_table
from flemma.text.truncate import MAX_BYTES, MAX_LINES
from flemma.tools.context import SandboxAccess, ToolContext
from flemma.tools.custom_context import CustomContext, TruncatedText, at_once
from flemma.tools.custom_results import preview_of
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

Payload = Mapping[str, Any]
SCHEMA = "__flemma_schema"
LUA_ORIGIN = "lua"


class LuaTools:
    """Makes definitions of what Lua registered, and serves the context of running calls."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua
        self._running: dict[int, tuple[CustomContext, SandboxAccess]] = {}

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
            origin=LUA_ORIGIN,
        )

    def context(self, payload: Payload) -> dict[str, Any]:
        """Answer a context function: ``{ok, value}``."""
        running = self._running.get(int(payload["tool_call"]))
        if running is None:
            return {"ok": False, "value": "the tool call is over"}
        arguments: Sequence[Any] = payload.get("arguments") or ()
        try:
            value = _ask(*running, str(payload["function"]), *arguments)
        except (FlemmaError, OSError, TypeError, ValueError) as error:
            return {"ok": False, "value": str(error)}
        return {"ok": True, "value": value}

    def _executor(self, name: str, function: Any) -> Callable[[ToolInput, ToolContext], Any]:
        async def execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
            if function is None:
                return ToolResult.failure(f"Tool '{name}' is not executable")
            await _probe(context.sandbox)
            number = self._lua.next_call()
            custom = CustomContext(context)
            self._running[number] = (custom, context.sandbox)
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
            return await settle(returned, custom, context)

        return execute


def _schema(schema: Any) -> Node | Mapping[str, Any]:
    table = cast("Mapping[str, Any]", schema)
    return from_table(table) if SCHEMA in table else table


def _preview(function: Any) -> Callable[[ToolInput], Any]:
    async def ask(tool_input: ToolInput) -> ToolPreview | str:
        return preview_of(await function(dict(tool_input), MAX_PREVIEW))

    return ask


MAX_PREVIEW = 200
"""Columns a preview function may count on; what it returns is fitted to the window anyway."""


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


async def _probe(sandbox: SandboxAccess) -> None:
    """Let the backend find out what it can do, so that Lua can ask it without waiting.

    What keeps a backend from working is told when the tool asks for it.
    """
    try:
        confinement = await sandbox.confinement()
        if confinement is not None and not isinstance(confinement[0], LuaSandbox):
            await confinement[0].wrap(confinement[1], ("true",))
    except SandboxUnavailable:
        return


def _ask(context: CustomContext, sandbox: SandboxAccess, function: str, *arguments: Any) -> Any:
    match function:
        case "path.resolve":
            return context.path.resolve(str(arguments[0]))
        case "sandbox.is_path_writable":
            return context.sandbox.is_path_writable(str(arguments[0]))
        case "sandbox.wrap_command":
            return _wrapped(sandbox, [str(word) for word in arguments[0]])
        case "truncate.truncate_head":
            return _facts(context.truncate.truncate_head(str(arguments[0]), **_limits(arguments)))
        case "truncate.truncate_tail":
            return _facts(context.truncate.truncate_tail(str(arguments[0]), **_limits(arguments)))
        case "truncate.truncate_with_overflow":
            direction = "head" if _options(arguments).get("direction") == "head" else "tail"
            cut = context.truncate.truncate_with_overflow
            return _facts(cut(str(arguments[0]), direction, **_limits(arguments)))
        case "truncate.format_size":
            return context.truncate.format_size(float(arguments[0]))
        case "get_config":
            return context.get_config()
        case "get_parsed_document":
            return document_table(context.get_parsed_document())
        case _:
            raise ValueError(f"there is no context function '{function}'")


def _wrapped(sandbox: SandboxAccess, argv: Sequence[str]) -> Mapping[str, Any]:
    """Return the confined command, or the call of a Lua backend that confines it: Lua waits for
    this answer, so the host cannot make that call."""
    confinement = at_once(sandbox.confinement())
    if confinement is None:
        return {"argv": list(argv)}
    backend, policy = confinement
    if isinstance(backend, LuaSandbox):
        return backend.call(policy, argv)
    return {"argv": list(at_once(backend.wrap(policy, argv)))}


def _options(arguments: Sequence[Any]) -> Mapping[str, Any]:
    return arguments[1] if len(arguments) > 1 and arguments[1] else {}


def _limits(arguments: Sequence[Any]) -> dict[str, int]:
    options = _options(arguments)
    return {
        "max_lines": int(options.get("max_lines") or MAX_LINES),
        "max_bytes": int(options.get("max_bytes") or MAX_BYTES),
    }


def _facts(text: TruncatedText) -> dict[str, Any]:
    return {key: value for key, value in asdict(text).items() if value is not None}


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

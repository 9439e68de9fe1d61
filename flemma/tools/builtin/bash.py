"""The `bash` tool: run a command (spec: tools, "Bash execution backend"; behaviour 4.1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from flemma import schema as s
from flemma.errors import FlemmaError, ProcessError, SandboxUnavailable
from flemma.ports.processes import ProcessOutcome, ProcessSpec
from flemma.ports.sandbox import SandboxPolicy
from flemma.text.sizes import counted, format_size
from flemma.tools.builtin.command_output import Captured, CommandOutput
from flemma.tools.builtin.denials import explain_denial
from flemma.tools.builtin.inputs import number_input, text_input
from flemma.tools.builtin.label import label_field
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview, ToolResult

STORE_VARIABLE = "FLEMMA_TOOLS_STORE_PATH"

_ENVIRONMENT = {
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
}
"""Nothing may wait for a person (case X-05)."""

_STILL_RUNNING = "[A process started by this command is still running in the background.]"


def definition() -> ToolDefinition:
    """Return the tool."""
    return ToolDefinition(
        name="bash",
        description=(
            "Run a bash command and return what it prints, stdout and stderr together. Commands "
            "start in the working directory of the chat; nothing carries over to the next call. "
            "Standard input is empty, so nothing can be asked. Only the last 2000 lines or 50KB "
            "are returned; longer output is also saved to a file that the result names. "
            f"${STORE_VARIABLE} is a directory for files of this conversation."
        ),
        input_schema=s.object(
            {
                "label": label_field(),
                "command": s.string().describe("The command line, may be several lines"),
                "timeout": s.number()
                .nullable()
                .describe("Seconds after which the command is ended (default: 30)"),
            }
        ).strict(),
        execute=_execute,
        strict=True,
        asynchronous=True,
        capabilities=frozenset({"auto_approves_if_sandboxed"}),
        format_preview=_preview,
        personalities={
            "coding-assistant": {
                "snippet": "Run shell commands",
                "guidelines": [
                    "Use bash for builds, tests, version control and whatever no other tool does."
                ],
            }
        },
    )


async def _execute(tool_input: ToolInput, context: ToolContext) -> ToolResult:
    command = text_input(tool_input, "command")
    if not command or not command.strip():
        return ToolResult.failure("No command provided")
    try:
        confinement = await context.sandbox.confinement()
        spec = await _spec(command, _timeout(tool_input, context), context)
        result = await _run(spec, context)
        return result if confinement is None else _explained(result, confinement[1])
    except SandboxUnavailable as error:
        return ToolResult.failure(f"Sandbox error: {error.message}")
    except ProcessError as error:
        hint = f" {error.hint}" if error.hint else ""
        return ToolResult.failure(f"Failed to start job: {error.message}.{hint}")


async def _spec(command: str, timeout: float, context: ToolContext) -> ProcessSpec:
    """Raises :class:`ProcessError` or :class:`SandboxUnavailable`."""
    config = context.get_config() or {}
    shell = config.get("shell") or context.processes.which("bash")
    if shell is None:
        raise ProcessError(
            "bash was not found on PATH", hint="Install it, or set tools.bash.shell to a shell."
        )
    if STORE_VARIABLE in command and context.store.directory:
        _make_store_directory(context, context.store.directory)
    argv: Sequence[str] = await context.sandbox.wrap_command([shell, "-c", command])
    return ProcessSpec(
        argv, context.cwd, _environment(config, context), timeout=timeout, terminal=True
    )


def _environment(config: Mapping[str, object], context: ToolContext) -> dict[str, str]:
    configured = config.get("env")
    given: Mapping[str, object] = configured if isinstance(configured, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]
    own = {str(name): str(value) for name, value in given.items()}
    return {**_ENVIRONMENT, **own, **context.environment}


def _make_store_directory(context: ToolContext, directory: str) -> None:
    # Before the sandbox is made: it grants the directory only if it exists.
    try:
        context.files.make_directories(directory)
    except OSError as error:
        raise ProcessError(
            f"Failed to create directory '{directory}': {error.strerror or error}"
        ) from error


async def _run(spec: ProcessSpec, context: ToolContext) -> ToolResult:
    output = CommandOutput()

    async def run() -> ProcessOutcome:
        try:
            return await context.processes.run(spec, output.take)
        finally:
            output.finish()

    try:
        outcome, _ = await asyncio.gather(run(), output.store_overflow(context.store))
        captured = await output.capture()
    except (asyncio.CancelledError, FlemmaError):
        output.discard()
        raise
    return _result(outcome, captured, spec)


def _explained(result: ToolResult, policy: SandboxPolicy) -> ToolResult:
    """Add what the sandbox had to do with a failure."""
    note = None if result.success else explain_denial(result.error or "", policy)
    return replace(result, error=f"{result.error}\n\n{note}") if note else result


def _result(outcome: ProcessOutcome, captured: Captured, spec: ProcessSpec) -> ToolResult:
    match outcome.ended_by:
        case None:
            return _ended(outcome, captured)
        case "timeout":
            reason = f"Command timed out after {counted(spec.timeout or 0, 'second')}."
        case "output_limit":
            size = format_size(spec.output_limit)
            reason = f"Command was ended: its output exceeded {size}."
        case _:
            reason = "Command was cancelled."
    text = f"{captured.text}\n\n{reason}" if captured.text else reason
    return ToolResult.failure(text, full_output_path=captured.full_output_path)


def _ended(outcome: ProcessOutcome, captured: Captured) -> ToolResult:
    text = captured.text or "(no output)"
    note = f"\n\n{_STILL_RUNNING}" if outcome.survivors else ""
    code = outcome.exit_code
    if code:
        # A shell would report a signal this way.
        shown = code if code > 0 else 128 - code
        return ToolResult.failure(
            f"{text}\n\nCommand exited with code {shown}{note}",
            full_output_path=captured.full_output_path,
        )
    return ToolResult(
        success=True,
        output=text + note,
        full_output_path=captured.full_output_path,
        untruncated=None if captured.truncated else captured.text,
        truncated=captured.truncated,
        incomplete=captured.truncated and captured.full_output_path is None,
    )


def _timeout(tool_input: ToolInput, context: ToolContext) -> float:
    given = number_input(tool_input, "timeout")
    return given if given is not None and given > 0 else context.timeout


def _preview(tool_input: ToolInput) -> ToolPreview:
    command = text_input(tool_input, "command") or ""
    return ToolPreview(
        detail=f"$ {command}" if command else None,
        label=text_input(tool_input, "label"),
        highlight="bash",
    )

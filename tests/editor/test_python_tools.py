"""Tools written in Python, in a real Neovim: files, forms, context, cancellation, and resolvers."""

import json
from pathlib import Path

import pytest

from tests.editor.tool_support import (
    DONE,
    approved,
    call,
    calls,
    conversation,
    result_of,
    result_text,
    send,
    sent_tool,
)
from tests.support.anthropic_server import message, text
from tests.support.nvim import Editor

TEN_LINES = """\
import flemma.tools
from flemma import schema as s

def execute(input, ctx):
    return {"success": True, "output": input["text"].upper()}

flemma.tools.register("shout", description="Say it loudly", strict=True, execute=execute,
    input_schema=s.object({"text": s.string().describe("What to say")}).strict(),
)
"""


def module(tmp_path: Path, source: str, name: str = "my_tools.py") -> str:
    path = tmp_path / name
    path.write_text(source)
    return str(path)


def probe(body: str, *, kind: str = "def", fields: str = "") -> str:
    """Return a module with a tool `probe` whose `execute` has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"""
import asyncio, json, os, subprocess, threading, time
import flemma.tools
from flemma import schema as s

{kind} execute(input, ctx):
{lines}

flemma.tools.register("probe", description="Probe", execute=execute,
    input_schema=s.object({{"n": s.integer().nullable()}}).strict(), {fields})
"""


def outcome(tmp_path: Path, source: str, **options: object) -> tuple[str, bool]:
    modules = [module(tmp_path, source)]
    with conversation([call("probe", {}), DONE], options=approved(modules=modules, **options)) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        return result_text(server), bool(result_of(server).get("is_error"))


def said(editor: Editor) -> list[str]:
    return [notification.text for notification in editor.notifications()]


def test_a_tool_in_ten_lines_is_offered_to_the_model_and_runs(tmp_path: Path) -> None:
    assert len(TEN_LINES.splitlines()) <= 10
    modules = [module(tmp_path, TEN_LINES)]
    replies = [call("shout", {"text": "hello"}), DONE]
    with conversation(replies, options=approved(modules=modules)) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server) == "HELLO"
        schema = sent_tool(server, "shout")["input_schema"]
        assert schema["required"] == ["text", "flemma.save_to"]
        assert said(editor) == []


def test_a_coroutine_function_runs_without_being_called_async(tmp_path: Path) -> None:
    body = 'await asyncio.sleep(0)\nreturn {"success": True, "output": "awaited"}'
    modules = [module(tmp_path, probe(body, kind="async def"))]
    with conversation([call("probe", {}), DONE], options=approved(modules=modules)) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server) == "awaited"
        assert "flemma.background" in sent_tool(server, "probe")["input_schema"]["properties"]


def test_what_a_tool_raises_is_its_error(tmp_path: Path) -> None:
    assert outcome(tmp_path, probe('raise ValueError("no good")')) == ("ValueError: no good", True)


def test_a_tool_that_returns_nothing_is_told_to_the_model(tmp_path: Path) -> None:
    assert outcome(tmp_path, probe("return None")) == ("Tool returned no result", True)


def test_a_failure_keeps_the_output_so_far(tmp_path: Path) -> None:
    body = 'return {"success": False, "error": "no disk", "output": "3 of 9"}'
    assert outcome(tmp_path, probe(body)) == ("no disk\n\nPartial output:\n3 of 9", True)


def test_printing_and_child_processes_do_not_disturb_the_channel_to_neovim(tmp_path: Path) -> None:
    body = """
print("printed")
os.write(1, b"written")
read = subprocess.run(["sh", "-c", "echo from a child; cat"], check=True)
return {"success": True, "output": f"child ended with {read.returncode}"}
"""
    assert outcome(tmp_path, probe(body)) == ("child ended with 0", False)


CONTEXT = """
config = ctx.get_config()
config["nested"]["value"] = "changed"
facts = [
    ctx.tool_id, ctx.tool_name, ctx.timeout, ctx.bufnr > 0,
    ctx.cwd == ctx.dirname, ctx.filename.removeprefix(ctx.dirname),
    ctx.path.resolve("a/../b.txt").removeprefix(ctx.dirname),
    ctx.get_config()["nested"]["value"],
    ctx.sandbox.is_path_writable("/etc/x"), ctx.sandbox.is_path_writable(ctx.filename),
    ctx.truncate.MAX_LINES, ctx.truncate.MAX_BYTES, ctx.truncate.format_size(12345),
    ctx.truncate.truncate_tail("1\\n2\\n3", max_lines=1).content,
    ctx.truncate.truncate_head("1\\n2\\n3", max_lines=1).content,
    [message.role for message in ctx.get_parsed_document().messages],
]
"""
FACTS = [
    *("toolu_1", "probe", 30, True, True, "/work.chat", "/b.txt", "kept", False, True),
    *(2000, 51200, "12.1KB", "3", "1", ["user", "assistant", "user"], ["bwrap", "hello"]),
]


@pytest.mark.parametrize(("kind", "wait"), [("def", ""), ("async def", "await ")])
def test_the_context_is_that_of_lua_tools(tmp_path: Path, kind: str, wait: str) -> None:
    body = f"""{CONTEXT}
wrapped = {wait}ctx.sandbox.wrap_command(["echo", "hello"])
facts.append([wrapped[0], wrapped[-1]])
return {{"success": True, "output": facts}}
"""
    found, _ = outcome(tmp_path, probe(body, kind=kind), probe={"nested": {"value": "kept"}})
    assert json.loads(found) == FACTS


def test_cancelling_ends_a_coroutine_at_its_await(tmp_path: Path) -> None:
    begun, mark = tmp_path / "begun", tmp_path / "cancelled"
    body = f"""
open({str(begun)!r}, "w").close()
try:
    await asyncio.sleep(600)
except asyncio.CancelledError:
    open({str(mark)!r}, "w").close()
    raise
"""
    modules = [module(tmp_path, probe(body, kind="async def"))]
    with conversation([call("probe", {})], options=approved(modules=modules)) as (editor, _):
        send(editor)
        editor.wait_until(begun.exists)
        editor.keys("<C-c>")
        editor.wait_for_text("User aborted tool execution.")
        editor.wait_until(mark.exists)


def test_cancelling_leaves_a_plain_function_behind_and_the_chat_goes_on(tmp_path: Path) -> None:
    body = 'threading.Event().wait(600)\nreturn {"success": True, "output": "late"}'
    modules = [module(tmp_path, probe(body))]
    replies = [call("probe", {}), message(text("Never mind."))]
    with conversation(replies, options=approved(modules=modules)) as (editor, server):
        send(editor)
        editor.wait_until(lambda: editor.text().endswith("`toolu_1`\n```\n```\n"))
        editor.keys("<C-c>")
        editor.wait_for_text("User aborted tool execution.")
        send(editor)
        editor.wait_for_text("Never mind.")
        assert result_text(server) == "User aborted tool execution."


def test_a_tool_registered_by_several_forms(tmp_path: Path) -> None:
    source = """
import asyncio
import flemma.tools
from flemma import schema as s

def tool(name):
    return {"name": name, "description": name, "input_schema": s.object({}),
            "execute": lambda input, ctx: {"success": True, "output": ctx.tool_name}}

definitions = [tool("exported")]
flemma.tools.register("mapping", tool("mapping"))
flemma.tools.register([tool("first"), tool("second")])
flemma.tools.register("raw", description="Raw", execute=lambda input, ctx: None,
    input_schema={"type": "object", "properties": {"x": {"type": "string", "pattern": "^a"}}})

async def later(register, done):
    await asyncio.sleep(0.05)
    register("found", tool("found"))
    done()
flemma.tools.register(later)

def resolve(register, done):
    register("resolved", tool("resolved"))
    done()
timeout = 5
"""
    modules = [module(tmp_path, source)]
    names = ("exported", "mapping", "first", "second", "found", "resolved")
    wanted = [(name, name, {}) for name in names]
    with conversation([calls(*wanted), DONE], options=approved(modules=modules)) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        assert [result_text(server, name) for name in names] == list(names)
        raw = sent_tool(server, "raw")["input_schema"]["properties"]["x"]
        assert raw == {"type": "string", "pattern": "^a"}
        assert said(editor) == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def broken(:", "SyntaxError: "),
        ("raise SystemExit(3)", "RuntimeError: SystemExit(3)"),
        (
            "import flemma.tools\nflemma.tools.register('x', description='d', strikt=True)",
            "tool 'x' has an unknown field 'strikt', did you mean 'strict'?",
        ),
        (
            "import flemma.tools\nflemma.tools.register('x', description='d', input_schema={})",
            "tool 'x': 'execute' has to be a function",
        ),
    ],
)
def test_a_module_that_fails_is_named_once_with_its_reason_and_blocks_nothing(
    tmp_path: Path, source: str, reason: str
) -> None:
    name = module(tmp_path, source)
    replies = [message(text("Hello.")), message(text("Again."))]
    with conversation(replies, options=approved(modules=[name])) as (editor, _):
        send(editor)
        editor.wait_for_text("Hello.")
        assert len(said(editor)) == 1
        assert said(editor)[0].startswith(f"Module '{name}' could not be loaded: {reason}")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no.such.module", "neither a Lua module nor installed"),
        ("./missing.py", "there is no file "),
    ],
)
def test_a_module_that_is_not_there_is_named(name: str, reason: str) -> None:
    with conversation([message(text("Hi."))], options=approved(modules=[name])) as (editor, _):
        send(editor)
        editor.wait_for_text("Hi.")
        assert [reason in notification for notification in said(editor)] == [True]


def test_a_send_waits_for_a_slow_module_and_goes_by_itself(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)\n"
    modules = [module(tmp_path, wait + TEN_LINES)]
    replies = [call("shout", {"text": "late"}), DONE]
    with conversation(replies, options=approved(modules=modules)) as (editor, server):
        send(editor)
        editor.wait_until(lambda: "Waiting for tool definitions to load..." in said(editor))
        assert server.requests == []
        gate.touch()
        editor.wait_for_text("All done.")
        assert result_text(server) == "LATE"


def test_a_module_that_hangs_is_given_up_after_the_default_timeout(tmp_path: Path) -> None:
    name = module(tmp_path, "import threading\nthreading.Event().wait()")
    options = approved(modules=[name], default_timeout=1)
    with conversation([message(text("Hi."))], options=options) as (editor, _):
        send(editor)
        editor.wait_for_text("Hi.")
        expected = f"Async tool source failed: 'module {name}' did not finish in time"
        assert expected in said(editor)


def test_a_source_that_raises_or_fails_warns_and_the_others_work(tmp_path: Path) -> None:
    source = (
        TEN_LINES
        + """
def raising(register, done):
    raise RuntimeError("cannot connect")
flemma.tools.register(raising)
flemma.tools.register({"resolve": lambda register, done: done("no answer"), "timeout": 9})
flemma.tools.register({"resolve": lambda register, done: None, "timeout": 0.1})
"""
    )
    options = approved(modules=[module(tmp_path, source)])
    with conversation([call("shout", {"text": "x"}), DONE], options=options) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server) == "X"
        found = sorted(said(editor))
        assert found[:1] == ["Async tool source failed: 'python:3' did not finish in time"]
        assert found[1:] == [
            "Async tool source failed: cannot connect",
            "Async tool source failed: no answer",
        ]


def test_a_module_bundles_a_resolver_under_its_own_name(tmp_path: Path) -> None:
    source = (
        TEN_LINES
        + """
asked = []
def resolve_call(tool_name, input, context):
    asked.append((tool_name, dict(input), sorted(context)))
    if tool_name == "shout":
        return "deny" if input["text"] == "rude" else "approve"

class approval:
    priority = 150
    description = "Manners"
    resolve = staticmethod(resolve_call)
"""
    )
    name = module(tmp_path, source)
    replies = [calls(("a", "shout", {"text": "rude"}), ("b", "shout", {"text": "hi"})), DONE]
    with conversation(replies, options={"tools": {"modules": [name]}}) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server, "a") == "The tool was denied by a policy."
        assert result_text(server, "b") == "HI"


EXTENSIONS = """
import json
from flemma import extensions

def guard(tool_name, input, context):
    return "deny" if tool_name == "bash" and "rm -rf" in input["command"] else None

async def parse(code, names):
    return {"who": code.strip(), "flemma": {"thinking": False}}

def available():
    return None

def wrap(policy, argv):
    return ["env", "CONFINED=" + ("net" if policy.network else "no net"), *argv]

extensions.register_resolver("team.guard", guard, priority=200)
extensions.register_frontmatter("shortnote", parse)
extensions.register_sandbox("pretend", available, wrap, priority=500)
"""


def test_resolvers_languages_and_sandboxes_can_be_written_in_python(tmp_path: Path) -> None:
    replies = [
        calls(
            ("a", "bash", {"label": "l", "command": "rm -rf x", "timeout": None}),
            ("b", "bash", {"label": "l", "command": "echo $CONFINED", "timeout": None}),
        ),
        DONE,
    ]
    options = {**approved(modules=[module(tmp_path, EXTENSIONS)])}
    options["sandbox"] = {"policy": {"network": False}}
    with conversation(
        replies, options=options, frontmatter="```shortnote\nAda\n```", prompt="I am {{ who }}."
    ) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server, "a") == "The tool was denied by a policy."
        assert result_text(server, "b") == "no net"
        assert "I am Ada." in json.dumps(server.requests[0].json["messages"][0])
        assert said(editor) == []

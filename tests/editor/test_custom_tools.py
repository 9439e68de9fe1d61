"""Tools written in Lua, in a real Neovim: every example of the documentation as it stands there."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.editor.lua_tools import HEAD, execute, probe, run_tool
from tests.editor.tool_support import (
    DONE,
    approved,
    call,
    calls,
    conversation,
    result_text,
    send,
    sent_tool,
)
from tests.support.anthropic_server import message, text
from tests.support.nvim import Editor

MY_TOOL = (
    HEAD
    + r"""
tools.register("my_tool", {
  name = "my_tool",
  description = "Does something useful",
  strict = true,
  input_schema = s.object({
    label = s.string():describe("A short human-readable label for this operation"),
    query = s.string():describe("The input query"),
  }):strict(),
  format_preview = function(input)
    return { label = input.label, detail = '"' .. input.query .. '"' }
  end,
  execute = function(input, ctx)
    return { success = true, output = "done: " .. input.query }
  end,
})
"""
)

BATCH = (
    HEAD
    + """
tools.register({
  {
    name = "tool_a",
    description = "...",
    strict = true,
    input_schema = s.object({ label = s.string() }):strict(),
    execute = function(input, ctx) --[[ ... ]] end,
  },
  {
    name = "tool_b",
    description = "...",
    strict = true,
    input_schema = s.object({ label = s.string() }):strict(),
    execute = function(input, ctx) --[[ ... ]] end,
  },
})
"""
)

EXPORT = r"""
local s = require("flemma.schema")
local tools = require("flemma.tools")

tools.register("export", {
  name = "export",
  description = "Save content to a file in the project",
  strict = true,
  async = false,
  input_schema = s.object({
    label = s.string():describe("A short human-readable label (e.g., 'saving log')"),
    path = s.string():describe("Output file path (relative or absolute)"),
    content = s.string():describe("Content to write"),
  }):strict(),
  format_preview = function(input)
    return {
      label = input.label,
      detail = { input.path, "(" .. #input.content .. "B)" },
    }
  end,
  execute = function(input, ctx)
    local path = ctx.path.resolve(input.path)

    if not ctx.sandbox.is_path_writable(path) then
      return { success = false, error = "Sandbox: write denied for " .. input.path }
    end

    -- Use tool-specific config (e.g. config.tools.export = { max_size = 102400 })
    local tool_config = ctx:get_config()
    local max_size = (tool_config and tool_config.max_size) or ctx.truncate.MAX_BYTES

    if #input.content > max_size then
      return {
        success = false,
        error = "Content exceeds " .. ctx.truncate.format_size(max_size) .. " limit",
      }
    end

    -- ... write logic ...

    return { success = true, output = "Saved " .. #input.content .. " bytes to " .. input.path }
  end,
})
"""

STRICT_MODE = (
    HEAD
    + """
tools.register("my_tool", {
  name = "my_tool",
  description = "Does something",
  strict = true,
  input_schema = s.object({
    query       = s.string():describe("Required input"),
    max_results = s.number():nullable():describe("Optional limit (default: 10)"),
  }):strict(),
  execute = function(input, ctx)
    local limit = input.max_results or 10
    return { success = true, output = "found results" }
  end,
})
"""
)


@pytest.fixture
def editor_without_host(start_editor: Callable[..., Editor]) -> Editor:
    return start_editor(options={"provider": "demo"})


def test_a_single_definition_runs_after_approval_and_its_result_reaches_the_model() -> None:
    with conversation([call("my_tool", {"label": "a", "query": "q"}), DONE], lua=MY_TOOL) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("(pending)")
        editor.keys("<M-a>")
        editor.wait_for_text("(approved)")
        send(editor)
        editor.wait_for_text("All done.")

        assert result_text(server) == "done: q"
        assert sent_tool(server, "my_tool")["description"] == "Does something useful"


def test_a_batch_registers_every_tool_and_no_result_is_an_error() -> None:
    replies = [calls(("a", "tool_a", {"label": "1"}), ("b", "tool_b", {"label": "2"})), DONE]
    with conversation(replies, lua=BATCH, options=approved()) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert [result_text(server, name) for name in "ab"] == ["Tool returned no result"] * 2


@pytest.mark.parametrize(
    ("tool_input", "options", "expected"),
    [
        ({"path": "out.txt", "content": "hello"}, {}, "Saved 5 bytes to out.txt"),
        ({"path": "/etc/out.txt", "content": "x"}, {}, "Sandbox: write denied for /etc/out.txt"),
        ({"path": "o", "content": "x" * 51201}, {}, "Content exceeds 50.0KB limit"),
        (
            {"path": "o", "content": "12345"},
            {"export": {"max_size": 4}},
            "Content exceeds 4B limit",
        ),
    ],
)
def test_the_complete_example_works_unchanged(
    tool_input: dict[str, Any], options: dict[str, Any], expected: str
) -> None:
    found, _, said = run_tool(EXPORT, "export", {"label": "saving log", **tool_input}, **options)
    assert found == expected
    assert said == []


def test_strict_tools_keep_every_invariant_on_the_wire() -> None:
    with conversation([message(text("Hi."))], lua=STRICT_MODE) as (editor, server):
        send(editor)
        editor.wait_for_text("Hi.")
        schema = sent_tool(server, "my_tool")["input_schema"]
        assert schema["required"] == ["max_results", "query", "flemma.save_to"]
        assert schema["additionalProperties"] is False
        assert schema["properties"]["max_results"]["type"] == ["number", "null"]
        assert schema["properties"]["flemma.save_to"]["type"] == ["string", "null"]


def test_null_for_an_optional_parameter_arrives_as_nil() -> None:
    assert probe("return { success = true, output = type(input.n) }") == ("nil", False)


def test_raw_json_schema_passes_through_and_a_missing_properties_is_an_object() -> None:
    lua = """
    require("flemma.tools").register("raw", {
      description = "Raw",
      input_schema = {
        type = "object",
        properties = { mode = { type = "string", pattern = "^a", ["x-own"] = 1 }, any = {} },
        required = { "mode" },
      },
      execute = function(input) return { success = true, output = input.mode } end,
    })
    require("flemma.tools").register("bare", {
      description = "Bare",
      input_schema = { type = "object", properties = {} },
      capabilities = { "disables_save_to" },
      execute = function() return { success = true, output = "ok" } end,
    })
    """
    with conversation([call("raw", {"mode": "abc"}), DONE], lua=lua, options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        properties = sent_tool(server, "raw")["input_schema"]["properties"]
        assert properties["mode"] == {"type": "string", "pattern": "^a", "x-own": 1}
        assert properties["any"] == {}
        assert sent_tool(server, "bare")["input_schema"]["properties"] == {}
        assert result_text(server) == "abc"


@pytest.mark.parametrize(
    ("tool", "capability", "declared"),
    [
        ("read", "emits_template", True),
        ("bash", "auto_approves_if_sandboxed", True),
        ("flemma.jobs.status", "disables_background", True),
        ("flemma.jobs.status", "disables_save_to", True),
        ("write", "emits_template", False),
        ("unheard_of", "emits_template", False),
    ],
)
def test_capabilities_are_known_before_any_host_runs(
    editor_without_host: Editor, tool: str, capability: str, declared: bool
) -> None:
    ask = 'return require("flemma.tools.registry").has_capability(...)'
    assert editor_without_host.exec_lua(ask, tool, capability) is declared
    assert editor_without_host.host_pid() is None


def test_a_custom_tool_opts_into_each_capability() -> None:
    lua = (
        HEAD
        + """
    local function tool(name, capabilities)
      tools.register(name, {
        description = name, async = true, capabilities = capabilities,
        input_schema = s.object({ a = s.string() }):strict(),
        execute = function(input, ctx, callback)
          callback({ success = true, output = "{{ 1 + 1 }}" })
        end,
      })
    end
    tool("plain")
    tool("foreground", { "disables_background" })
    tool("kept", { "disables_save_to", "no_such_tag" })
    tool("templated", { "emits_template" })
    tool("harmless", { "auto_approves_if_sandboxed" })
    """
    )
    replies = [
        calls(
            ("p", "harmless", {"a": ""}), ("q", "templated", {"a": ""}), ("r", "plain", {"a": ""})
        ),
        DONE,
    ]
    with conversation(replies, lua=lua) as (editor, server):
        send(editor)
        editor.wait_for_text("(pending)")
        editor.wait_until(lambda: editor.text().count("{{ 1 + 1 }}") == 1)
        assert editor.text().count("(pending)") == 2
        editor.command("Flemma tool:approve-all")
        editor.wait_for_text("(approved)")
        send(editor)
        editor.wait_for_text("All done.")

        keys = {
            name: set(sent_tool(server, name)["input_schema"]["properties"]) - {"a"}
            for name in ("plain", "foreground", "kept")
        }
        assert keys == {
            "plain": {"flemma.background", "flemma.save_to"},
            "foreground": {"flemma.save_to"},
            "kept": {"flemma.background"},
        }
        assert result_text(server, "q") == "2"
        assert result_text(server, "r") == "{{ 1 + 1 }}"


def test_a_tool_registered_twice_warns_and_the_last_one_counts() -> None:
    lua = MY_TOOL + MY_TOOL.replace('"done: "', '"again: "')
    found, _, said = run_tool(lua, "my_tool", {"label": "a", "query": "q"})
    assert found == "again: q"
    assert said == ["tool 'my_tool' redefined (previously registered, now overwritten)"]


def test_a_built_in_tool_can_be_redefined_and_that_is_said() -> None:
    lua = execute('return { success = true, output = "mine" }').replace('"probe"', '"ls"')
    found, _, said = run_tool(lua, "ls", {})
    assert found == "mine"
    assert said == ["tool 'ls' redefined (previously registered, now overwritten)"]


def test_a_bad_schema_disables_only_its_own_tool_and_names_it() -> None:
    """Case B-18."""
    lua = (
        MY_TOOL
        + """
    tools.register("broken", {
      description = "Broken",
      input_schema = { type = "string" },
      execute = function() end,
    })
    """
    )
    with conversation([message(text("Hi."))], lua=lua) as (editor, server):
        send(editor)
        editor.wait_for_text("Hi.")
        names = {tool["name"] for tool in server.requests[0].json["tools"]}
        assert "my_tool" in names
        assert "broken" not in names
        said = [notification.text for notification in editor.notifications()]
        assert said == [
            "tool 'broken' (lua) is disabled: its input schema is of type \"string\", not 'object'"
        ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ('"x", { description = "d" }', "input_schema"),
        ('"x", { input_schema = {} }', "description"),
        ('"x", { description = "d", input_schema = {}, execute = 1 }', "execute"),
        ("42", "register() takes"),
        ('"no.such.module"', "no.such.module"),
    ],
)
def test_a_wrong_registration_raises_an_error_that_names_it(
    editor_without_host: Editor, arguments: str, complaint: str
) -> None:
    lua = f'return {{ pcall(require("flemma.tools").register, {arguments}) }}'
    ok, reason = editor_without_host.exec_lua(lua)
    assert ok is False
    assert complaint in reason


def test_a_tool_can_be_taken_back() -> None:
    lua = MY_TOOL + '_G.found = { tools.unregister("my_tool"), tools.unregister("my_tool") }'
    with conversation([message(text("Hi."))], lua=lua) as (editor, server):
        send(editor)
        editor.wait_for_text("Hi.")
        assert editor.exec_lua("return _G.found") == [True, False]
        assert "my_tool" not in {tool["name"] for tool in server.requests[0].json["tools"]}

"""Lua tools that become known later, and modules of Lua tools named in the options."""

from pathlib import Path

import pytest

from tests.editor.lua_tools import HEAD, execute, run_tool
from tests.editor.tool_support import (
    DONE,
    approved,
    call,
    calls,
    conversation,
    result_text,
    send,
)
from tests.support.anthropic_server import message, text
from tests.support.nvim import Editor

WAITING = "Waiting for tool definitions to load..."
FAILED = "Async tool source failed: "

TOOL = """
local function tool(output)
  return {
    description = "Found", input_schema = require("flemma.schema").object({}),
    execute = function() return { success = true, output = output } end,
  }
end
"""

FUNCTION_FORM = """
tools.register(function(register, done)
  vim.fn.jobstart({ "sleep", "0.05" }, {
    on_exit = function()
      register("discovered_tool", tool("from a function"))
      done()       -- signals this source is complete
    end,
  })
end)
"""

TABLE_FORM = """
tools.register({
  timeout = 60,
  resolve = function(register, done)
    -- fetch definitions from a remote API...
    register("remote_tool", tool("from a table"))
    register("second_tool", tool("of the same source"))
    done()
    done("too late to count")
  end,
})
"""

MODULE_FORM = """
local M = {}

function M.resolve(register, done)
  -- async work...
  vim.schedule(function()
    register("my_tool", tool("from a module"))
    done()
  end)
end

M.timeout = 45  -- optional, defaults to tools.default_timeout (30s)

return M
"""


def preload(name: str, source: str) -> str:
    """Return Lua that makes ``source`` the module ``name``."""
    return f"package.preload[{name!r}] = function()\n{TOOL}\n{source}\nend\n"


def said(editor: Editor) -> list[str]:
    return [notification.text for notification in editor.notifications()]


def test_every_async_form_registers_its_tools_before_the_first_request() -> None:
    lua = (
        HEAD
        + TOOL
        + FUNCTION_FORM
        + TABLE_FORM
        + preload("my_plugin.tools", MODULE_FORM)
        + 'tools.register("my_plugin.tools")'
    )
    names = ("discovered_tool", "remote_tool", "second_tool", "my_tool")
    wanted = [(name, name, {}) for name in names]
    with conversation([calls(*wanted), DONE], lua=lua, options=approved()) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert [result_text(server, name) for name in names] == [
            "from a function",
            "from a table",
            "of the same source",
            "from a module",
        ]
        assert said(editor) == []
        ask = 'return require("flemma.tools.registry").has("discovered_tool")'
        assert editor.exec_lua(ask) is True


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ('function(register, done) done("no answer") end', "no answer"),
        ('function(register, done) error("it threw", 0) end', "it threw"),
        (
            "{ timeout = 0.2, resolve = function(register, done) end }",
            "'lua:1' did not finish in time",
        ),
    ],
)
def test_a_source_that_fails_throws_or_hangs_warns_and_blocks_nothing(
    source: str, warning: str
) -> None:
    lua = HEAD + f"tools.register({source})"
    with conversation([message(text("Hello."))], lua=lua) as (editor, _):
        send(editor)
        editor.wait_for_text("Hello.")
        assert said(editor) == [FAILED + warning]


def test_tools_of_a_source_that_failed_later_stay_registered() -> None:
    lua = (
        HEAD
        + TOOL
        + """
    tools.register(function(register, done)
      register("early", tool("still here"))
      done("the rest is missing")
    end)
    """
    )
    found, _, notifications = run_tool(lua, "early", {})
    assert found == "still here"
    assert notifications == [f"{FAILED}the rest is missing"]


def test_a_source_without_end_is_given_up_after_the_default_timeout() -> None:
    lua = HEAD + "tools.register(function() end)"
    options = {"tools": {"default_timeout": 1}}
    with conversation([message(text("Hello."))], lua=lua, options=options) as (editor, _):
        send(editor)
        editor.wait_until(lambda: WAITING in said(editor))
        editor.wait_for_text("Hello.")
        assert said(editor)[-1] == f"{FAILED}'lua:1' did not finish in time"


def test_a_send_while_tools_load_waits_and_goes_by_itself() -> None:
    lua = (
        HEAD
        + TOOL
        + """
    tools.register(function(register, done)
      _G.finish = function() register("late", tool("worth the wait")) done() end
    end)
    """
    )
    replies = [call("late", {}), DONE]
    with conversation(replies, lua=lua, options=approved()) as (editor, server):
        send(editor)
        editor.wait_until(lambda: WAITING in said(editor))
        assert server.requests == []
        editor.exec_lua("_G.finish()")
        editor.wait_for_text("All done.")
        assert result_text(server, "toolu_1") == "worth the wait"


def test_a_bad_tool_of_a_source_is_named_and_the_others_come() -> None:
    lua = (
        HEAD
        + TOOL
        + """
    tools.register(function(register, done)
      register("bad", { description = "No schema" })
      register("good", tool("fine"))
      done()
    end)
    """
    )
    found, _, notifications = run_tool(lua, "good", {})
    assert found == "fine"
    assert len(notifications) == 1
    assert notifications[0].startswith("Tool 'bad' was not registered: ")
    assert "input_schema" in notifications[0]


def test_a_source_registered_while_the_host_runs_is_taken_as_well() -> None:
    with conversation([message(text("Hello.")), call("new", {}), DONE], options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("Hello.")
        editor.exec_lua(
            HEAD
            + TOOL
            + """
          tools.register(function(register, done)
            vim.defer_fn(function() register("new", tool("just in time")) done() end, 30)
          end)
        """
        )
        editor.keys("GoAnd now?<Esc>")
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server) == "just in time"


DEPLOY = """
_G.branch = "main"
return {
  definitions = {
    { name = "deploy", description = "...", input_schema = { type = "object" },
      execute = function() return { success = true, output = "deployed" } end },
    { name = "rollback", description = "...", input_schema = { type = "object" },
      execute = function() return { success = true, output = "rolled back" } end },
  },
  approval = {
    priority = 150,
    description = "Gate deploy/rollback on git branch",
    resolve = function(tool_name, input, context)
      _G.asked = { tool_name, context.tool_id, context.bufnr }
      if tool_name == "deploy" and _G.branch:match("^main") then
        return "require_approval"
      end
      return nil
    end,
  },
}
"""


def test_a_module_in_the_options_brings_its_tools_and_its_policy() -> None:
    replies = [calls(("d", "deploy", {}), ("r", "rollback", {})), DONE]
    options = approved(modules=["my_plugin.tools"])
    with conversation(replies, lua=preload("my_plugin.tools", DEPLOY), options=options) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("rolled back")
        assert editor.text().count("(pending)") == 1
        resolver = editor.exec_lua(
            'return require("flemma.tools.approval").get("my_plugin.tools").description'
        )
        assert resolver == "Gate deploy/rollback on git branch"
        editor.command("Flemma tool:approve-all")
        editor.wait_for_text("(approved)")
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server, "d") == "deployed"
        assert result_text(server, "r") == "rolled back"


def test_a_lua_module_that_cannot_be_loaded_is_named_and_the_host_starts(tmp_path: Path) -> None:
    lua = preload("broken.tools", 'error("syntax of the soul")')
    options = {"tools": {"modules": ["broken.tools"]}}
    with conversation([message(text("Hello."))], lua=lua, options=options) as (editor, _):
        send(editor)
        editor.wait_for_text("Hello.")
        assert len(said(editor)) == 1
        assert said(editor)[0].startswith("Module 'broken.tools' could not be loaded: ")
        assert "syntax of the soul" in said(editor)[0]


def test_another_setup_loads_modules_that_are_new(tmp_path: Path) -> None:
    python = tmp_path / "extra.py"
    python.write_text(
        "import flemma.tools\n"
        "flemma.tools.register('py', description='P', input_schema={'type': 'object'},\n"
        "    execute=lambda input, ctx: {'success': True, 'output': 'python'})\n"
    )
    replies = [message(text("Hello.")), calls(("l", "my_tool", {}), ("p", "py", {})), DONE]
    with conversation(replies, lua=preload("my_plugin.tools", MODULE_FORM), options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_until(lambda: editor.text().endswith("@You:\n") and editor.option("modifiable"))
        options = {"provider": "anthropic", "model": "claude-sonnet-4-6", "thinking": False}
        modules = ["my_plugin.tools", str(python)]
        editor.exec_lua('require("flemma").setup(...)', {**options, **approved(modules=modules)})
        editor.keys("GoAnd now?<Esc>")
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server, "l") == "from a module"
        assert result_text(server, "p") == "python"
        assert said(editor) == []


LONG = """
  local lines = {}
  for number = 1, 2500 do lines[number] = "line " .. number end
  return { success = true, output = table.concat(lines, "\\n") }
"""


def test_a_long_output_is_cut_for_the_model_and_kept_in_the_store() -> None:
    with conversation([call("probe", {}), DONE], lua=execute(LONG), options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        stored = editor.directory / ".flemma" / "work.chat" / "tool_probe_toolu_1.txt"
        assert result_text(server).endswith(
            f"line 2000\n\n[Showing lines 1-2000 of 2500. Full output: {stored}]"
        )
        assert len(stored.read_text().splitlines()) == 2500


def test_save_to_gets_the_whole_output_of_a_custom_tool() -> None:
    tool_input = {"n": None, "flemma.save_to": "numbers.txt"}
    with conversation([call("probe", tool_input), DONE], lua=execute(LONG), options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        assert "[Output saved: " in result_text(server)
        assert len((editor.directory / "numbers.txt").read_text().splitlines()) == 2500
        assert not (editor.directory / ".flemma").exists()

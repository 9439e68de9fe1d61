"""Approval resolvers written in Lua, in a real Neovim (spec: tools, "Approval resolvers")."""

import pytest

from tests.editor.approval_support import CALLS, make_calls, outcomes, results
from tests.editor.chats import Chat, StartChat, bash, read
from tests.support.anthropic_server import message, pause, text, tool_use

SECURITY_POLICY = """
local approval = require("flemma.tools.approval")

approval.register("my_plugin.security_policy", {
  description = "Block dangerous bash commands",
  resolve = function(tool_name, input, context)
    if tool_name == "bash" and input.command:match("rm %-rf") then
      return "deny"
    end
    return nil  -- pass to next resolver
  end,
})
"""

MODULE = """
package.preload["my_plugin.tools"] = function()
return {
  definitions = {
    { name = "deploy", description = "...", input_schema = { %s }, execute = %s },
    { name = "rollback", description = "...", input_schema = { %s }, execute = %s },
  },
  approval = {
    priority = 75,  -- optional, defaults to 50
    description = "Gate deploy/rollback on git branch",
    resolve = function(tool_name, input, context)
      if tool_name == "deploy" and vim.fn.system("git branch --show-current"):match("^main") then
        return "require_approval"
      end
      return nil
    end,
  },
}
end
""" % (("type = 'object'", "function() return { success = true, output = 'ok' } end") * 2)
"""The example with its dots filled in."""

INTROSPECTION = """
local approval = require("flemma.tools.approval")
local found = {}
for _, entry in ipairs(approval.get_all()) do
  table.insert(found, { entry.name, entry.priority, entry.description ~= nil })
end
local config = approval.get("urn:flemma:approval:config")
return { found, approval.count(), config.priority, approval.get("nobody") == nil }
"""


def resolver(name: str, body: str, priority: int = 50) -> str:
    return f"""
    require("flemma.tools.approval").register("{name}", {{
      priority = {priority},
      resolve = function(tool_name, input, context) {body} end,
    }})
    """


def log(chat: Chat) -> str:
    """What the host logged."""
    logs = chat.editor.home.rglob("*.log")
    return "\n".join(path.read_text(errors="replace") for path in logs)


def test_the_example_denies_what_it_says(start_chat: StartChat):
    chat = make_calls(start_chat, lua=SECURITY_POLICY)
    assert outcomes(chat) == {
        "read": "approve",
        "grep": "approve",
        "write": "approve",
        "echo": "ask",
        "rm": "deny",
    }


def test_a_resolver_goes_with_unregister_and_is_replaced_by_its_name(start_chat: StartChat):
    chat = make_calls(start_chat, bash("one", "rm -rf x"), lua=SECURITY_POLICY)
    chat.wait_for("Done.")
    chat.editor.exec_lua(resolver("my_plugin.security_policy", "return 'require_approval'"))
    removed = 'return require("flemma.tools.approval").unregister("my_plugin.security_policy")'
    assert outcomes(chat) == {"one": "deny"}
    assert chat.editor.exec_lua(removed) is True
    assert chat.editor.exec_lua(removed) is False


def test_a_higher_priority_goes_before_the_configuration(start_chat: StartChat):
    # The context is the documented one.
    body = """
      assert(context.bufnr == vim.api.nvim_get_current_buf() and type(context.tool_id) == "string")
      if context.tool_id == "read" then return "deny" end
      if context.tool_id == "echo" then return "approve" end
    """
    chat = make_calls(start_chat, *CALLS[:4], lua=resolver("first", body, 200))
    assert outcomes(chat) == {
        "read": "deny",
        "grep": "approve",
        "write": "approve",
        "echo": "approve",
    }


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("error('kaboom')", "kaboom"),
        ("return 'yes'", "'yes' is none of approve, require_approval, deny, nil"),
        ("return true", "True is none of approve, require_approval, deny, nil"),
        ("return { answer = function() end }", "is none of approve"),
    ],
)
def test_a_resolver_that_fails_or_answers_nonsense_is_logged_and_skipped(
    start_chat: StartChat, body: str, reason: str
):
    lua = resolver("broken", body, 200) + resolver("next", "return 'deny'", 150)
    chat = make_calls(start_chat, read("read", "a.txt"), lua=lua)
    assert outcomes(chat) == {"read": "deny"}
    chat.wait_until(
        lambda: any(
            "approval resolver broken" in line and reason in line for line in log(chat).split("\n")
        )
    )


def test_a_module_brings_its_tools_and_their_resolver(start_chat: StartChat):
    chat = make_calls(
        start_chat,
        tool_use("deploy", "deploy", {}),
        tool_use("rollback", "rollback", {}),
        lua=MODULE + 'vim.fn.system("git init -q -b main")',
        tools={"modules": ["my_plugin.tools"], "auto_approve": []},
        options={},
    )
    chat.wait_until(lambda: len(results(chat)) == 2)
    assert outcomes(chat) == {"deploy": "ask", "rollback": "ask"}
    chat.editor.set_cursor(chat.text.split("\n").index("**Tool Result:** `deploy` (pending)") + 1)
    chat.editor.command("Flemma why")
    chat.wait_until(lambda: "my_plugin.tools: decided" in chat.editor.text())


def test_the_chain_can_be_looked_at_from_lua(start_chat: StartChat):
    chat = start_chat([], lua=SECURITY_POLICY)
    found, count, config, unknown = chat.editor.exec_lua(INTROSPECTION)
    assert found == [
        ["urn:flemma:approval:config", 100, True],
        ["my_plugin.security_policy", 50, True],
        ["urn:flemma:approval:sandbox", 25, True],
    ]
    assert (count, config, unknown) == (3, 100, True)


@pytest.mark.parametrize("name", ["", "urn:flemma:approval:config"])
def test_names_of_the_built_in_resolvers_are_refused_at_once(start_chat: StartChat, name: str):
    chat = start_chat([])
    register = """
    local ok, reason = pcall(require("flemma.tools.approval").register, ..., {
      resolve = function() return "approve" end,
    })
    return { ok, reason, require("flemma.tools.approval").count() }
    """
    ok, reason, count = chat.editor.exec_lua(register, name)
    assert not ok
    assert "name" in reason
    assert count == 2


WAIT_FOR_THE_OTHER = """
  local other = vim.fn.bufnr("other.chat")
  local function size()
    return #table.concat(vim.api.nvim_buf_get_lines(other, 0, -1, true))
  end
  local before = size()
  local grew = vim.wait(8000, function() return size() > before + 20 end)
  return grew and "require_approval" or "deny"
"""


def test_a_slow_resolver_holds_up_no_stream_in_another_chat(start_chat: StartChat):
    pieces = [piece for word in range(100) for piece in (text(f"word{word} "), pause(0.02))]
    chat = start_chat(
        [message(*pieces), message(text("I call."), bash("slow", "echo hi"))],
        lua=resolver("slow", WAIT_FOR_THE_OTHER, 200),
    )
    other = chat.editor.directory / "other.chat"
    other.write_text("@You:\nTalk.\n")
    talking = chat.editor.open(other)
    chat.send()
    chat.editor.wait_for_text("word1 ", buffer=talking)
    chat.editor.command(f"sbuffer {chat.buffer}")
    chat.send()
    assert outcomes(chat) == {"slow": "ask"}
    chat.editor.wait_for_text("word99", buffer=talking)


def test_ctrl_c_ends_the_wait_of_a_resolver_and_decides_nothing(start_chat: StartChat):
    body = "_G.asked = true vim.wait(60000) return 'approve'"
    chat = make_calls(start_chat, bash("slow", "echo hi"), lua=resolver("slow", body, 200))
    chat.wait_until(lambda: chat.editor.exec_lua("return _G.asked"))
    interrupted = "Interrupted by Ctrl-C."

    def pressed_again() -> bool:
        # Neovim drops an interrupt that arrives between two turns of the wait; a user presses on.
        chat.editor.keys_without_answer("<C-c>")
        return interrupted in chat.told

    chat.wait_until(pressed_again, message=interrupted)
    chat.wait_unlocked()
    assert results(chat) == []
    chat.editor.exec_lua('require("flemma.tools.approval").unregister("slow")')
    chat.send()
    assert outcomes(chat) == {"slow": "ask"}


def test_ctrl_c_ends_the_wait_of_a_tool_and_stops_the_loop(start_chat: StartChat):
    lua = """
    require("flemma.tools").register("nap", {
      description = "Sleeps",
      input_schema = { type = "object", properties = vim.empty_dict() },
      execute = function()
        _G.asked = true
        vim.wait(60000)
        return { success = true, output = "rested" }
      end,
    })
    """
    chat = make_calls(
        start_chat, tool_use("nap", "nap", {}), lua=lua, tools={"auto_approve": ["nap"]}
    )
    chat.wait_until(lambda: chat.editor.exec_lua("return _G.asked"))
    chat.editor.keys_without_answer("<C-c>")
    chat.wait_for("User aborted tool execution.")
    chat.wait_unlocked()
    assert len(chat.server.requests) == 1

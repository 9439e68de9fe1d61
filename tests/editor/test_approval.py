"""Who decides about a call, in a real Neovim (spec: tools, "Configuring approval" to "Per-buffer
approval"; behaviour 3). The Lua examples of these sections stand here as they are documented.
"""

import pytest

from tests.editor.approval_support import CALLS, make_calls, outcomes
from tests.editor.chats import StartChat, bash
from tests.editor.settings_support import DONE, with_block
from tests.support.anthropic_server import message, text, tool_use

FUNCTION_IN_SETUP = """
require("flemma").setup({
tools = {
  -- Preset references and tool names can be mixed freely
  auto_approve = { "$readonly", "bash" },

  -- Function form for full control
  auto_approve = function(tool_name, input, ctx)
    if tool_name == "grep" then return true end
    if tool_name == "bash" and input.command:match("rm %-rf") then return "deny" end
    return false  -- require approval
  end,
}
})
"""

LIST_IN_SETUP = """
require("flemma").setup({
tools = {
  -- Preset references and tool names can be mixed freely
  auto_approve = { "$readonly", "bash" },
}
})
"""

PRESET_IN_SETUP = """
require("flemma").setup({
presets = {
  ["$yolo"] = { auto_approve = { "bash", "read", "write", "edit" } },
},
tools = {
  auto_approve = { "$yolo" },
}
})
"""

READONLY = """\
-- Preset form: read-only access for this buffer
flemma.opt.tools.auto_approve = { "$readonly" }
"""

LIST = """\
-- List form: auto-approve these tools in this buffer
flemma.opt.tools.auto_approve = { "bash", "read" }
"""

MIX = """\
-- Mix presets and tool names
flemma.opt.tools.auto_approve = { "$standard", "bash" }
"""

FUNCTION = """\
-- Function form: full control per-buffer
flemma.opt.tools.auto_approve = function(tool_name, input, ctx)
  if tool_name == "grep" then return true end
  return nil  -- pass to next resolver
end
"""

REMOVE = """\
-- Start from default, but remove write access
flemma.opt.tools.auto_approve = { "$standard" }
flemma.opt.tools.auto_approve:remove("write")
"""

APPEND = """\
-- Add bash to the default set
flemma.opt.tools.auto_approve = { "$standard" }
flemma.opt.tools.auto_approve:append("bash")
"""

OPERATORS = """\
-- Operator shorthand: + (append), - (remove)
flemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve + "bash" - "write"
"""


def expected(approved: str, denied: str = "") -> dict[str, str]:
    """What should become of the calls, from the ids of those that are approved and denied."""
    found = dict.fromkeys(["read", "grep", "write", "echo", "rm"], "ask")
    found |= dict.fromkeys(approved.split(), "approve")
    return found | dict.fromkeys(denied.split(), "deny")


UNDER_THE_EXAMPLE = """
local setup = require("flemma").setup
local example
require("flemma").setup = function(options)
  if example then
    setup(vim.tbl_deep_extend("force", options, example))
  end
  example = options
end
"""
"""Makes the first call of `setup`, an example, come over the options of the tests."""


@pytest.mark.parametrize(
    ("example", "wanted"),
    [
        ("", expected("read grep write")),
        (LIST_IN_SETUP, expected("read grep echo rm")),
        (FUNCTION_IN_SETUP, expected("grep", "rm")),
        (PRESET_IN_SETUP, expected("read write echo rm")),
    ],
)
def test_the_examples_of_the_setup_decide(
    start_chat: StartChat, example: str, wanted: dict[str, str]
):
    chat = make_calls(start_chat, lua=UNDER_THE_EXAMPLE + example if example else "")
    assert outcomes(chat) == wanted


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        (READONLY, expected("read grep")),
        (LIST, expected("read echo rm")),
        (MIX, expected("read grep write echo rm")),
        (FUNCTION, expected("grep")),
        (REMOVE, expected("read grep")),  # Acceptance 61.
        (APPEND, expected("read grep write echo rm")),
        (OPERATORS, expected("read grep echo rm")),
        ('flemma.opt.tools.auto_approve = { "$nosuch", "ls" }', expected("")),  # Acceptance 58.
        ('flemma.opt.tools.auto_approve = { "gr*", "rea" }', expected("grep")),
        ("flemma.opt.tools.auto_approve = {}", expected("")),
    ],
)
def test_the_examples_of_the_frontmatter_decide(
    start_chat: StartChat, block: str, wanted: dict[str, str]
):
    assert outcomes(make_calls(start_chat, text=with_block(block))) == wanted


@pytest.mark.parametrize(
    ("language", "block"),
    [
        ("yaml", "flemma:\n  tools:\n    auto_approve: {$append: [bash], $remove: write}"),
        (
            "json",
            '{"flemma": {"tools": {"auto_approve": {"$append": ["bash"], "$remove": "write"}}}}',
        ),
    ],
)
def test_a_frontmatter_of_data_decides(start_chat: StartChat, language: str, block: str):
    chat = make_calls(start_chat, text=with_block(block, language))
    assert outcomes(chat) == expected("read grep echo rm")


def test_a_failing_function_asks(start_chat: StartChat):
    block = "flemma.opt.tools.auto_approve = function(_, input) return input.command:match('e') end"
    assert outcomes(make_calls(start_chat, text=with_block(block)))["read"] == "ask"


def test_setup_session_and_file_have_their_say_in_this_order(start_chat: StartChat):
    block = """
    flemma.opt.tools.auto_approve:append("grep")
    flemma.opt.tools.auto_approve:remove("write")
    """
    chat = start_chat(
        [message(text("Look."), *CALLS), DONE],
        text=with_block(block),
        tools={"auto_approve": ["read"]},
        options={"presets": {"$open": {"auto_approve": ["bash", "write"]}}},
    )
    chat.editor.command("Flemma switch $open")
    chat.send()
    assert outcomes(chat) == expected("grep echo rm")


def test_require_approval_false_overrides_no_earlier_word(start_chat: StartChat):
    # Acceptance 64.
    lua = """
    local setup = require("flemma").setup
    require("flemma").setup = function(options)
      options.tools.auto_approve = function(tool_name)
        if tool_name == "bash" then return false end
      end
      setup(options)
    end
    """
    chat = make_calls(start_chat, lua=lua, tools={"require_approval": False})
    assert outcomes(chat) == expected("read grep write")


def test_require_approval_false_approves_what_nobody_speaks_about(start_chat: StartChat):
    tools = {"require_approval": False, "auto_approve": []}
    assert outcomes(make_calls(start_chat, tools=tools)) == expected("read grep write echo rm")


def test_harness_tools_are_approved_by_their_glob(start_chat: StartChat):
    # Acceptance 59.
    chat = make_calls(
        start_chat,
        tool_use("jobs", "flemma__jobs__status", {"label": "look", "job_id": "job_none"}),
        bash("echo", "echo hi"),
    )
    assert outcomes(chat) == {"jobs": "approve", "echo": "ask"}

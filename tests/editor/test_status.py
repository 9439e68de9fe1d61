"""The status page and `:Flemma why` in a real Neovim (spec: behaviour 12.10; case A-07)."""

import pytest

from tests.editor.approval_support import make_calls, outcomes
from tests.editor.chats import Chat, StartChat, bash
from tests.editor.settings_support import DONE, page, put_block, wait_page, with_block
from tests.support.anthropic_server import message, pause, text
from tests.support.wait import wait_until

FAILING_POLICY = """\
flemma.opt.tools.auto_approve = function(tool_name, input)
  return input.command:match("^git ") and true or nil
end
"""
RESOLVER = """
require("flemma.tools.approval").register("team.policy", {
  resolve = function(_, input)
    _G.asked = (_G.asked or 0) + 1
    return input.command:match("^git ") and "approve" or nil
  end,
})
"""
TOOL = """
require("flemma.tools").register("deploy", {
  description = "Deploys",
  input_schema = { type = "object", properties = vim.empty_dict() },
  execute = function() return { success = true, output = "deployed" } end,
})
"""


def status(chat: Chat, arguments: str = "") -> None:
    chat.editor.command(f"Flemma status {arguments}")
    wait_page(chat, "Flemma Status")


def test_the_page_shows_everything_and_where_it_comes_from(start_chat: StartChat):
    block = "flemma.opt.tools.max_concurrent = 5\nflemma.opt.tools.auto_approve:remove('write')"
    chat = start_chat([], text=with_block(block), options={"max_tokens": "50%"})
    chat.editor.command("Flemma switch anthropic claude-haiku-4-5 temperature=0.5")
    status(chat)
    for parts in (
        ("Ⓢ setup", "Ⓡ runtime", "Ⓕ frontmatter"),
        ("  name: anthropic", "Ⓡ"),
        ("  model: claude-haiku-4-5", "Ⓡ"),
        ("  max_tokens: 50% → 32000", "Ⓢ"),
        ("  thinking: off", "Ⓢ"),
        ("  temperature: 0.5", "Ⓡ"),
        ("  cache_retention: short", "Ⓓ"),
        ("  status: enabled", "Ⓓ"),
        ("  state: idle",),
        ("  turns: 0 of 100",),
        ("  network: allowed",),
        ("  max_concurrent: 5", "Ⓕ"),
        ("  8 enabled, 0 disabled",),
        ("● bash",),
        ("✓ auto-approve", "read — set 'read' (through $standard) in DEFAULTS"),
        ("⋯ require approval", "write — no resolver had an opinion"),
        ("  auto_approve:", "Ⓕ"),
        ("    $standard: read, edit, find, grep, ls, flemma.*",),
    ):
        wait_page(chat, *parts)
    # The layers stand where half of a narrow terminal still shows them.
    assert all(line.index("Ⓓ") < 40 for line in page(chat) if line.startswith("  cache_retention"))
    assert chat.editor.option("filetype") == "flemma-status"
    assert not chat.editor.option("modifiable")
    chat.keys("q")
    assert page(chat) == []
    assert chat.editor.call("bufnr", "%") == chat.buffer


def test_verbose_adds_descriptions_operations_and_the_merged_options(start_chat: StartChat):
    # Case S-21: what the user declares about the model goes before the catalogue.
    declared = {"parameters": {"anthropic": {"context_window": 123456}}}
    block = with_block("flemma.opt.tools:remove('write')")
    chat = start_chat([], text=block, options=declared)
    status(chat, "verbose")
    wait_page(chat, "Ⓕ remove tools = 'write' (line 1)")
    wait_page(chat, "Resolved Config")
    wait_page(chat, "parameters.thinking.level: false", "Ⓢ")
    wait_page(chat, "○ write")
    wait_page(chat, "parameters: command, label, timeout")
    wait_page(chat, "Model Info")
    wait_page(chat, "context: 123,456 tokens")


def test_the_page_follows_settings_tools_and_the_state_of_the_chat(start_chat: StartChat):
    chat = start_chat([message(text("One."), pause(0.4), text("Two."))])
    status(chat)
    chat.editor.command("Flemma autopilot:disable")
    wait_page(chat, "  status: disabled", "Ⓡ")
    chat.editor.command("Flemma autopilot:enable")
    wait_page(chat, "  status: enabled", "Ⓡ")
    chat.editor.exec_lua(TOOL)
    wait_page(chat, "● deploy")
    chat.editor.exec_lua('require("flemma.tools").unregister("deploy")')
    wait_page(chat, "  8 enabled, 0 disabled")
    chat.editor.exec_lua(RESOLVER)
    wait_page(chat, "asked with the call", "bash — team.policy")
    chat.editor.command("wincmd p")
    put_block(chat, "flemma.opt.tools.max_concurrent = 9")
    wait_page(chat, "  max_concurrent: 9", "Ⓕ")
    put_block(chat, "flemma.opt.tools.max_concurrent = 'x'")
    wait_page(chat, "⊘ line 2: write error at 'tools.max_concurrent'")
    put_block(chat, "")
    chat.send()
    wait_page(chat, "  state: requesting")
    chat.wait_answered()
    wait_page(chat, "  state: idle")


@pytest.mark.parametrize(
    ("command", "section"), [("autopilot:status", "Autopilot"), ("sandbox:status", "Sandbox")]
)
def test_the_page_opens_at_a_section(start_chat: StartChat, command: str, section: str):
    chat = start_chat([])
    chat.editor.command(f"Flemma {command}")
    chat.wait_until(lambda: chat.editor.call("getline", ".") == section)


def test_verbose_may_be_asked_for_on_the_page_itself(start_chat: StartChat):
    chat = start_chat([])
    status(chat)
    chat.editor.command("Flemma status verbose")
    wait_page(chat, "Resolved Config")


def test_the_page_may_be_the_last_window(start_chat: StartChat):
    chat = start_chat([])
    status(chat)
    chat.editor.command("only")
    chat.keys("q")
    wait_until(lambda: chat.editor.call("bufname", "%") != "flemma://status")


def test_code_of_the_user_is_not_called_for_the_page(start_chat: StartChat):
    chat = start_chat([], text=with_block(FAILING_POLICY), lua=RESOLVER)
    status(chat)
    wait_page(chat, "ƒ asked with the call", "bash — set a function in FRONTMATTER")
    wait_page(chat, "ƒ asked with the call", "bash — team.policy")
    wait_page(chat, "else ⋯ require approval", "bash — no resolver had an opinion")
    assert chat.editor.exec_lua("return _G.asked") is None


def test_a_command_beside_verbose_is_refused(start_chat: StartChat):
    chat = start_chat([])
    chat.editor.command("Flemma status everything")
    chat.wait_notified("'status' takes 'verbose' or nothing, not 'everything'")


def why(chat: Chat, *parts: str) -> None:
    chat.editor.command("Flemma why")
    for part in parts:
        wait_page(chat, part, name="flemma://why")
    chat.keys("q")


def test_why_explains_a_decision_step_by_step_also_after_a_restart(start_chat: StartChat):
    chat = make_calls(
        start_chat,
        bash("git", "git status"),
        bash("rm", "rm x"),
        text=with_block(FAILING_POLICY),
        lua=RESOLVER,
    )
    assert outcomes(chat) == {"git": "approve", "rm": "ask"}
    chat.put_cursor("**Tool Result:** `rm`")
    steps = (
        "bash: your approval is needed",
        "  because no resolver had an opinion",
        "   100  urn:flemma:approval:config: passed - the auto_approve function had no opinion",
        "    50  team.policy: passed - no opinion",
        "    25  urn:flemma:approval:sandbox: passed - tools.auto_approve_sandboxed is false",
        "  No resolver had an opinion, so you are asked.",
    )
    why(chat, *steps)
    chat.put_cursor("**Tool Use:** `bash` (`git`)")
    why(
        chat,
        "bash: approved without asking",
        "  because the auto_approve function returned true",
        "  rule: set a function in FRONTMATTER, frontmatter line 1",
    )
    old = chat.editor.kill_host()
    chat.wait_until(lambda: chat.editor.host_pid() not in (None, old), timeout=20)
    chat.editor.wait_for_host()
    chat.put_cursor("**Tool Result:** `rm`")
    why(chat, *steps, "This is what would be decided now; the call was made in another session.")


def test_why_needs_a_call_at_the_cursor(start_chat: StartChat):
    chat = start_chat([DONE])
    chat.editor.command("Flemma why")
    chat.wait_until(lambda: any("No tool call" in text for text in chat.told))

"""Options of `setup()` in a real Neovim: mistakes are told once, the rest holds (behaviour 9.2)."""

from tests.editor.chats import StartChat
from tests.editor.settings_support import (
    DONE,
    ask,
    problems,
    put_block,
    sent_tools,
    wait_page,
    wait_problems,
    with_block,
)

LATE_SOURCE = """
require("flemma.tools").register(function(register, done)
  _G.finish_loading = function()
    for _, name in ipairs({ "slack.post", "slack.read" }) do
      register(name, {
        description = "Speaks to others",
        input_schema = { type = "object", properties = vim.empty_dict() },
        execute = function() return { success = true, output = "spoken" } end,
      })
    end
    done()
  end
end)
"""

PLUGIN_TOOL = """
require("flemma.tools").register("deploy", {
  description = "Deploys",
  input_schema = { type = "object", properties = vim.empty_dict() },
  execute = function() return { success = true, output = "deployed" } end,
})
"""


def test_mistakes_are_told_once_and_everything_else_loads(start_chat: StartChat):
    options = {
        "thinkin": "low",
        "max_tokens": 1234,
        "temperature": "hot",
        "editing": {"auto_wrte": True},
    }
    tools = {"max_concurent": 3, "max_concurrent": 4}
    chat = start_chat([DONE], options=options, tools=tools)
    request = ask(chat)
    assert request["max_tokens"] == 1234
    assert "temperature" not in request
    told = "\n".join(chat.told)
    for part in (
        "unknown config keys: ",
        "unknown key 'thinkin' -- did you mean 'thinking'? (setup)",
        "unknown key 'editing.auto_wrte' -- did you mean 'auto_write'?",
        "unknown key 'tools.max_concurent' -- did you mean 'max_concurrent'?",
        "validation error at 'parameters.temperature': expected number",
    ):
        assert told.count(part) == 1, (part, told)
    other = chat.editor.directory / "other.chat"
    other.write_text("@You:\nHi\n")
    chat.editor.command(f"split {other}")
    chat.editor.command("Flemma status")
    wait_page(chat, "max_concurrent: 4")
    assert "\n".join(chat.told) == told


def test_setup_may_be_called_again_and_replaces_what_it_said(start_chat: StartChat):
    chat = start_chat([DONE, DONE], options={"max_tokens": 1234})
    assert ask(chat)["max_tokens"] == 1234
    chat.editor.exec_lua('require("flemma").setup({ thinking = false, max_tokens = 4321 })')
    assert ask(chat, "More")["max_tokens"] == 4321


def test_options_given_while_the_host_starts_are_not_lost(start_chat: StartChat):
    chat = start_chat([DONE])
    assert chat.editor.exec_lua('return require("flemma.host").status()') == "starting"
    chat.editor.exec_lua('require("flemma").setup({ thinking = false, max_tokens = 4321 })')
    assert ask(chat)["max_tokens"] == 4321


def test_one_value_that_cannot_be_sent_does_not_take_the_others_along(start_chat: StartChat):
    chat = start_chat([DONE])
    chat.editor.wait_for_host()
    chat.editor.exec_lua(
        """require("flemma").setup({
             max_tokens = 4321, thinking = false, ui = { bad = coroutine.create(print) },
           })"""
    )
    assert ask(chat)["max_tokens"] == 4321
    chat.wait_notified("Flemma ignores an option: setup.ui.bad is a thread and cannot be sent")


def test_names_of_tools_are_checked_once_all_sources_have_answered(start_chat: StartChat):
    # Acceptance 91, 92.
    block = 'flemma.opt.tools = { "slack.*", "read" }\nflemma.opt.tools:append("nothing.*")'
    chat = start_chat([DONE], text=with_block(block), lua=LATE_SOURCE)
    chat.editor.wait_for_host()
    chat.editor.command("Flemma status")
    wait_page(chat, "loading async tool sources")
    assert problems(chat) == []
    chat.editor.exec_lua("_G.finish_loading()")
    wait_problems(chat, (3, "Glob pattern 'nothing.*' matched no tools"))
    wait_page(chat, "finished loading tool sources")
    wait_page(chat, "slack.post")
    chat.editor.command("wincmd p")
    put_block(chat, 'flemma.opt.tools = { "slack.*", "bsah" }')
    wait_problems(chat, (2, "Unknown tool 'bsah' -- did you mean 'bash'?"))
    put_block(chat, 'flemma.opt.tools = { "slack.*", "read" }')
    ask(chat)
    assert sent_tools(chat) == ["read", "slack__post", "slack__read"]


def test_a_send_waits_for_the_sources_and_uses_what_they_brought(start_chat: StartChat):
    chat = start_chat([DONE], text=with_block('flemma.opt.tools = { "slack.*" }'), lua=LATE_SOURCE)
    chat.send()
    chat.wait_notified("Waiting for tool definitions to load...")
    assert chat.server.requests == []
    chat.editor.exec_lua("_G.finish_loading()")
    chat.wait_answered()
    assert sent_tools(chat) == ["slack__post", "slack__read"]


def test_the_setup_may_choose_tools_that_come_late(start_chat: StartChat):
    tools = {"1": "slack.*", "2": "raed", "auto_approve_sandboxed": False}
    chat = start_chat([DONE], tools=tools, lua=LATE_SOURCE)
    chat.editor.wait_for_host()
    chat.editor.exec_lua("_G.finish_loading()")
    chat.wait_notified("Unknown tool 'raed' -- did you mean 'read'? (setup)")
    ask(chat)
    assert sent_tools(chat) == ["slack__post", "slack__read"]


def test_options_of_a_tool_hold_although_it_is_registered_late(start_chat: StartChat):
    chat = start_chat([], tools={"deploy": {"target": "moon"}})
    chat.wait_notified("unknown config keys: tools.deploy")
    chat.editor.exec_lua(PLUGIN_TOOL)
    chat.editor.command("Flemma status verbose")
    wait_page(chat, "tools.deploy.target: moon", "Ⓢ")


def test_the_catch_all_resolver_is_listed_while_the_options_ask_for_it(start_chat: StartChat):
    chat = start_chat([], tools={"require_approval": False})
    chat.editor.wait_for_host()
    names = """return vim.tbl_map(function(entry)
      return entry.name
    end, require("flemma.tools.approval").get_all())"""
    catch_all = "urn:flemma:approval:catch-all"
    chat.wait_until(lambda: catch_all in chat.editor.exec_lua(names))
    chat.editor.exec_lua('require("flemma").setup({})')
    chat.wait_until(lambda: catch_all not in chat.editor.exec_lua(names))


def test_a_default_preset_that_does_not_exist_sends_nothing(start_chat: StartChat):
    message = "Default preset '$fast' not found. Provider not initialized."
    chat = start_chat([], options={"model": "$fast"})
    chat.wait_notified(f"{message} (setup)")
    wait_problems(chat, (1, message))
    chat.send()
    chat.wait_until(lambda: any(f"⊘ config: {message}" in text for text in chat.told))
    assert chat.server.requests == []

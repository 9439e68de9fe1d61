"""`:Flemma switch` in a real Neovim (spec: behaviour 9.8, 12.11)."""

import pytest

from tests.editor.chats import Chat, StartChat
from tests.editor.settings_support import DONE, ask, sent_tools, wait_page, with_block

PRESETS = {
    "presets": {
        "$cheap": "anthropic claude-haiku-4-5 max_tokens=4000",
        "$reader": {
            "provider": "anthropic",
            "model": "claude-haiku-4-5",
            "tools": ["read", "ls"],
            "auto_approve": ["ls"],
        },
        "$allow": {"auto_approve": ["bash"]},
    }
}
PICK = """
_G.asked = {}
vim.ui.select = function(items, options, choose)
  table.insert(_G.asked, { options.prompt, items })
  local wanted = table.remove(_G.answers, 1)
  for index, item in ipairs(items) do
    if item == wanted then
      return choose(item, index)
    end
  end
  choose(nil, nil)
end
"""


def switch(chat: Chat, arguments: str = "") -> None:
    chat.editor.command(f"Flemma switch {arguments}")


def completions(chat: Chat, line: str) -> list[str]:
    return chat.editor.call("getcompletion", line, "cmdline")


@pytest.mark.parametrize(
    ("arguments", "told", "parts"),
    [
        (
            "anthropic claude-haiku-4-5",
            "Switched to 'anthropic' with model 'claude-haiku-4-5'.",
            {"model": "claude-haiku-4-5", "max_tokens": 32000},
        ),
        (
            "anthropic/claude-haiku-4-5 max_tokens=3000",
            "Switched to 'anthropic' with model 'claude-haiku-4-5'.",
            {"model": "claude-haiku-4-5", "max_tokens": 3000},
        ),
        (
            "anthropic",
            "Switched to 'anthropic' with model 'claude-sonnet-4-6'.",
            {"model": "claude-sonnet-4-6"},
        ),
        (
            "$cheap",
            "Switched to 'anthropic' with model 'claude-haiku-4-5'.",
            {"model": "claude-haiku-4-5", "max_tokens": 4000},
        ),
        (
            "$cheap claude-sonnet-4-5 max_tokens=5000",
            "Switched to 'anthropic' with model 'claude-sonnet-4-5'.",
            {"model": "claude-sonnet-4-5", "max_tokens": 5000},
        ),
        (
            "anthropic claude-haiku-4-5 one two",
            "Switched to 'anthropic' with model 'claude-haiku-4-5'.\n"
            "Ignoring extra positional arguments: one, two",
            {"model": "claude-haiku-4-5"},
        ),
        (
            "anthropic gpt-1",
            "Switched to 'anthropic' with model 'claude-sonnet-4-6'.\n"
            "⚠ Model 'gpt-1' is not valid for provider 'anthropic'."
            " Using default: 'claude-sonnet-4-6'.",
            {"model": "claude-sonnet-4-6"},
        ),
        (
            "anthropic claude-fable-5 thinking=low",
            "Switched to 'anthropic' with model 'claude-fable-5'.\n"
            "⚠ Billed at $10 input / $50 output per MTok",
            {"model": "claude-fable-5"},
        ),
    ],
)
def test_a_switch_says_what_it_did_and_the_next_request_shows_it(
    start_chat: StartChat, arguments: str, told: str, parts: dict[str, object]
):
    chat = start_chat([DONE], options=PRESETS)
    switch(chat, arguments)
    chat.wait_notified(told)
    request = ask(chat)
    assert {name: request[name] for name in parts} == parts


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("$chaep", "Unknown preset '$chaep' — did you mean '$cheap'?"),
        ("antropic", "Unknown provider 'antropic'. Supported providers are: anthropic, demo"),
        ("anthropic max_tokens=many", "validation error at 'parameters.max_tokens'"),
        ("anthropic nonsense_key=1", "unknown key 'parameters.anthropic.nonsense_key'"),
    ],
)
def test_a_switch_that_cannot_be_made_changes_nothing(
    start_chat: StartChat, arguments: str, told: str
):
    chat = start_chat([DONE], options={**PRESETS, "max_tokens": 2222})
    switch(chat, arguments)
    chat.wait_until(lambda: any(told in text for text in chat.told), message=told)
    request = ask(chat)
    assert (request["model"], request["max_tokens"]) == ("claude-sonnet-4-6", 2222)


def test_a_parameter_is_cleared_by_nil_or_by_nothing(start_chat: StartChat):
    chat = start_chat([DONE] * 3, options={"max_tokens": 2222})
    switch(chat, "anthropic temperature=0.7 max_tokens=3333")
    request = ask(chat)
    assert (request["temperature"], request["max_tokens"]) == (0.7, 3333)
    switch(chat, "anthropic temperature=")
    assert "temperature" not in ask(chat, "More")
    switch(chat, "anthropic temperature=0.5 max_tokens=nil")
    request = ask(chat, "More")
    assert (request["temperature"], request["max_tokens"]) == (0.5, 64000)


def test_a_preset_brings_tools_and_approval(start_chat: StartChat):
    chat = start_chat([DONE], options=PRESETS)
    switch(chat, "$reader")
    chat.wait_until(lambda: bool(chat.told))
    ask(chat)
    assert sent_tools(chat) == ["ls", "read"]
    chat.editor.command("Flemma status")
    wait_page(chat, "by name: ls")


def test_a_file_that_says_otherwise_is_told(start_chat: StartChat):
    block = with_block('flemma.opt.model = "claude-haiku-4-5"')
    chat = start_chat([], text=block)
    switch(chat, "anthropic claude-sonnet-4-5")
    chat.wait_notified(
        "Switched to 'anthropic' with model 'claude-sonnet-4-5'.\n"
        "• This buffer uses anthropic claude-haiku-4-5 (frontmatter)"
    )


def test_a_switch_during_a_request_changes_the_next_one(start_chat: StartChat):
    chat = start_chat([DONE, DONE])
    chat.send()
    switch(chat, "anthropic claude-haiku-4-5")
    chat.wait_answered()
    assert ask(chat, "More")["model"] == "claude-haiku-4-5"


def test_without_arguments_provider_and_model_are_picked(start_chat: StartChat):
    chat = start_chat([DONE], lua=PICK + '_G.answers = { "anthropic", "claude-haiku-4-5" }')
    switch(chat)
    chat.wait_notified("Switched to 'anthropic' with model 'claude-haiku-4-5'.")
    prompts = chat.editor.exec_lua("return vim.tbl_map(function(each) return each[1] end, asked)")
    assert prompts == ["Select Provider:", "Select Model for anthropic:"]
    assert ask(chat)["model"] == "claude-haiku-4-5"


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ("{}", "Provider selection cancelled"),
        ('{ "anthropic" }', "Model selection cancelled"),
    ],
)
def test_a_picker_may_be_left(start_chat: StartChat, answers: str, told: str):
    chat = start_chat([], lua=PICK + f"_G.answers = {answers}")
    switch(chat)
    chat.wait_notified(told)


def test_completion_offers_presets_first_then_providers_then_models(start_chat: StartChat):
    chat = start_chat([], options=PRESETS)
    chat.editor.wait_for_host()
    assert completions(chat, "Flemma switch ") == ["$cheap", "$reader", "anthropic", "demo"]
    assert completions(chat, "Flemma switch $c") == ["$cheap"]
    models = completions(chat, "Flemma switch anthropic claude-haiku-4")
    assert models == ["claude-haiku-4-5"]
    assert "claude-sonnet-4-6" in completions(chat, "Flemma switch $cheap ")
    assert completions(chat, "Flemma status ") == ["verbose"]


def test_the_event_tells_that_the_configuration_changed(start_chat: StartChat):
    chat = start_chat([])
    switch(chat, "anthropic claude-haiku-4-5")
    chat.wait_event("FlemmaConfigUpdated")

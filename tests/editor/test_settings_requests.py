"""What settings put into requests, in a real Neovim (spec: tools, "Per-buffer tool selection" and
"Per-buffer parameter overrides"; acceptance 91 to 98; cases S-21, L-07).
"""

import pytest

from tests.editor.chats import StartChat
from tests.editor.settings_support import DONE, ask, put_block, sent_tools, with_block

HAIKU = {"model": "claude-haiku-4-5"}
ALL_TOOLS = ["bash", "edit", "find", "flemma__jobs__status", "grep", "ls", "read", "write"]

PARAMETERS = """\
-- General parameters (work across all providers)
flemma.opt.thinking = "medium"          -- override the unified thinking level
flemma.opt.cache_retention = "long"     -- override prompt caching strategy
flemma.opt.max_tokens = 8000            -- override max output tokens
flemma.opt.temperature = 0.3            -- override sampling temperature

-- Provider-specific overrides (take priority over general)
flemma.opt.anthropic.thinking_budget = 20000
flemma.opt.openai.reasoning = "high"
flemma.opt.vertex.thinking_budget = 4096
"""


def without(*names: str) -> list[str]:
    return [name for name in ALL_TOOLS if name not in names]


def test_the_documented_parameters_are_what_is_sent(start_chat: StartChat):
    chat = start_chat([DONE, DONE], text=with_block(PARAMETERS), options=HAIKU)
    request = ask(chat)
    assert request["max_tokens"] == 8000
    assert request["thinking"] == {"type": "enabled", "budget_tokens": 7999}  # Acceptance 97.
    long = {"type": "ephemeral", "ttl": "1h"}  # Acceptance 98.
    assert request["cache_control"] == long
    assert request["tools"][-1]["cache_control"] == long
    assert "temperature" not in request
    chat.wait_notified("temperature is not accepted with thinking; leaving it out.")
    put_block(chat, "flemma.opt.thinking = false\nflemma.opt.temperature = 0.3")
    request = ask(chat, "More")
    assert request["temperature"] == 0.3
    assert "thinking" not in request


@pytest.mark.parametrize(
    ("block", "parts"),
    [
        (  # The documented example of precedence.
            'flemma.opt.thinking = "low"\nflemma.opt.anthropic.thinking_budget = 20000',
            {"thinking": {"type": "enabled", "budget_tokens": 20000}},
        ),
        (
            "flemma.opt.max_tokens = 2000\nflemma.opt.anthropic.max_tokens = 3000",
            {"max_tokens": 3000},
        ),
        ('flemma.opt.max_tokens = "50%"', {"max_tokens": 32000}),  # Acceptance 95.
        (  # Case S-21.
            'flemma.opt.anthropic.max_output_tokens = 20000\nflemma.opt.max_tokens = "50%"',
            {"max_tokens": 10000},
        ),
        (
            'flemma.opt.model = "my-own"\nflemma.opt.anthropic.max_output_tokens = 3000'
            '\nflemma.opt.max_tokens = "100%"',
            {"model": "my-own", "max_tokens": 3000},
        ),
        ('flemma.opt.cache_retention = "none"', {"cache_control": None}),
        (
            'flemma.opt.model = "claude-opus-4-8"\nflemma.opt.thinking = "low"'
            '\nflemma.opt.anthropic.effort = "xhigh"',
            {"output_config": {"effort": "xhigh"}},
        ),
    ],
)
def test_specific_parameters_win_over_general_ones(
    start_chat: StartChat, block: str, parts: dict[str, object]
):
    request = ask(start_chat([DONE], text=with_block(block), options=HAIKU))
    assert {name: request.get(name) for name in parts} == parts


@pytest.mark.parametrize(
    ("block", "tools"),
    [
        ("", ALL_TOOLS),
        # The documented examples, and what they come to in this order.
        ('flemma.opt.tools = {"bash", "read"}             -- only these tools', ["bash", "read"]),
        (
            'flemma.opt.tools:remove("write")               -- remove from defaults',
            without("write"),
        ),
        ('flemma.opt.tools:append("grep")                -- add a tool', ALL_TOOLS),
        (
            'flemma.opt.tools = {"bash"}\n'
            'flemma.opt.tools = flemma.opt.tools + "read"    -- operator overloads work too',
            ["bash", "read"],
        ),
        ('flemma.opt.tools:remove("*e*")', ["bash", "find", "ls"]),
        ("flemma.opt.tools = {}", []),
    ],
)
def test_the_tools_of_a_file_are_those_that_are_sent(
    start_chat: StartChat, block: str, tools: list[str]
):
    chat = start_chat([DONE], text=with_block(block))
    ask(chat)
    assert sent_tools(chat) == tools


def test_setup_session_and_file_win_in_this_order(start_chat: StartChat):
    chat = start_chat([DONE] * 3, options={**HAIKU, "max_tokens": 5000})
    assert ask(chat)["max_tokens"] == 5000
    chat.editor.command("Flemma switch anthropic claude-sonnet-4-5 max_tokens=6000")
    request = ask(chat, "More")
    assert (request["model"], request["max_tokens"]) == ("claude-sonnet-4-5", 6000)
    put_block(chat, "flemma.opt.max_tokens = 7000")
    request = ask(chat, "More")
    assert (request["model"], request["max_tokens"]) == ("claude-sonnet-4-5", 7000)


def test_settings_survive_closing_and_reopening_the_chat(start_chat: StartChat):
    # Case L-07.
    block = "flemma.opt.thinking = 3000"
    chat = start_chat([DONE] * 4, text=with_block(block), options=HAIKU)
    chat.editor.command("Flemma switch anthropic claude-haiku-4-5 max_tokens=6000")

    def sent(prompt: str | None) -> tuple[int, int]:
        request = ask(chat, prompt)
        return request["max_tokens"], request["thinking"]["budget_tokens"]

    assert sent(None) == (6000, 3000)
    chat.keys(":w<CR>:e<CR>")
    assert sent("More") == (6000, 3000)
    chat.keys(":w<CR>:bdelete<CR>")
    chat.buffer = chat.editor.open(chat.path)
    assert sent("More") == (6000, 3000)
    chat.keys(":w<CR>")


def test_a_file_keeps_its_settings_over_a_restart(start_chat: StartChat):
    # Case L-07.
    chat = start_chat([DONE] * 2, text=with_block("flemma.opt.max_tokens = 6000"), options=HAIKU)
    assert ask(chat)["max_tokens"] == 6000
    old = chat.editor.kill_host()
    chat.wait_until(lambda: chat.editor.host_pid() not in (None, old), timeout=20)
    chat.editor.wait_for_host()
    assert ask(chat, "More")["max_tokens"] == 6000


def test_a_preset_as_model_brings_everything_it_carries(start_chat: StartChat):
    preset = {
        "provider": "anthropic",
        "model": "claude-haiku-4-5",
        "parameters": {"max_tokens": 4321},
        "auto_approve": ["read"],
        "tools": ["read", "bash"],
    }
    chat = start_chat([DONE], options={"model": "$fast", "presets": {"$fast": preset}})
    request = ask(chat)
    assert (request["model"], request["max_tokens"]) == ("claude-haiku-4-5", 4321)
    assert sent_tools(chat) == ["bash", "read"]

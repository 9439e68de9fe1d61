"""The status page and `:Flemma why` without an editor (spec: behaviour 12.10)."""

import pytest

from flemma.approval.resolvers import Resolver
from flemma.config.layers import Layer
from tests.unit.app.opened_chat import OpenedChat, opened_chat
from tests.unit.config.support import op

POLICY = """```lua
flemma.opt.tools.auto_approve = function(tool_name, input)
  if input.command:match("^git ") then return true end
end
```
@You:
Hi

@Assistant:
**Tool Use:** `bash` (`toolu_1`)
```json
{"label": "x", "command": "git status"}
```
"""


def has(chat: OpenedChat, *parts: str) -> bool:
    return any(all(part in line for part in parts) for line in chat.pages.lines)


async def test_functions_and_resolvers_of_the_user_are_named_and_not_called() -> None:
    def never(*_: object) -> str:
        raise AssertionError("called without a call")

    async with opened_chat(POLICY, {"sandbox": False}) as chat:
        chat.services.resolvers.register(Resolver("team", never, 60))
        await chat.run("status")
        assert has(chat, "ƒ asked with the call bash — set a function in FRONTMATTER")
        assert has(chat, "ƒ asked with the call bash — team")
        assert has(chat, "else ⋯ require approval bash — no resolver had an opinion")
        assert has(chat, "    a function")


async def test_everything_is_approved_when_no_approval_is_required() -> None:
    async with opened_chat(options={"tools": {"require_approval": False}}) as chat:
        await chat.run("status")
        assert has(chat, "all tools auto-approved (require_approval = false)")
        assert has(chat, "✓ auto-approve", "bash")


async def test_a_provider_that_does_not_exist_is_named_on_the_page() -> None:
    async with opened_chat() as chat:
        layer = [op("set", "provider", "nobody")]
        chat.services.settings.extend_layer(Layer.RUNTIME, layer)
        await chat.run("status", "verbose")
        assert has(chat, "name: nobody", "Ⓡ")
        assert has(chat, "⚠ Unknown provider 'nobody'")


async def test_without_tools_there_is_nothing_to_approve() -> None:
    text = "```lua\nflemma.opt.tools = {}\n```\n@You:\nHi\n"
    async with opened_chat(text) as chat:
        await chat.run("status")
        assert has(chat, "0 enabled, 8 disabled", "Ⓕ")
        assert has(chat, "(no tools registered)")


async def test_the_page_is_renewed_while_it_is_on_the_screen() -> None:
    async with opened_chat() as chat:
        await chat.commands.update()
        await chat.run("status")
        await chat.commands.update()
        assert chat.pages.updates == 1
        chat.pages.on_screen = False
        await chat.commands.update()
        await chat.commands.update()
        assert chat.pages.updates == 2


async def test_the_page_of_a_closed_chat_is_left_alone() -> None:
    async with opened_chat() as chat:
        await chat.run("status")
        await chat.workspace.close(chat.session.buffer.id)
        await chat.commands.update()
        assert chat.pages.updates == 0


@pytest.mark.parametrize("name", ["status", "why"])
async def test_these_commands_need_a_chat(name: str) -> None:
    async with opened_chat() as chat:
        chat.session = None  # pyright: ignore[reportAttributeAccessIssue]
        await chat.run(name)
        assert chat.told == [f"'{name}' needs a chat: open a .chat file first."]


async def test_why_asks_again_for_a_call_of_another_session() -> None:
    async with opened_chat(POLICY) as chat:
        await chat.run("why", line=9)
        assert has(chat, "bash: approved without asking")
        assert has(chat, "the auto_approve function returned true")
        assert has(chat, "rule: set a function in FRONTMATTER, frontmatter line 1")
        assert has(chat, "the call was made in another session")


async def test_a_call_that_cannot_be_read_cannot_be_explained() -> None:
    async with opened_chat(POLICY.replace('{"label"', "{label")) as chat:
        await chat.run("why", line=9)
        assert chat.told == ["Tool toolu_1 cannot be explained: its input is not readable."]

"""Chats whose model is a script, for tests of tools in a real Neovim."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.support.anthropic_server import AnthropicServer, Reply, message, serving, text, tool_use
from tests.support.nvim import Editor

MODEL = "claude-sonnet-4-6"
CHAT = "work.chat"


def call(name: str, tool_input: Mapping[str, Any], identifier: str = "toolu_1") -> Reply:
    """Return a response that is one tool call; dots in names are written as the service wants."""
    return calls((identifier, name, tool_input))


def calls(*wanted: tuple[str, str, Mapping[str, Any]]) -> Reply:
    """Return a response of several tool calls: id, name, input."""
    blocks = [
        tool_use(identifier, name.replace(".", "__"), tool_input)
        for identifier, name, tool_input in wanted
    ]
    return message(text("Let me see."), *blocks)


DONE = message(text("All done."))


@contextmanager
def conversation(
    replies: Sequence[Reply],
    *,
    lua: str = "",
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    size: tuple[int, int] = (100, 40),
    frontmatter: str = "",
    prompt: str = "Go.",
) -> Iterator[tuple[Editor, AnthropicServer]]:
    """Open a chat in an editor that talks to a server; nothing is sent yet.

    ``lua`` runs before `setup`, as the configuration of a user would.
    """
    with (
        serving(replies) as server,
        Editor(
            environment={
                "ANTHROPIC_BASE_URL": server.url,
                "ANTHROPIC_API_KEY": "key",
                **(environment or {}),
            },
            size=size,
        ) as editor,
    ):
        if lua:
            editor.exec_lua(lua)
        base = {"provider": "anthropic", "model": MODEL, "thinking": False}
        editor.exec_lua('require("flemma").setup(...)', {**base, **(options or {})})
        head = f"{frontmatter.rstrip()}\n\n" if frontmatter else ""
        chat = editor.directory / CHAT
        chat.write_text(f"{head}@You:\n{prompt}\n", encoding="utf-8")
        editor.open(chat)
        yield editor, server


def approved(**tools: Any) -> dict[str, Any]:
    """Return options that let every tool run without a question; ``tools`` are more of `tools`."""
    return {"tools": {"auto_approve": ["*"], **tools}}


def send(editor: Editor) -> None:
    """Press the key that does the next step."""
    editor.keys("<C-]>")


def result_of(server: AnthropicServer, identifier: str = "toolu_1") -> Mapping[str, Any]:
    """Return the result of a call as the last request carried it."""
    blocks = [
        block
        for entry in server.requests[-1].json["messages"]
        if isinstance(entry["content"], list)
        for block in entry["content"]
        if block["type"] == "tool_result" and block["tool_use_id"] == identifier
    ]
    assert len(blocks) == 1, blocks
    return blocks[0]


def result_text(server: AnthropicServer, identifier: str = "toolu_1") -> str:
    """Return the text of a result that the model got."""
    content = result_of(server, identifier)["content"]
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def sent_tool(server: AnthropicServer, name: str) -> Mapping[str, Any]:
    """Return a tool as the last request described it."""
    (found,) = [tool for tool in server.requests[-1].json["tools"] if tool["name"] == name]
    return found

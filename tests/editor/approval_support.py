"""What became of calls, for the tests of approval in a real Neovim."""

import re
from collections.abc import Mapping
from typing import Any

from tests.editor.chats import Chat, StartChat, bash, read
from tests.editor.settings_support import DONE
from tests.support.anthropic_server import Block, message, text, tool_use

DENIED = "The tool was denied by a policy."

_RESULT = re.compile(
    r"^\*\*Tool Result:\*\* `(\w+)`(?: \((\w+)\))?\n+```\w*\n(.*?)\n?```$", re.M | re.S
)


def grep(identifier: str) -> Block:
    return tool_use(identifier, "grep", {"label": "look", "pattern": "x"})


def write(identifier: str) -> Block:
    return tool_use(identifier, "write", {"label": "put", "path": "new.txt", "content": "x"})


CALLS = (
    read("read", "a.txt"),
    grep("grep"),
    write("write"),
    bash("echo", "echo hi"),
    bash("rm", "rm -rf junk"),
)
"""Calls whose ids say what they are."""


def make_calls(start_chat: StartChat, *calls: Block, **options: Any) -> Chat:
    """Let the model make calls: all of :data:`CALLS`, or those given."""
    chat = start_chat([message(text("Look."), *(calls or CALLS)), DONE], **options)
    (chat.editor.directory / "a.txt").write_text("x\n")
    chat.send()
    return chat


def outcomes(chat: Chat) -> Mapping[str, str]:
    """Wait until the calls are decided about and what was approved ran; return what became of each:
    `ask`, `deny` or `approve`."""

    def settled() -> bool:
        if not chat.editor.option("modifiable", chat.buffer) or "(approved)" in chat.text:
            return False
        return "(pending)" in chat.text or chat.text.endswith("Done.\n\n@You:\n")

    chat.wait_until(settled, message="decisions")
    return {identifier: _outcome(status, content) for identifier, status, content in results(chat)}


def results(chat: Chat) -> list[tuple[str, str, str]]:
    """Return id, status and content of each result in the chat."""
    return [(found[1], found[2] or "", found[3]) for found in _RESULT.finditer(chat.text)]


def _outcome(status: str, content: str) -> str:
    if status == "pending":
        return "ask"
    return "deny" if content == DENIED else "approve"

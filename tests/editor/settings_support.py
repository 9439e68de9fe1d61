"""Short ways around settings for the tests that drive a real Neovim."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.editor.chats import Chat
from tests.support.anthropic_server import message, text

DONE = message(text("Done."))
ERROR, WARN = 1, 2


class Problem(NamedTuple):
    """A diagnostic; ``line`` is 1-based."""

    line: int
    severity: int
    text: str


def problems(chat: Chat) -> list[Problem]:
    """Return the diagnostics of the chat in the order of its lines."""
    found = chat.editor.exec_lua("return vim.diagnostic.get(...)", chat.buffer)
    return sorted(Problem(one["lnum"] + 1, one["severity"], one["message"]) for one in found)


def wait_problems(chat: Chat, *expected: tuple[int, str]) -> None:
    """Wait until the errors of the chat are exactly these: line (1-based) and text."""
    wanted = [Problem(line, ERROR, message) for line, message in expected]
    chat.wait_until(lambda: problems(chat) == wanted, message=f"the problems {wanted}")


def with_block(code: str, language: str = "lua", prompt: str = "Go.") -> str:
    """Return a chat that begins with a frontmatter."""
    return f"```{language}\n{code.strip()}\n```\n@You:\n{prompt}\n"


def put_block(chat: Chat, code: str, language: str = "lua") -> None:
    """Replace the frontmatter of the chat, in normal mode."""
    lines = chat.text.split("\n")
    start = lines.index("```", 1) + 1 if lines[0].startswith("```") else 0
    block = [f"```{language}", *code.strip().split("\n"), "```"] if code else []
    chat.editor.set_lines([*block, *lines[start:]], chat.buffer)


def body(chat: Chat, request: int = -1) -> Mapping[str, Any]:
    """Return the body of a request."""
    return chat.server.requests[request].json


def sent_tools(chat: Chat, request: int = -1) -> list[str]:
    """Return the names of the tools a request offered."""
    return [tool["name"] for tool in body(chat, request).get("tools", [])]


def ask(chat: Chat, prompt: str | None = None) -> Mapping[str, Any]:
    """Send what is there, or a new message, wait for the answer, and return the request."""
    count = len(chat.server.requests)
    if prompt is not None:
        chat.keys(f"Go{prompt}<Esc>")
    chat.send()
    chat.wait_until(lambda: len(chat.server.requests) > count, message="a request")
    chat.wait_answered()
    return body(chat)


def page(chat: Chat, name: str = "flemma://status") -> Sequence[str]:
    """Return the lines of a page that is on the screen, none if it is not."""
    number = chat.editor.call("bufnr", f"^{name}$")
    return chat.editor.lines(number) if number > 0 else []


def shows(chat: Chat, *parts: str, name: str = "flemma://status") -> bool:
    """Tell whether a page has a line that holds all ``parts``."""
    return any(all(part in line for part in parts) for line in page(chat, name))


def wait_page(chat: Chat, *parts: str, name: str = "flemma://status") -> None:
    """Wait until a page has a line that holds all ``parts``."""

    def check() -> bool:
        return shows(chat, *parts, name=name)

    chat.wait_until(check, message=f"a line with {parts} in {name}: {page(chat, name)}")

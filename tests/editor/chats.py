"""A chat in a real Neovim with a scripted model, as the tests of issue A drive it: by keys."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.support.anthropic_server import AnthropicServer, Block, message, serving, text, tool_use
from tests.support.nvim import Editor

OPTIONS: Mapping[str, Any] = {
    "provider": "anthropic",
    "model": "claude-sonnet-4-6",
    "thinking": False,
    "logging": {"enabled": True},
}
TOOLS: Mapping[str, Any] = {"auto_approve_sandboxed": False}
"""So that bash asks, sandbox or not."""

RECORD_EVENTS = """
_G.events = {}
vim.api.nvim_create_autocmd("User", {
  pattern = "Flemma*",
  callback = function(event)
    table.insert(_G.events, { event.match, event.data or vim.empty_dict() })
  end,
})
"""


def bash(identifier: str, command: str, **more: Any) -> Block:
    """Return a call of the tool that asks first."""
    return tool_use(identifier, "bash", {"label": "a label", "command": command, **more})


def read(identifier: str, path: str) -> Block:
    """Return a call of a tool that is approved by itself."""
    return tool_use(identifier, "read", {"label": "a label", "path": path})


class Chat:
    """An editor on one chat, and the server behind it."""

    def __init__(self, editor: Editor, server: AnthropicServer, path: Path) -> None:
        self.editor = editor
        self.server = server
        self.path = path
        editor.open(path)
        self.buffer: int = editor.call("bufnr")
        self.keys = editor.keys
        self.wait_until = editor.wait_until

    @property
    def text(self) -> str:
        """The text of the chat, whatever buffer is current."""
        return self.editor.text(self.buffer)

    def send(self) -> None:
        """Press the key that does the next step."""
        self.keys("<C-]>")

    def wait_for(self, part: str, *, timeout: float = 10.0) -> str:
        """Wait until the chat holds ``part``."""
        return self.editor.wait_for_text(part, buffer=self.buffer, timeout=timeout)

    def wait_unlocked(self) -> None:
        """Wait until the user can type again."""
        self.wait_until(lambda: self.editor.option("modifiable", self.buffer), message="unlocked")

    def wait_answered(self, part: str = "@You:\n") -> str:
        """Wait until the model is done and the user's prompt is back."""
        self.wait_until(
            lambda: self.text.endswith(part) and self.editor.option("modifiable", self.buffer),
            message="the prompt is back",
        )
        return self.text

    def wait_notified(self, text: str) -> None:
        """Wait until the user is told exactly this."""
        self.wait_until(lambda: text in self.told, message=f"the notification {text!r}")

    @property
    def told(self) -> list[str]:
        """What the user was told so far."""
        return [notification.text for notification in self.editor.notifications()]

    def put_cursor(self, line: str, *, occurrence: int = 0) -> None:
        """Put the cursor on a line that begins so."""
        found = [number for number, each in enumerate(self.editor.lines(), 1) if _is(each, line)]
        self.editor.set_cursor(found[occurrence])

    def wait_cursor(self, line: str) -> None:
        """Wait until the cursor stands on a line that begins so."""
        self.wait_until(
            lambda: _is(self.editor.call("getline", "."), line), message=f"the cursor on {line!r}"
        )

    def events(self) -> list[tuple[str, Any]]:
        """Return the events that were fired, with their data."""
        return [(name, data) for name, data in self.editor.exec_lua("return _G.events")]

    def wait_event(self, name: str, count: int = 1) -> list[Any]:
        """Wait until an event was fired ``count`` times, and return its data."""

        def found() -> list[Any]:
            return [data for event, data in self.events() if event == name]

        self.wait_until(lambda: len(found()) >= count, message=f"{count} times {name}")
        return found()

    def shown(self, part: str) -> bool:
        """Whether text that is not in the buffer is shown with ``part`` in it."""
        return any(part in text for _, text in self.editor.virtual_text(self.buffer))

    def result(self, identifier: str, request: int = -1) -> Mapping[str, Any]:
        """Return the result of a call as a request carried it."""
        return self.results(request)[identifier]

    def results(self, request: int = -1) -> Mapping[str, Mapping[str, Any]]:
        """Return all results that a request carried, by id and in order."""
        messages = self.server.requests[request].json["messages"]
        return {
            block["tool_use_id"]: block
            for message in messages
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        }

    def history(self, request: int = -1) -> str:
        """Return the messages of a request as JSON, to look for words in."""
        return json.dumps(self.server.requests[request].json["messages"], ensure_ascii=False)


def _is(line: str, beginning: str) -> bool:
    return line.startswith(beginning)


ONE_COMMAND = message(text("I run it."), bash("toolu_1", "echo ran > trace; echo output"))
DONE = message(text("Done."))


def start_pending(
    start_chat: "StartChat", *more: Any, reply: Any = ONE_COMMAND, **options: Any
) -> Chat:
    """Open a chat in which a call waits for the user."""
    chat = start_chat([reply, *(more or (DONE,))], **options)
    chat.send()
    chat.wait_for("(pending)")
    chat.wait_cursor("**Tool Result:** `toolu_1` (pending)")
    return chat


def has_run(chat: Chat) -> bool:
    """Whether the command of :data:`ONE_COMMAND` was run."""
    return (chat.editor.directory / "trace").exists()


def waiting_result(identifier: str, status: str) -> str:
    """Return the header of a placeholder."""
    return f"**Tool Result:** `{identifier}` ({status})"


class StartChat(Protocol):
    """Opens a chat; nothing is sent yet."""

    def __call__(
        self,
        replies: Sequence[Any],
        *,
        prompt: str = ...,
        text: str | None = ...,
        options: Mapping[str, Any] | None = ...,
        tools: Mapping[str, Any] | None = ...,
        lua: str = ...,
        before: Callable[[Editor], None] | None = ...,
        server: Mapping[str, Any] | None = ...,
        environment: Mapping[str, str] | None = ...,
    ) -> Chat: ...


@contextmanager
def chatting(
    replies: Sequence[Any],
    *,
    prompt: str = "Go.",
    text: str | None = None,
    options: Mapping[str, Any] | None = None,
    tools: Mapping[str, Any] | None = None,
    lua: str = "",
    before: Callable[[Editor], None] | None = None,
    server: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Chat]:
    """Open a chat. ``lua`` and ``before`` run before `setup`, ``tools`` are options of tools."""
    with serving(replies, **(server or {})) as model:
        variables = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "key"}
        with Editor(environment={**variables, **(environment or {})}) as editor:
            editor.exec_lua(RECORD_EVENTS)
            if lua:
                editor.exec_lua(lua)
            if before is not None:
                before(editor)
            merged = {**OPTIONS, **(options or {}), "tools": {**TOOLS, **(tools or {})}}
            editor.exec_lua('require("flemma").setup(...)', merged)
            path = editor.directory / "work.chat"
            content = f"@You:\n{prompt}\n" if text is None else text
            path.write_text(content, encoding="utf-8")
            yield Chat(editor, model, path)

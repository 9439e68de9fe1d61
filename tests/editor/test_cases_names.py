"""Files, directories and chats with odd names: nothing in a name is syntax (cases E-26, E-27)."""

from collections.abc import Iterator

import pytest

from flemma.chat.references import write_reference
from tests.editor.chats import DONE, OPTIONS, TOOLS, Chat
from tests.support.anthropic_server import Reply, message, serving, tool_use
from tests.support.nvim import Editor

DIRECTORY = "a b 'q' \"d\" [x] (p) 100% #1 %s $HOME ünï 日本 {{ x }} `t` & ;y~"
NAME = "c d 'q' \"d\" [x] (p) 50% #2 %d $PWD é 😀 {% if %} `u` * ? ,z!.txt"
SAVED = f"saved {NAME.replace('$PWD', '')}"
"""Variables are syntax there, and nothing else."""
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
    b"\x1f\x15\xc4\x89"
)


def call(number: int, name: str, **values: object) -> Reply:
    return message(tool_use(f"toolu_{number}", name, {"label": "l", **values}))


REPLIES = [
    call(1, "write", path=NAME, content="first line\n"),
    call(2, "edit", path=NAME, oldText="first", newText="second"),
    call(3, "read", path=f"./{NAME}"),
    call(4, "grep", pattern="second", path=NAME),
    call(5, "grep", pattern="second"),
    call(6, "find", pattern="*.txt"),
    call(7, "ls", path="."),
    call(8, "read", path=f"{NAME}.png"),
    call(9, "bash", command="seq 3000; cat ./*.txt; pwd"),
    call(10, "bash", command="cat *.txt", **{"flemma.save_to": SAVED}),
    DONE,
]


@pytest.fixture
def chat() -> Iterator[Chat]:
    with (
        serving(REPLIES) as server,
        Editor(environment={"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}) as editor,
    ):
        directory = editor.directory / DIRECTORY
        directory.mkdir()
        (directory / f"{NAME}.png").write_bytes(PNG)
        (directory / f"notes {NAME}").write_text("attached text")
        path = directory / "my [chat] 100% #1.chat"
        references = " ".join(
            write_reference(f"./{name}") for name in (f"notes {NAME}", f"{NAME}.png")
        )
        path.write_text(f"@You:\nSee {references} please.\n", encoding="utf-8")
        editor.exec_lua(
            'require("flemma").setup(...)',
            {**OPTIONS, "tools": {**TOOLS, "auto_approve": ["*"], "max_concurrent": 1}},
        )
        yield Chat(editor, server, path)


def test_tools_and_attachments_take_any_name(chat: Chat) -> None:
    chat.send()
    chat.wait_answered("Done.\n\n@You:\n")
    directory = chat.path.parent
    first = chat.server.requests[0].json["messages"][0]["content"]
    assert [block["type"] for block in first] == ["text", "text", "image", "text"]
    assert first[1]["text"] == "attached text"
    told = {name: block["content"] for name, block in chat.results().items()}
    assert told["toolu_1"] == f"Successfully wrote 11 bytes to {NAME}"
    assert (directory / NAME).read_text() == "second line\n"
    assert told["toolu_3"] == "second line"
    assert told["toolu_4"] == f"{NAME}:1:second line\n\n[1 match]"
    assert told["toolu_5"] == f"{NAME}:1:second line\n\n[1 match]"
    assert told["toolu_6"] == f"{NAME}\nnotes {NAME}"
    listed = told["toolu_7"].split("\n")
    assert {NAME, f"{NAME}.png", chat.path.name} <= set(listed)
    assert [block["type"] for block in told["toolu_8"]] == ["image"]
    assert f"\nsecond line\nattached text{directory}\n\n[Showing" in told["toolu_9"]
    store = directory / ".flemma" / chat.path.name
    stored = store / "tool_bash_toolu_9.txt"
    assert told["toolu_9"].endswith(f"Full output: {stored}]")
    assert stored.read_text().startswith("1\n2\n")
    assert f"[Output saved: {directory}/{SAVED} — " in told["toolu_10"]
    assert (directory / SAVED).read_text() == "second line\nattached text"
    assert chat.told == []


def test_a_jump_leads_to_a_file_of_any_name(chat: Chat) -> None:
    chat.editor.wait_for_host()
    chat.put_cursor("See")
    chat.keys("0fc")
    chat.wait_until(lambda: chat.editor.exec_lua("return #vim.lsp.get_clients()") == 1)
    chat.editor.exec_lua("vim.lsp.buf.definition()")
    chat.wait_until(lambda: chat.editor.call("expand", "%:t") == f"notes {NAME}")

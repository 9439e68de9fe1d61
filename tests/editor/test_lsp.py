"""The language server of chats in a real Neovim (spec: tools, "LSP integration"; behaviour 12.14).

Questions go the way of a user's keys: through `vim.lsp.buf` and Neovim's own client.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.editor.chats import Chat, StartChat
from tests.editor.job_support import GATE, ONE_JOB, PATIENT, one_job, wait_delivered
from tests.support.nvim import Editor

TRANSCRIPT = """\
@You:
See @./notes.md. and {{ include('other.md') }}

@Assistant:
I look.

**Tool Use:** `bash` (`toolu_1`)
```json
{"label": "a label", "command": "true"}
```

**Tool Use:** `bash` (`toolu_2`)
```json
{"label": "a label", "command": "sleep 9", "flemma.background": true}
```

@You:

**Tool Result:** `toolu_1`
```
first
```

**Tool Result:** `toolu_2` (job=job_abcde)
```
Running as a background job `job_abcde`.
```

@Assistant:
Good.

@You:

**Job Result:** `job_abcde` (error)
```
it failed
```
"""

HOVER = """
local answers = vim.lsp.buf_request_sync(
  0, "textDocument/hover", vim.lsp.util.make_position_params(0, "utf-8"), 5000)
for _, answer in pairs(answers or {}) do
  return answer.result and answer.result.contents.value or ""
end
return nil
"""


@pytest.fixture
def open_chat(start_editor: Callable[..., Editor]) -> Callable[..., Editor]:
    """Open a chat with a text, without a model."""

    def opened(text: str = TRANSCRIPT, **options: Any) -> Editor:
        editor = start_editor(options={"provider": "demo", **options})
        (editor.directory / "notes.md").write_text("notes\n")
        (editor.directory / "other.md").write_text("other\n")
        path = editor.directory / "work.chat"
        path.write_text(text)
        editor.open(path)
        return editor

    return opened


def clients(editor: Editor, buffer: int = 0) -> list[str]:
    """Return the names of the servers attached to a buffer."""
    return editor.exec_lua(
        "return vim.tbl_map(function(c) return c.name end, vim.lsp.get_clients({bufnr = ...}))",
        buffer,
    )


def wait_attached(editor: Editor) -> None:
    """Wait until our server is attached and the host ready."""
    editor.wait_until(lambda: clients(editor) == ["flemma"], message="the server is attached")
    editor.wait_until(lambda: editor.exec_lua("return require('flemma.host').channel() ~= nil"))


def put_cursor(editor: Editor, part: str) -> None:
    """Put the cursor on a piece of text."""
    for number, line in enumerate(editor.lines(), 1):
        if part in line:
            editor.set_cursor(number, len(line[: line.index(part)].encode()))
            return
    raise AssertionError(f"{part!r} is not in the buffer")


def hover(editor: Editor, part: str) -> str | None:
    """Return what is told about a piece of text."""
    put_cursor(editor, part)
    return editor.exec_lua(HOVER)


def jump(editor: Editor, part: str) -> str:
    """Go to the definition of a piece of text; return the line where that is."""
    put_cursor(editor, part)
    before = editor.cursor(), editor.request("nvim_buf_get_name", 0)
    editor.exec_lua("vim.lsp.buf.definition()")
    editor.wait_until(
        lambda: (editor.cursor(), editor.request("nvim_buf_get_name", 0)) != before,
        message=f"a jump from {part!r}",
    )
    return editor.call("getline", ".")


def test_it_is_attached_to_chats_by_itself(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat()
    wait_attached(editor)
    first = editor.exec_lua("return vim.lsp.get_clients({ name = 'flemma' })[1].id")
    editor.open(editor.directory / "second.chat")
    wait_attached(editor)
    again = editor.exec_lua("return vim.lsp.get_clients({ name = 'flemma' })[1].id")
    assert first == again, "one server serves all chats"
    editor.open(editor.directory / "notes.md")
    assert clients(editor) == []


def test_it_can_be_switched_off(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat(lsp={"enabled": False})
    editor.wait_until(lambda: editor.exec_lua("return require('flemma.host').channel() ~= nil"))
    assert clients(editor) == []


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("**Tool Use:** `bash` (`toolu_1`)", "**Tool Result:** `toolu_1`"),
        ('"command": "true"', "**Tool Result:** `toolu_1`"),
        ("**Tool Result:** `toolu_1`", "**Tool Use:** `bash` (`toolu_1`)"),
        ("first", "**Tool Use:** `bash` (`toolu_1`)"),
        ("**Tool Result:** `toolu_2`", "**Job Result:** `job_abcde` (error)"),
        ("it failed", "**Tool Result:** `toolu_2` (job=job_abcde)"),
        ("notes.md", "notes"),
        ("include('other.md')", "other"),
    ],
)
def test_definitions_lead_from_one_to_the_other(
    open_chat: Callable[..., Editor], start: str, end: str
) -> None:
    editor = open_chat()
    wait_attached(editor)
    assert jump(editor, start) == end


def test_a_file_that_is_named_in_an_odd_way_is_found(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat("@You:\nSee @./a%20b%C3%A9.md\n")
    Path(editor.directory / "a bé.md").write_text("odd\n")
    wait_attached(editor)
    assert jump(editor, "a%20b") == "odd"


def test_the_chat_itself_may_be_named_in_an_odd_way(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat()
    path = editor.directory / "ein #1 50% é.chat"
    path.write_text(TRANSCRIPT)
    editor.open(path)
    wait_attached(editor)
    buffer = editor.request("nvim_get_current_buf")
    assert jump(editor, "**Tool Use:** `bash` (`toolu_1`)") == "**Tool Result:** `toolu_1`"
    assert editor.request("nvim_get_current_buf") == buffer


def test_a_chat_without_a_file_is_served_too(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat()
    editor.command("enew | set filetype=chat")
    editor.set_lines(list[str](TRANSCRIPT.splitlines()))
    wait_attached(editor)
    buffers = len(editor.request("nvim_list_bufs"))
    assert "toolu_1" in (hover(editor, "**Tool Use:** `bash` (`toolu_1`)") or "")
    assert jump(editor, "notes.md") == "notes"
    editor.keys("<C-o>")
    put_cursor(editor, "**Tool Use:** `bash` (`toolu_1`)")
    editor.exec_lua("vim.lsp.buf.definition()")
    editor.wait_until(editor.notifications, message="no address leads to such a buffer")
    assert len(editor.request("nvim_list_bufs")) == buffers + 1, "notes.md and nothing else"


def test_hover_describes_what_is_under_the_cursor(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat("```json\n{}\n```\n\n" + TRANSCRIPT)
    wait_attached(editor)
    assert "toolu_1" in (hover(editor, "**Tool Use:** `bash` (`toolu_1`)") or "")
    assert "notes.md" in (hover(editor, "notes.md") or "")
    assert (hover(editor, "{}") or "").count("```") == 2
    put_cursor(editor, "it failed")
    editor.exec_lua("vim.lsp.buf.hover()")
    editor.wait_until(
        lambda: len(editor.request("nvim_list_wins")) == 2, message="the hover window"
    )


def test_keys_ask(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat()
    wait_attached(editor)
    put_cursor(editor, "**Tool Result:** `toolu_2`")
    editor.keys("gd")
    editor.wait_until(
        lambda: editor.call("getline", ".") == "**Job Result:** `job_abcde` (error)",
        message="a jump",
    )
    editor.keys("K")
    editor.wait_until(
        lambda: len(editor.request("nvim_list_wins")) == 2, message="the hover window"
    )


@pytest.mark.parametrize("options", [{"keymaps": {"enabled": False}}, {}])
def test_a_mapping_of_the_user_stays(
    start_editor: Callable[..., Editor], options: dict[str, Any]
) -> None:
    editor = start_editor(options=None)
    if not options:
        editor.command("nnoremap gd :let g:mine = 1<CR>")
    editor.exec_lua('require("flemma").setup(...)', {"provider": "demo", **options})
    path = editor.directory / "work.chat"
    path.write_text(TRANSCRIPT)
    editor.open(path)
    wait_attached(editor)
    assert editor.call("maparg", "gd", "n") == ("" if options else ":let g:mine = 1<CR>")


def test_nothing_is_told_about_nothing(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat()
    wait_attached(editor)
    put_cursor(editor, "Good.")
    before = editor.cursor()
    editor.exec_lua("vim.lsp.buf.definition()")
    editor.wait_until(editor.notifications, message="Neovim says that there is none")
    assert editor.cursor() == before


def test_hover_tells_how_a_job_stands(start_chat: StartChat) -> None:
    chat = start_chat(ONE_JOB, tools=PATIENT)
    job = one_job(chat)
    wait_attached(chat.editor)
    assert first_line(chat, job) == f"Job `{job}`: pending"
    GATE.open(chat)
    wait_delivered(chat, job)
    assert first_line(chat, job) == f"Job `{job}`: completed"


def first_line(chat: Chat, job: str) -> str:
    """Return the first line of what is told about the placeholder of a job."""
    told = hover(chat.editor, f"(job={job})")
    assert told
    heading, _, dump = told.partition("\n\n")
    assert "toolu_job" in dump
    return heading


def test_hover_tells_of_a_failed_job(open_chat: Callable[..., Editor]) -> None:
    editor = open_chat()
    wait_attached(editor)
    assert (hover(editor, "(job=job_abcde)") or "").startswith("Job `job_abcde`: error\n\n")

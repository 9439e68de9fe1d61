"""Files that are open in the editor while the model works on them (cases E-01 to E-22)."""

from pathlib import Path

import pytest

from tests.editor.chats import DONE, Chat, StartChat, bash
from tests.support.anthropic_server import message, tool_use

ANSWERED = "Done.\n\n@You:\n"


def edit(number: int, old: str, new: str, path: str = "code.txt") -> object:
    values = {"label": "l", "path": path, "oldText": old, "newText": new}
    return tool_use(f"toolu_{number}", "edit", values)


def read(number: int, path: str = "code.txt") -> object:
    return tool_use(f"toolu_{number}", "read", {"label": "l", "path": path})


def start(start_chat: StartChat, content: bytes, *calls: object) -> tuple[Chat, Path, int]:
    """Return a chat, a file, and its buffer, which is loaded but not shown."""
    chat = start_chat([message(*calls), DONE])  # pyright: ignore[reportArgumentType]
    path = chat.path.parent / "code.txt"
    path.write_bytes(content)
    chat.editor.command("set hidden")
    chat.editor.open(path)
    buffer = chat.editor.call("bufnr")
    chat.editor.command(f"buffer {chat.buffer}")
    return chat, path, buffer


def told(chat: Chat) -> dict[str, str]:
    return {name: str(block["content"]) for name, block in chat.results().items()}


def test_an_open_file_is_changed_in_its_buffer_as_one_step_and_saved(start_chat: StartChat):
    # E-21.
    chat, path, buffer = start(start_chat, b"one\ntwo\nthree\n", edit(1, "two", "2\n2b"))
    chat.send()
    chat.wait_answered(ANSWERED)
    assert chat.editor.lines(buffer) == ["one", "2", "2b", "three"]
    assert path.read_bytes() == b"one\n2\n2b\nthree\n"
    assert not chat.editor.option("modified", buffer)
    chat.editor.command(f"buffer {buffer}")
    chat.editor.command("checktime")
    chat.keys("u")
    assert chat.editor.lines() == ["one", "two", "three"]
    chat.editor.command("write")
    assert "W1" not in chat.editor.messages()
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_unsaved_changes_are_read_kept_and_not_saved(start_chat: StartChat):
    # E-21, E-22.
    chat, path, buffer = start(
        start_chat, b"on disk\n", read(1), edit(2, "typed", "typed and edited")
    )
    chat.editor.set_lines(["on disk", "typed"], buffer)
    chat.send()
    chat.wait_answered(ANSWERED)
    assert told(chat)["toolu_1"].startswith("on disk\ntyped\n\n[unsaved: ")
    assert "is not saved" in told(chat)["toolu_2"]
    assert chat.editor.lines(buffer) == ["on disk", "typed and edited"]
    assert chat.editor.option("modified", buffer)
    assert path.read_bytes() == b"on disk\n"


def test_a_file_that_a_command_changed_is_followed_without_a_question(start_chat: StartChat):
    # E-21, E-12: no W11, and the text that is there now counts.
    command = bash("toolu_1", "printf 'one\\nnew\\n' > code.txt")
    chat = start_chat(
        [message(command), message(edit(2, "new", "newer")), DONE],  # pyright: ignore[reportArgumentType]
        tools={"auto_approve": ["$standard", "bash"]},
    )
    path = chat.path.parent / "code.txt"
    path.write_text("one\nold\n")
    chat.editor.command("set hidden noautoread")
    chat.editor.open(path)
    buffer = chat.editor.call("bufnr")
    chat.editor.command(f"buffer {chat.buffer}")
    chat.send()
    chat.wait_answered(ANSWERED)
    assert path.read_text() == "one\nnewer\n"
    assert chat.editor.lines(buffer) == ["one", "newer"]
    chat.editor.command("checktime")
    assert "W1" not in chat.editor.messages()


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "b\nc", "B\nx\nC", b"a\r\nB\r\nx\r\nC\r\n"),  # E-01, E-02
        (b"no newline at the end", "end", "END", b"no newline at the END"),
        (b"\xef\xbb\xbfmarked\n", "marked", "kept", b"\xef\xbb\xbfkept\n"),
        ("naïve\nx\n".encode("latin-1"), "x", "ü", "naïve\nü\n".encode("latin-1")),  # E-04
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb", "A\nB", b"A\r\nB\nc\r\n"),
        (b"one\ntwo\n", "two\n", "two", b"one\ntwo"),
        (b"one", "one", "one\n", b"one\n"),
        (b"all\n", "all\n", "", b""),
        ("\ufeffa ü\n".encode("utf-16-le"), "a", "bc", "\ufeffbc ü\n".encode("utf-16-le")),
        (b"\tindent\n", "\tindent", "\t\tindent", b"\t\tindent\n"),  # E-05
        (b"", "x", "y", b""),  # E-18
    ],
)
def test_an_open_file_keeps_its_form(
    start_chat: StartChat, content: bytes, old: str, new: str, expected: bytes
):
    chat, path, buffer = start(start_chat, content, edit(1, old, new))
    chat.send()
    chat.wait_answered(ANSWERED)
    assert path.read_bytes() == expected
    assert not chat.editor.option("modified", buffer)


@pytest.mark.parametrize(
    ("content", "new", "expected"),
    [
        (b"a\r\nb\r\n", "a\nnew\nb\n", b"a\r\nnew\r\nb\r\n"),
        (b"a\nb\r\nc\n", "a\nb\nd\ne\n", b"a\nb\r\nd\ne\n"),
        (b"old\n", "no newline", b"no newline"),
        (b"old", "new\n", b"new\n"),
        (b"old\n", "", b""),
        (b"\xef\xbb\xbfold\n", "\ufeffnew\n", b"\xef\xbb\xbfnew\n"),
        ("naïve\n".encode("latin-1"), "ü\n", "ü\n".encode("latin-1")),
    ],
)
def test_an_open_file_that_is_written_anew_keeps_its_form(
    start_chat: StartChat, content: bytes, new: str, expected: bytes
):
    # E-02, E-04, E-21.
    values = {"label": "l", "path": "code.txt", "content": new}
    chat, path, buffer = start(start_chat, content, tool_use("toolu_1", "write", values))
    chat.send()
    chat.wait_answered(ANSWERED)
    assert path.read_bytes() == expected
    assert told(chat)["toolu_1"] == f"Successfully wrote {len(expected)} bytes to code.txt"
    assert not chat.editor.option("modified", buffer)


def test_what_the_encoding_of_an_open_file_cannot_hold_is_refused(start_chat: StartChat):
    # E-04: no `?` in its place.
    content = "naïve\nx\n".encode("latin-1")
    chat, path, buffer = start(start_chat, content, edit(1, "x", "→"))
    chat.send()
    chat.wait_answered(ANSWERED)
    assert path.read_bytes() == content
    assert chat.result("toolu_1")["is_error"] is True
    assert "(U+2192) cannot be encoded in iso8859-1" in told(chat)["toolu_1"]
    assert chat.editor.lines(buffer) == ["naïve", "x"]


def test_a_change_that_cannot_be_saved_is_taken_back(start_chat: StartChat):
    # E-33: the result says that it failed, so nothing of it stays.
    chat, path, buffer = start(start_chat, b"one\ntwo\n", edit(1, "two", "2"))
    chat.editor.request("nvim_set_option_value", "readonly", True, {"buf": buffer})
    chat.send()
    chat.wait_answered(ANSWERED)
    assert "the buffer is read-only" in told(chat)["toolu_1"]
    assert chat.result("toolu_1")["is_error"] is True
    assert chat.editor.lines(buffer) == ["one", "two"]
    assert not chat.editor.option("modified", buffer)
    assert path.read_bytes() == b"one\ntwo\n"


def test_links_and_modes_of_an_open_file_are_kept(start_chat: StartChat):
    # E-14, E-15.
    chat = start_chat([message(edit(1, "old", "new", "link.sh")), DONE])  # pyright: ignore[reportArgumentType]
    real = chat.path.parent / "real.sh"
    real.write_text("old\n")
    real.chmod(0o755)
    link = chat.path.parent / "link.sh"
    link.symlink_to("real.sh")
    chat.editor.command("set hidden")
    chat.editor.open(link)
    chat.editor.command(f"buffer {chat.buffer}")
    chat.send()
    chat.wait_answered(ANSWERED)
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new\n", 0o755)
    assert link.is_symlink()


def test_several_edits_of_one_turn_all_land_in_an_open_file(start_chat: StartChat):
    # E-11, E-33: each with its own result.
    content = "".join(f"<{number}>\n" for number in range(6)).encode()
    calls = [edit(number, f"<{number}>", f"{number}\nmore") for number in range(6)]
    chat, path, buffer = start(start_chat, content, *calls, edit(6, "<99>", "x"))
    chat.send()
    chat.wait_answered(ANSWERED)
    failed = {name: block.get("is_error", False) for name, block in chat.results().items()}
    assert failed == {f"toolu_{number}": number == 6 for number in range(7)}
    assert path.read_text() == "".join(f"{number}\nmore\n" for number in range(6))
    assert "\n".join(chat.editor.lines(buffer)) + "\n" == path.read_text()


BUSY_ONCE = """
local rpc = require("flemma.rpc")
local handle = rpc.handle
rpc.handle = function(method, payload)
  if method == "buffer:replace" and not _G.refused then
    _G.refused = true
    return { ok = false, busy = true, error = "E565" }
  end
  return handle(method, payload)
end
"""


def test_a_change_waits_while_the_editor_cannot_change_text(start_chat: StartChat):
    # V-06.
    chat, path, _ = start(start_chat, b"one\n", edit(1, "one", "two"))
    chat.editor.exec_lua(BUSY_ONCE)
    chat.send()
    chat.wait_answered(ANSWERED)
    assert chat.editor.exec_lua("return _G.refused") is True
    assert path.read_bytes() == b"two\n"

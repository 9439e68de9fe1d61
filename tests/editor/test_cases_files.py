"""Chats as files: old ones, empty ones, odd ones; and what a send says about other files."""

import os
from pathlib import Path

import pytest

from tests.editor.chats import DONE, Chat, StartChat, bash
from tests.support.anthropic_server import cut, error, message, text, tool_use

ANSWERED = "Done.\n\n@You:\n"


def modified(chat: Chat) -> bool:
    return chat.editor.option("modified", chat.buffer)


def test_an_old_file_is_brought_up_to_date_when_it_is_opened_and_not_before_it_is_saved(
    start_chat: StartChat,
):
    # Acceptance 1; behaviour 1.12.
    old = "@You: hi\n\n@Assistant: yes\n\n**Tool Use:** `slack:post` (`t`)\n```json\n{}\n```\n"
    chat = start_chat([], text=old)
    chat.wait_for("`slack.post`")
    assert chat.text.startswith("@You:\nhi\n\n@Assistant:\nyes\n")
    chat.wait_notified(
        "Tool names were migrated from ':' to '.' in Tool Use headers and frontmatter. "
        "Review the frontmatter to confirm the changes are correct."
    )
    assert chat.path.read_text() == old
    chat.keys("u")
    assert chat.text + "\n" == old


def test_a_file_that_needs_nothing_is_not_touched(start_chat: StartChat):
    chat = start_chat([], text="@You:\nhi\n")
    chat.editor.wait_for_host()
    chat.keys(":Flemma format<CR>")
    chat.wait_notified("Nothing to format.")
    assert not modified(chat)


@pytest.mark.parametrize("content", ["", "\n", "  \n\n"])
def test_a_blank_file_gets_a_prompt_to_type_into(start_chat: StartChat, content: str):
    # Acceptance 22.
    chat = start_chat([DONE], text=content)
    chat.wait_until(lambda: chat.text == "@You:\n")
    chat.wait_until(lambda: chat.editor.cursor() == (2, 0))
    chat.keys("iHello.<Esc>")
    chat.send()
    assert chat.wait_answered(ANSWERED).startswith("@You:\nHello.\n\n@Assistant:\nDone.")
    assert chat.path.read_text() == content


def test_bytes_that_are_no_text_are_sent_as_signs_and_saved_as_they_were(start_chat: StartChat):
    # B-14, L-04: a half character and a letter of another encoding.
    chat = start_chat([DONE, DONE], text="@You:\nx\n")
    raw = b"@You:\ncaf\xe9 \xed\xa0\xbd end\n"
    chat.path.write_bytes(raw)
    chat.editor.command("edit!")
    chat.wait_until(lambda: "end" in chat.editor.call("getline", 2))
    chat.send()
    chat.wait_until(
        lambda: chat.editor.call("getline", "$") == "" and len(chat.server.requests) == 1
    )
    chat.wait_unlocked()
    assert "end" in chat.history()
    chat.editor.command("write")
    assert chat.path.read_bytes() == raw[:-1] + b"\n\n@Assistant:\nDone.\n\n@You:\n\n"


def test_an_included_file_that_changed_between_two_sends_is_told_once(start_chat: StartChat):
    # Acceptance 112.
    chat = start_chat([DONE, DONE, DONE], prompt="See @./notes.md and go.")
    notes = chat.path.parent / "notes.md"
    notes.write_text("one")
    for number, content in enumerate(("one", "two", "two"), 1):
        notes.write_text(content)
        if number > 1:
            chat.keys("GoAgain.<Esc>")
        chat.send()
        chat.wait_until(lambda number=number: len(chat.server.requests) == number)
        chat.wait_answered(ANSWERED)
    told = [text for text in chat.told if "changed since last request" in text.lower()]
    assert len(told) == 1
    assert f"File changed since last request: {notes}" in told[0]
    assert "two" in chat.history()


def test_a_request_that_was_too_large_can_be_made_smaller_and_sent_again(start_chat: StartChat):
    # B-17: the chat is as before, and the user's to change.
    refusal = error(413, "request_too_large", "Request exceeds the maximum size")
    chat = start_chat([refusal, DONE], text="@You:\nLong text.\nShort text.\n")
    chat.send()
    chat.wait_until(lambda: chat.told)
    chat.wait_unlocked()
    assert "text of message 1 (user): " in chat.told[0]
    assert chat.text == "@You:\nLong text.\nShort text."
    chat.keys("2Gdd")
    chat.send()
    chat.wait_answered(ANSWERED)
    assert "Long text." not in chat.history()


def test_an_attachment_that_would_be_refused_holds_up_nothing_once_it_is_gone(
    start_chat: StartChat,
):
    # B-16.
    chat = start_chat([DONE], prompt="See @./wide.png please.")
    size = (9000).to_bytes(4, "big") + (20).to_bytes(4, "big")
    (chat.path.parent / "wide.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + size)
    chat.send()
    chat.wait_until(lambda: chat.told)
    chat.wait_unlocked()
    assert "wide.png: the image has 9000x20 pixels" in chat.told[0]
    assert chat.text == "@You:\nSee @./wide.png please."
    chat.keys("2Gccnothing<Esc>")
    chat.send()
    chat.wait_answered(ANSWERED)


def test_the_editor_lives_while_a_command_waits_for_a_pipe(start_chat: StartChat):
    # only the call is held up, and its time limit holds.
    command = bash("toolu_1", "echo begun > begun; cat pipe", timeout=2)
    chat = start_chat([message(command), DONE], tools={"auto_approve": ["bash"]})
    os.mkfifo(chat.path.parent / "pipe")
    begun = chat.path.parent / "begun"
    chat.send()
    chat.wait_until(begun.exists)
    chat.keys(":edit other.txt<CR>iI can type.<Esc>:write<CR>")
    assert (chat.path.parent / "other.txt").read_text() == "I can type.\n"
    chat.keys(f":buffer {chat.buffer}<CR>")
    chat.wait_answered(ANSWERED)
    assert chat.result("toolu_1")["content"] == "Command timed out after 2 seconds."
    assert chat.result("toolu_1")["is_error"] is True


def test_a_tool_reads_no_pipe_or_device(start_chat: StartChat):
    # E-24, X-06.
    calls = [tool_use(f"toolu_{n}", "read", {"label": "l", "path": path})
             for n, path in enumerate(("pipe", "/dev/zero", "/dev/stdin", "."))]  # fmt: skip
    chat = start_chat([message(*calls), DONE])
    os.mkfifo(chat.path.parent / "pipe")
    chat.send()
    chat.wait_answered(ANSWERED)
    assert [block["is_error"] for block in chat.results().values()] == [True] * 4


def test_the_text_of_an_answer_is_whole_after_a_save_and_a_reload(start_chat: StartChat):
    # L-02: what is added later comes after what was there.
    chat = start_chat([message(text("First answer.")), message(text("Second answer."))])
    chat.send()
    chat.wait_answered("First answer.\n\n@You:\n")
    chat.editor.command("write | bwipeout")
    chat.editor.open(chat.path)
    chat.buffer = chat.editor.call("bufnr")
    chat.keys("GoAnd?<Esc>")
    chat.send()
    chat.wait_answered("Second answer.\n\n@You:\n")
    assert "First answer." in chat.text
    assert "First answer." in chat.history()
    assert Path(chat.path).read_text().endswith("First answer.\n\n@You:\n\n")


def test_what_was_shown_of_an_answer_is_in_the_swap_file(start_chat: StartChat):
    # L-01: an editor that is killed leaves it for `:recover`, whether the chat was saved or not.
    chat = start_chat([cut(text("Words that nobody saved."), ending="hang")])
    chat.send()
    chat.wait_for("Words that nobody saved.")
    swap = Path(chat.editor.output("swapname").strip())
    chat.wait_until(lambda: b"Words that nobody saved." in swap.read_bytes(), message="swapped")
    assert "Words" not in chat.path.read_text()

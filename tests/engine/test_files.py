"""Chat files of every shape: what is read, what is refused, and that bytes are kept."""

import json
import os

import pytest

from tests.engine.conftest import Chat
from tests.support.anthropic_server import Recorded, message, text, tool_use

ANSWER = "@Assistant:\nHello.\n\n@You:\n"


def body_text(chat: Chat) -> str:
    return str(chat.bodies[-1]["messages"][-1]["content"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@You:\nHi.\n", f"@You:\nHi.\n\n{ANSWER}\n"),
        ("@You:\nHi.", f"@You:\nHi.\n\n{ANSWER}"),
        ("@You:\r\nHi.\r\n", f"@You:\nHi.\n\n{ANSWER}\n".replace("\n", "\r\n")),
        ("\ufeff@You:\nHi.\n", f"\ufeff@You:\nHi.\n\n{ANSWER}\n"),
        ("@You:\n\n\nHi.\n\n\n", f"@You:\n\n\nHi.\n\n\n{ANSWER}\n"),
        ("For people only.\n\n@You:\nHi.\n", f"For people only.\n\n@You:\nHi.\n\n{ANSWER}\n"),
        ("@You:\nÄ 🎉 e\u0301\u2028x\n", f"@You:\nÄ 🎉 e\u0301\u2028x\n\n{ANSWER}\n"),
        ("@You:\nnul \0 here\n", f"@You:\nnul \0 here\n\n{ANSWER}\n"),
    ],
    ids=["usual", "no final newline", "crlf", "bom", "blank lines", "preamble", "unicode", "nul"],
)
def test_what_was_in_the_file_stays_byte_for_byte(chat: Chat, before: str, after: str):
    chat.write(before)
    ran = chat.run(message(text("Hello.")))
    assert ran.code == 0
    assert ran.text == after


def test_line_endings_of_the_file_are_no_part_of_the_conversation(chat: Chat):
    chat.write("@You:\r\nHi.\r\nYou.\r\n")
    chat.run(message(text("Hello.")))
    assert "\\r" not in body_text(chat)


def test_stray_carriage_returns_stay_in_a_unix_file(chat: Chat):
    chat.write("@You:\nHi.\r\nYou.\n")
    ran = chat.run(message(text("Hello.")))
    assert ran.text.startswith("@You:\nHi.\r\nYou.\n")


@pytest.mark.parametrize(
    "content", ["", "\n", "  \n\n", "only a preamble\n", "@You:\n", "@You:\n\n"]
)
def test_a_file_with_nothing_to_say_is_refused_and_stays_as_it_is(chat: Chat, content: str):
    chat.write(content)
    ran = chat.run()
    assert ran.code == 1
    assert len(ran.messages) == 1
    assert ran.text == content
    assert ran.transcript == ""


def test_a_chat_that_was_answered_is_not_sent_again(chat: Chat):  # L-02
    chat.write("@You:\nHi.\n")
    chat.run(message(text("Hello.")))
    before = chat.text
    ran = chat.run()
    assert ran.code == 1
    assert ran.messages == ["Nothing to send: write a message below @You: first."]
    assert ran.text == before


def test_the_next_message_is_appended_to_what_was_said(chat: Chat):  # L-02
    chat.write("@You:\nHi.\n")
    first = chat.run(message(text("Hello.")))
    chat.write(first.text.rstrip() + "\nHow are you?\n")
    ran = chat.run(message(text("Fine.")))
    assert ran.text == (f"@You:\nHi.\n\n{ANSWER}How are you?\n\n@Assistant:\nFine.\n\n@You:\n\n")


def test_a_missing_file_is_unusable(chat: Chat):
    out, _ = chat.start("--json").communicate(timeout=20)
    report = json.loads(out)
    assert report["exit_code"] == 2
    assert report["outcome"] == "unusable"
    assert "No such file" in report["notifications"][0]["message"]


@pytest.mark.parametrize("content", [b"\xff\xfe@You:", b"@You:\n\x80\n"])
def test_a_binary_file_is_refused_and_stays_as_it_is(chat: Chat, content: bytes):  # L-04
    chat.path.write_bytes(content)
    child = chat.start()
    _, err = child.communicate(timeout=20)
    assert child.returncode == 2
    assert "is not UTF-8" in err
    assert chat.path.read_bytes() == content


def test_a_directory_and_a_fifo_are_refused_without_waiting(chat: Chat):  # E-24
    chat.path.mkdir()
    child = chat.start()
    child.communicate(timeout=20)
    assert child.returncode == 2
    chat.path.rmdir()
    os.mkfifo(chat.path)
    child = chat.start()
    _, err = child.communicate(timeout=20)
    assert child.returncode == 2
    assert "Not a regular file" in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_sent(chat: Chat):
    chat.write("@You:\nHi.\n")
    chat.path.chmod(0o444)
    ran = chat.run()
    assert ran.code == 2
    assert "Cannot write" in ran.notices


def test_mode_and_links_of_the_file_are_kept(chat: Chat):  # E-14, E-15
    real = chat.directory / "real.chat"
    real.write_text("@You:\nHi.\n")
    real.chmod(0o640)
    chat.path.symlink_to(real)
    ran = chat.run(message(text("Hello.")))
    assert ran.code == 0
    assert chat.path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_text().endswith(ANSWER + "\n")


def test_a_file_that_somebody_else_writes_meanwhile_is_left_to_them(chat: Chat):  # L-06
    chat.write("@You:\nHi.\n")

    def answer(request: Recorded):
        del request
        chat.write("@You:\nSomething else altogether.\n")
        return message(text("Hello."))

    ran = chat.run(answer)
    assert ran.code == 1
    assert ran.text == "@You:\nSomething else altogether.\n"
    assert sum("changed by somebody else" in entry for entry in ran.messages) == 1
    assert "Hello." in ran.transcript


def test_a_file_that_is_deleted_meanwhile_does_not_come_back(chat: Chat):
    chat.write("@You:\nHi.\n")

    def answer(request: Recorded):
        del request
        chat.path.unlink()
        return message(text("Hello."), tool_use("toolu_1", "bash", {"command": "touch ran"}))

    with pytest.raises(FileNotFoundError):
        chat.run(answer, approve=("bash",))
    assert not (chat.directory / "ran").exists()


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("```lua\nflemma.opt.tools = \n```\n", "frontmatter"),
        ("```lua\nwhile true do end\n```\n", "frontmatter"),
        ("```lua\nflemma.opt.nonsense = 1\n```\n", "nonsense"),
        ("```yaml\nflemma: [unclosed\n```\n", "frontmatter"),
        ('```json\n{"flemma": {"tools": ["bsah"]}}\n```\n', "did you mean 'bash'?"),
        ("```cobol\nMOVE 1 TO X.\n```\n", "Unsupported frontmatter language: cobol"),
    ],
)
def test_a_broken_frontmatter_refuses_the_run_and_names_the_reason(
    chat: Chat, block: str, reason: str
):  # L-04
    chat.write(block + "@You:\nHi.\n")
    before = chat.text
    ran = chat.run()
    assert ran.code == 1
    assert len(ran.messages) == 1
    assert reason in ran.messages[0]
    assert "Request blocked" in ran.messages[0]
    assert ran.text == before
    assert ran.report["diagnostics"][0]["severity"] == "error"


def script(chat: Chat) -> str:
    """Write a script of the demo model that answers at once."""
    path = chat.directory / "script.yaml"
    path.write_text("pace: {chunk: 100, delay: 0}\nturns:\n  - text: Hello.\n")
    return str(path)


def test_the_options_file_may_be_yaml_and_a_broken_one_refuses_every_run(chat: Chat):  # L-04
    directory = chat.directory.parent / "config" / "flemma"
    (directory / "config.json").unlink()
    options = directory / "config.yaml"
    options.write_text(f"provider: demo\nparameters: {{demo: {{script: {script(chat)}}}}}\n")
    chat.write("@You:\nHi.\n")
    assert chat.play().code == 0
    options.write_text("provider: [demo\n")
    before = chat.text
    ran = chat.run()
    assert ran.code == 2
    assert str(options) in ran.notices
    assert ran.text == before


def test_a_bad_option_is_told_and_the_rest_holds(chat: Chat):
    parameters = {"demo": {"script": script(chat)}}
    chat.configure({"provider": "demo", "nonsense": 1, "parameters": parameters})
    chat.write("@You:\nHi.\n")
    ran = chat.play()
    assert ran.code == 0
    assert ran.messages == ["unknown config keys: nonsense"]


def test_a_file_written_by_an_old_version_is_brought_up_to_date(chat: Chat):  # 1.12
    chat.write("@You: Hi.\n")
    ran = chat.run(message(text("Hello.")))
    assert ran.code == 0
    assert ran.text == f"@You:\nHi.\n\n{ANSWER}\n"

"""The main job: question, read, edit, a command that asks, result, answer (issue A)."""

from tests.editor.chats import Chat, StartChat, bash, read, waiting_result
from tests.support.anthropic_server import message, text, thinking, tool_use

GREETING = "def greet():\n    return 'hello'\n"
EDITED = "def greet():\n    return 'good day'\n"

MAIN_JOB = [
    message(
        thinking("I should look first.", signature="c2ln"),
        text("I read the file."),
        read("toolu_read", "greet.py"),
    ),
    message(
        text("Now I change it."),
        tool_use(
            "toolu_edit",
            "edit",
            {
                "label": "friendlier",
                "path": "greet.py",
                "oldText": "'hello'",
                "newText": "'good day'",
            },
        ),
    ),
    message(text("And I count the lines."), bash("toolu_bash", "wc -l < greet.py")),
    message(text("The greeting is "), text("friendlier now.")),
]

TRANSCRIPT = """\
@You:
Make the greeting friendlier.

@Assistant:
<thinking anthropic:signature="c2ln">
I should look first.
</thinking>
I read the file.

**Tool Use:** `read` (`toolu_read`)
```json
{"label": "a label", "path": "greet.py"}
```

@You:

**Tool Result:** `toolu_read`
```
def greet():
    return 'hello'
```

@Assistant:
Now I change it.

**Tool Use:** `edit` (`toolu_edit`)
```json
{"label": "friendlier", "path": "greet.py", "oldText": "'hello'", "newText": "'good day'"}
```

@You:

**Tool Result:** `toolu_edit`
```
EDIT_RESULT
```

@Assistant:
And I count the lines.

**Tool Use:** `bash` (`toolu_bash`)
```json
{"label": "a label", "command": "wc -l < greet.py"}
```

@You:

**Tool Result:** `toolu_bash`
```
2
```

@Assistant:
The greeting is friendlier now.

@You:
"""


def start_main_job(start_chat: StartChat) -> Chat:
    chat = start_chat(MAIN_JOB, prompt="Make the greeting friendlier.")
    (chat.editor.directory / "greet.py").write_text(GREETING)
    chat.send()
    chat.wait_for(waiting_result("toolu_bash", "pending"))
    return chat


def test_a_question_is_answered_with_a_read_an_edit_and_an_approved_command(start_chat: StartChat):
    chat = start_main_job(start_chat)
    chat.wait_cursor(waiting_result("toolu_bash", "pending"))
    chat.wait_until(lambda: chat.shown("bash: $ wc -l < greet.py — a label"))
    assert (chat.editor.directory / "greet.py").read_text() == EDITED

    chat.keys("<M-a>")
    chat.wait_for(waiting_result("toolu_bash", "approved"))
    assert len(chat.server.requests) == 3
    chat.send()
    answered = chat.wait_answered()

    edit_result = chat.result("toolu_edit")["content"]
    assert answered == TRANSCRIPT.replace("EDIT_RESULT", edit_result)
    assert list(chat.results()) == ["toolu_read", "toolu_edit", "toolu_bash"]
    assert chat.result("toolu_bash")["content"] == "2"
    chat.wait_until(lambda: chat.editor.cursor() == (len(chat.editor.lines()), 0))
    assert chat.told == []

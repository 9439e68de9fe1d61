"""Another model in the middle of a chat, and what the user says about a model."""

import json

import pytest

from tests.engine.conftest import Chat
from tests.support.anthropic_server import error, message, text, tool_use

FOREIGN = """\
@You:
Go.

@Assistant:
<thinking anthropic:signature="c2lnbmVkIGVsc2V3aGVyZQ==">
A thought of another model.
</thinking>
I look.

**Tool Use:** `bash` (`toolu_1`)
```json
{"command": "true"}
```

@You:

**Tool Result:** `toolu_1`
```
(no output)
```
"""
REFUSED = error(
    400,
    "invalid_request_error",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-sonnet-4-6"])
def test_thinking_that_another_model_signed_is_left_out_when_it_is_refused(chat: Chat, model: str):
    # B-08: in a tool loop as well, and for the rest of the conversation.
    chat.configure({"sandbox": {"enabled": False}, "model": model, "thinking": "low"})
    chat.write(FOREIGN)
    ran = chat.run(
        REFUSED,
        message(tool_use("toolu_2", "bash", {"command": "echo 2"})),
        message(text("Done.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert ran.messages == []
    sent = [json.dumps(body["messages"]) for body in chat.bodies]
    assert ["c2lnbmVkIGVsc2V3aGVyZQ==" in each for each in sent] == [True, False, False]
    assert "c2lnbmVkIGVsc2V3aGVyZQ==" in ran.text


def test_what_the_user_declares_about_a_model_wins_over_what_is_known(chat: Chat):  # S-21
    declared = {"anthropic": {"max_output_tokens": 9000}}
    chat.configure({"model": "claude-sonnet-4-6", "parameters": declared})
    chat.write("@You:\nGo.\n")
    chat.run(message(text("Yes.")))
    assert chat.bodies[0]["max_tokens"] == 4500
    chat.configure({"model": "a-model-of-my-own", "parameters": declared})
    chat.write("@You:\nGo.\n")
    ran = chat.run(message(text("Yes.")))
    assert ran.messages == []
    assert (chat.bodies[0]["model"], chat.bodies[0]["max_tokens"]) == ("a-model-of-my-own", 4500)

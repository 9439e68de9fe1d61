"""What must never spoil every later request: half characters, huge items, odd names and ids."""

import dataclasses
import json

import pytest

from tests.engine.bodies import calls, result_text, results
from tests.engine.conftest import Chat
from tests.support.anthropic_replies import Reply
from tests.support.anthropic_server import error, message, raw, text, thinking, tool_use

QUESTION = "@You:\nPlease go on.\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def with_halves(reply: Reply) -> Reply:
    """Put half of a surrogate pair, as JSON carries it, wherever the reply says HALF."""
    body = tuple(
        piece.replace(b"HALF", b"\\ud83d") if isinstance(piece, bytes) else piece
        for piece in reply.body
    )
    return dataclasses.replace(reply, body=body)


def test_half_characters_from_the_model_spoil_no_later_request(chat: Chat):  # B-14, B-15
    chat.write(QUESTION)
    ran = chat.run(
        with_halves(
            message(
                thinking("Hm HALF", signature="c2ln"),
                text("A cat: HALF."),
                tool_use("toolu_1", "bash", '{"label": "HALF", "command": "echo 1HALF"}'),
                tool_use("toolu_2", "write", '{"label": "HALF", "path": "f", "content": "aHALFb"}'),
                tool_use("toolu_3", "read", '{"label": "l", "path": "HALF"}'),
                tool_use("toolu_4", "bash", '{"label": "l", "command": "echo HALF'),
            )
        ),
        message(text("Fine.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert list(results(chat.bodies[-1])) == [f"toolu_{number}" for number in range(1, 5)]
    assert chat.path.read_bytes().decode("utf-8") == ran.text
    assert (chat.directory / "f").read_bytes() == "a\ufffdb".encode()
    chat.write(ran.text + "And now?\n")
    assert chat.run(message(text("Done."))).code == 0


def test_characters_cut_by_a_command_spoil_no_later_request(chat: Chat):  # B-14, X-15
    chat.write(QUESTION)
    ran = chat.run(
        message(
            tool_use("toolu_1", "bash", {"command": "printf '😀' | head -c 2; printf '\\x9c'"})
        ),
        message(text("Fine.")),
        approve=("bash",),
    )
    assert ran.code == 0
    assert result_text(results(chat.bodies[-1])["toolu_1"]) == "\\xf0\\x9f\\x9c"


BIG_IMAGE = PNG + (9000).to_bytes(4, "big") + (20).to_bytes(4, "big")
LONG_PDF = b"%PDF-1.4\n\xff" + b"<</Type /Page>>\n" * 601


@pytest.mark.parametrize(
    ("name", "data", "blame"),
    [
        ("too wide.png", BIG_IMAGE, "too wide.png: the image has 9000x20 pixels"),
        ("long.pdf", LONG_PDF, "long.pdf: the document has 601 pages"),
        ("heavy.png", PNG + bytes(5_000_000), "heavy.png: the image is 4.8MB"),
    ],
)
def test_an_attachment_that_would_be_refused_is_blamed_and_can_be_dropped(
    chat: Chat, name: str, data: bytes, blame: str
):  # B-16
    (chat.directory / name).write_bytes(data)
    chat.write(f"@You:\nLook at @./{name.replace(' ', '%20')} and say.\n")
    ran = chat.run()
    assert ran.code == 1
    [told] = ran.messages
    assert blame in told
    assert ran.text == chat.text
    chat.replace(f"@./{name.replace(' ', '%20')}", "nothing")
    assert chat.run(message(text("Nothing."))).code == 0


REFUSED = {
    "size": error(413, "request_too_large", "Request exceeds the maximum size"),
    "html": raw("<html>413 Request Entity Too Large</html>", status=413),
    "tokens": error(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
}


@pytest.mark.parametrize("refusal", REFUSED)
def test_a_request_that_is_too_large_names_its_largest_items_and_works_without_them(
    chat: Chat, refusal: str
):  # B-17
    chat.write(QUESTION)
    chat.run(
        message(tool_use("toolu_big", "bash", {"command": "seq 9000"})),
        message(tool_use("toolu_small", "bash", {"command": "echo small"})),
        message(text("Done.")),
        approve=("bash",),
    )
    chat.write(chat.text + "And now?\n")
    before = chat.text
    ran = chat.run(REFUSED[refusal])
    assert ran.code == 1
    assert ran.text == before
    [told] = ran.messages
    assert "\nThe largest items are:\nresult of tool call toolu_big: " in told
    head, _, tail = before.partition("**Tool Use:** `bash` (`toolu_big`)")
    chat.write(head + "**Tool Use:**" + tail.partition("**Tool Use:**")[2])
    assert chat.run(message(text("Smaller now."))).code == 0
    assert "toolu_big" not in json.dumps(chat.bodies[-1])


def test_ids_that_the_service_refuses_are_bent_alike_on_both_sides(chat: Chat):  # B-19
    odd = ["call:1|a b", "call:1|a_b", "é", "x" * 90, "x" * 90 + "y", "urn:flemma:tool:bash:6-ab"]
    uses = "\n".join(f"**Tool Use:** `bash` (`{each}`)\n```json\n{{}}\n```\n" for each in odd)
    given = "\n".join(f"**Tool Result:** `{each}`\n```\n{each}\n```\n" for each in reversed(odd))
    chat.write(f"@You:\nGo.\n\n@Assistant:\n{uses}\n@You:\n{given}\nAnd?\n")
    before = chat.text
    ran = chat.run(message(text("Fine.")))
    body = chat.bodies[0]
    assert len(set(calls(body))) == len(odd)
    assert [result_text(results(body)[each]) for each in calls(body)] == odd
    assert ran.text.startswith(before)
    chat.write(ran.text + "Again.\n")
    chat.run(message(text("Fine.")))
    assert calls(chat.bodies[0]) == calls(body)


def test_numbers_given_as_text_are_numbers(chat: Chat):  # B-23
    chat.write(QUESTION)
    (chat.directory / "lines").write_text("1\n2\n3\n4\n")
    chat.run(
        message(
            tool_use("toolu_1", "read", {"path": "lines", "offset": "2", "limit": "1"}),
            tool_use("toolu_2", "bash", {"command": "sleep 20", "timeout": "0.2"}),
            tool_use("toolu_3", "read", {"path": "lines", "offset": "two"}),
            tool_use("toolu_4", "grep", {"pattern": "[0-9]", "limit": "1", "path": "lines"}),
        ),
        message(text("Fine.")),
        approve=("bash",),
    )
    found = {name: result_text(block) for name, block in results(chat.bodies[-1]).items()}
    assert found["toolu_1"] == "2\n\n[2 more lines in file. Use offset=3 to continue.]"
    assert found["toolu_2"] == "Command timed out after 0.2 seconds."
    assert "offset" in found["toolu_3"]
    assert found["toolu_4"].startswith("lines:1:1\n")
    assert '"offset": "2"' in chat.text


LONG_NAMES = '''
import flemma.tools
from flemma import schema as s

def tool(name):
    flemma.tools.register(
        name,
        description="x",
        input_schema=s.object({}),
        execute=lambda input, ctx: {"success": True, "output": name},
    )

for name in NAMES:
    tool(name)

flemma.tools.register("broken", description="x", input_schema={"type": "array"}, execute=tool)
'''  # fmt: skip


def test_names_that_the_service_refuses_are_mapped_both_ways(chat: Chat):  # B-18
    long = "github_enterprise.repository_management_and_more.list_all_pull_requests_of"
    names = [f"{long}_one", f"{long}_two", "a tool/with (signs)", "7zip", "server.tool", "wörter"]
    module = chat.directory / "many.py"
    module.write_text(LONG_NAMES.replace("NAMES", repr(names)))
    chat.configure({"sandbox": {"enabled": False}, "tools": {"modules": [str(module)]}})
    chat.write(QUESTION)
    offered: dict[str, str] = {}

    def call_all(request: object):
        del request
        tools = chat.bodies[0]["tools"]
        built_in = {"bash", "edit", "find", "flemma__jobs__status", "grep", "ls", "read", "write"}
        wire = [tool["name"] for tool in tools if tool["name"] not in built_in]
        offered.update({f"toolu_{number}": name for number, name in enumerate(wire)})
        return message(*(tool_use(each, name, {}) for each, name in offered.items()))

    ran = chat.run(call_all, message(text("Fine.")), approve=("*",))
    assert ran.code == 0
    assert len(offered) == len(names)
    told = results(chat.bodies[-1])
    assert sorted(result_text(told[each]) for each in offered) == sorted(names)
    assert all(f"**Tool Use:** `{name}` (" in ran.text for name in names)
    [problem] = ran.messages
    assert "broken" in problem
    used = [
        block["name"]
        for entry in chat.bodies[-1]["messages"]
        if entry["role"] == "assistant"
        for block in entry["content"]
        if block["type"] == "tool_use"
    ]
    assert used == list(offered.values())
    assert json.dumps(chat.bodies[0]["tools"]) == json.dumps(chat.bodies[1]["tools"])

"""Tools that the user wrote in Python, in a run without an editor."""

import signal

from tests.engine.bodies import result_text, results
from tests.engine.conftest import Chat
from tests.support.anthropic_server import message, serving, text, tool_use
from tests.support.wait import wait_until

QUESTION = "@You:\nPlease go on.\n"
TOOLS = """
import time
import flemma.tools

def shout(input, ctx):
    return {"success": True, "output": input["words"].upper() + "!"}

def stubborn(input, ctx):
    open("stubborn", "w").close()
    time.sleep(600)

schema = {"type": "object", "properties": {"words": {"type": "string"}}}
flemma.tools.register("shout", description="Shouts.", input_schema=schema, execute=shout)
flemma.tools.register("stubborn", description="Hangs.", input_schema=schema, execute=stubborn)
"""


def with_tools(chat: Chat, source: str = TOOLS) -> None:
    path = chat.directory / "my_tools.py"
    path.write_text(source)
    chat.configure({"sandbox": {"enabled": False}, "tools": {"modules": [str(path)]}})
    chat.write(QUESTION)


def test_a_tool_of_a_module_is_offered_approved_by_name_and_run(chat: Chat):
    with_tools(chat)
    with serving([message(tool_use("toolu_1", "shout", {"words": "hello"})), message(text("Loud."))]
                 ) as server:  # fmt: skip
        chat.serve(server)
        ran = chat.finish(chat.start("--approve", "shout"))
    assert ran.code == 0, ran.notices
    assert ran.notices == ""
    assert "shout" in [tool["name"] for tool in chat.bodies[0]["tools"]]
    assert result_text(results(chat.bodies[-1])["toolu_1"]) == "HELLO!"


def test_a_tool_that_cannot_be_stopped_does_not_keep_the_program(chat: Chat):
    with_tools(chat)
    with serving([message(tool_use("toolu_1", "stubborn", {}))]) as server:
        chat.serve(server)
        child = chat.start("--approve", "stubborn")
        wait_until(lambda: (chat.directory / "stubborn").exists(), timeout=20)
        child.send_signal(signal.SIGINT)
        ran = chat.finish(child, timeout=15)
    assert ran.code == 130
    assert "User aborted tool execution." in ran.text


def test_a_module_that_hangs_while_it_loads_can_be_interrupted(chat: Chat):
    with_tools(chat, "open('loading', 'w').close()\nimport time\ntime.sleep(600)\n")
    with serving([]) as server:
        chat.serve(server)
        child = chat.start()
        wait_until(lambda: (chat.directory / "loading").exists(), timeout=20)
        child.send_signal(signal.SIGINT)
        ran = chat.finish(child, timeout=15)
    assert ran.code == 130
    assert ran.text == QUESTION
    assert server.requests == []


def test_a_module_that_fails_is_told_and_the_run_goes_on(chat: Chat):
    with_tools(chat, "raise RuntimeError('not today')\n")
    with serving([message(text("Hello."))]) as server:
        chat.serve(server)
        ran = chat.finish(chat.start())
    assert ran.code == 0
    assert "could not be loaded: RuntimeError: not today" in ran.notices

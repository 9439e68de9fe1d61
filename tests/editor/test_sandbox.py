"""The sandbox in a real Neovim: bubblewrap really confines, and nothing runs unconfined unasked."""

import os
import socket
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.editor.tool_support import (
    DONE,
    call,
    calls,
    conversation,
    result_of,
    result_text,
    send,
)
from tests.support.anthropic_server import AnthropicServer, message, text
from tests.support.nvim import Editor

MISSING = (
    "Tool execution is not sandboxed — no compatible backend found. Run :Flemma sandbox:status for "
    "details, or set sandbox.enabled = false to disable."
)
NOWHERE = {"sandbox": {"backends": {"bwrap": {"path": "/no/such/bwrap"}}}}


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"label": "l", "command": command, "timeout": None, **more}


def said(editor: Editor) -> list[str]:
    return [notification.text for notification in editor.notifications()]


@contextmanager
def ran(
    name: str, tool_input: Mapping[str, Any], *, approve: bool = False, **more: Any
) -> Iterator[tuple[Editor, AnthropicServer]]:
    """Let the model make one call; ``approve`` says yes when Flemma asks."""
    with conversation([call(name, tool_input), DONE], **more) as (editor, server):
        send(editor)
        if approve:
            editor.wait_for_text("(pending)")
            editor.command("Flemma tool:approve-all")
            editor.wait_for_text("(approved)")
            send(editor)
        editor.wait_for_text("All done.")
        yield editor, server


def outcome(command: str, **more: Any) -> tuple[str, bool]:
    with ran("bash", bash(command), **more) as (_, server):
        return result_text(server), bool(result_of(server).get("is_error"))


@pytest.fixture
def outside() -> Iterator[Path]:
    """A directory that is no part of the default policy, which allows the chat's and /tmp."""
    path = Path(f"/var/tmp/flemma-test-{os.getpid()}")
    path.mkdir()
    yield path
    for left in path.iterdir():
        left.unlink()
    path.rmdir()


def test_writing_beside_the_chat_works_and_leaves_nothing_else_behind() -> None:
    with ran("bash", bash("echo hello > made.txt; cat made.txt")) as (editor, server):
        assert result_text(server) == "hello"
        left = sorted(path.name for path in editor.directory.iterdir())
        assert left == ["made.txt", "work.chat"]


def test_writing_outside_fails_and_the_result_says_why(outside: Path) -> None:
    """Case K-04."""
    found, is_error = outcome(f"echo x > {outside}/x")
    assert is_error
    assert "Read-only file system" in found
    assert "[The sandbox allows writing only below " in found
    assert list(outside.iterdir()) == []


def test_a_trailing_slash_in_the_policy_changes_nothing(outside: Path) -> None:
    """Case K-04."""
    options = {"sandbox": {"policy": {"rw_paths": [f"{outside}/"]}}}
    assert outcome(f"touch {outside}/ok && echo fine", options=options) == ("fine", False)


def test_a_working_directory_that_may_not_be_written_is_no_obstacle(outside: Path) -> None:
    """Case K-05."""
    options = {"sandbox": {"policy": {"rw_paths": [str(outside)]}}}
    with ran("bash", bash("pwd; touch here"), options=options) as (editor, server):
        found = result_text(server)
        assert found.startswith(str(editor.directory))
        assert "Read-only file system" in found
        assert [path.name for path in editor.directory.iterdir()] == ["work.chat"]


def test_programs_below_the_home_directory_can_be_used(tmp_path: Path) -> None:
    """Case K-06."""
    tool = tmp_path / "bin" / "greet"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho greetings\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    path = f"{tool.parent}:{os.environ['PATH']}"
    assert outcome("greet", environment={"PATH": path}) == ("greetings", False)


@pytest.mark.parametrize(("network", "reached"), [(True, True), (False, False)])
def test_the_network_is_there_or_not_as_the_policy_says(network: bool, reached: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: _accept(server), daemon=True).start()
        port = server.getsockname()[1]
        options = {"sandbox": {"policy": {"network": network}}}
        found, is_error = outcome(f"exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3", options=options)
    assert (found == "connected") is reached
    assert is_error is not reached


def _accept(server: socket.socket) -> None:
    try:
        connection, _ = server.accept()
        connection.sendall(b"connected")
        connection.close()
    except OSError:
        return


def test_grep_and_find_are_confined_as_well_and_so_is_the_choice_of_their_programs(
    outside: Path,
) -> None:
    """Programs in place of ripgrep and fd try to leave a trace; confined they cannot."""
    for name in ("rg", "fd"):
        (outside / name).write_text(f"#!/bin/sh\ntouch {outside}/escaped-{name}\necho fd; exit 1\n")
        (outside / name).chmod(0o755)
    replies = [
        calls(
            ("g", "grep", {"label": "l", "pattern": "x"}),
            ("f", "find", {"label": "l", "pattern": "*"}),
        ),
        DONE,
    ]
    path = f"{outside}:{os.environ['PATH']}"
    with conversation(replies, environment={"PATH": path}) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert sorted(file.name for file in outside.iterdir()) == ["fd", "rg"]
        assert result_text(server, "g") == "No matches found."


def test_children_of_a_confined_command_die_with_the_host() -> None:
    with conversation([call("bash", bash("sleep 4711 & sleep 4712", timeout=600))]) as (editor, _):
        send(editor)
        editor.wait_until(lambda: len(_sleeping(editor)) == 2)
        editor.kill_host()
        editor.wait_until(lambda: _sleeping(editor) == [])


def test_cancelling_ends_everything_a_confined_command_started() -> None:
    with conversation([call("bash", bash("sleep 4713 & sleep 4714", timeout=600))]) as (editor, _):
        send(editor)
        editor.wait_until(lambda: len(_sleeping(editor)) == 2)
        editor.keys("<C-c>")
        editor.wait_for_text("User aborted tool execution.")
        editor.wait_until(lambda: _sleeping(editor) == [])


def _sleeping(editor: Editor) -> list[int]:
    return [pid for pid in editor.processes() if b"sleep\x00471" in _command_line(pid)[:12]]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_off_is_off() -> None:
    """Case K-07: a backend that would leave a trace is not even asked."""
    lua = """
      require("flemma.sandbox").register("trace", {
        priority = 900,
        available = function() _G.asked = true return true end,
        wrap = function(policy, options, command) _G.asked = true return command end,
      })
    """
    options = {"sandbox": {"enabled": False}}
    with ran(
        "bash", bash("readlink /proc/self/ns/mnt"), lua=lua, options=options, approve=True
    ) as (
        editor,
        server,
    ):
        assert result_text(server) == str(Path("/proc/self/ns/mnt").readlink())
        assert editor.exec_lua("return _G.asked") is None


def test_required_without_a_backend_warns_on_entering_and_runs_nothing(outside: Path) -> None:
    """Case K-01."""
    options = {"sandbox": {**NOWHERE["sandbox"], "backend": "required"}}
    command = bash(f"touch {outside}/escaped")
    with ran("bash", command, options=options, approve=True) as (editor, server):
        assert said(editor)[0] == MISSING
        assert result_of(server)["is_error"] is True
        found = result_text(server)
        assert found.startswith("Sandbox error: No sandbox backend available (bwrap: ")
        assert "not found at '/no/such/bwrap'" in found
        assert list(outside.iterdir()) == []


def test_auto_without_a_backend_runs_what_the_user_approved() -> None:
    with ran("bash", bash("echo free"), options=NOWHERE, approve=True) as (editor, server):
        assert result_text(server) == "free"
        assert said(editor) == []


def test_a_backend_whose_namespaces_are_blocked_is_told_with_its_remedy(tmp_path: Path) -> None:
    """Case K-01."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    options = {"sandbox": {"backend": "required", "backends": {"bwrap": {"path": str(fake)}}}}
    with conversation([message(text("Hi."))], options=options) as (editor, _):
        editor.wait_until(lambda: said(editor) == [MISSING])
        editor.command("Flemma sandbox:enable")
        editor.wait_until(lambda: len(said(editor)) == 2)
        assert said(editor)[1].startswith("Cannot enable sandbox: No sandbox backend available")
        assert "No permissions to create new namespace" in said(editor)[1]
        assert "AppArmor" in said(editor)[1]


def test_disabling_and_enabling_at_run_time_beats_the_frontmatter(outside: Path) -> None:
    command = bash(f"touch {outside}/x && echo wrote")
    replies = [call("bash", command, "a"), DONE, call("bash", command, "b"), DONE]
    frontmatter = (
        "```lua\nflemma.opt.sandbox.enabled = true\nflemma.opt.tools.auto_approve = {'bash'}\n```"
    )
    with conversation(replies, frontmatter=frontmatter) as (editor, server):
        editor.command("Flemma sandbox:disable")
        editor.wait_until(lambda: said(editor) == ["Sandbox disabled"])
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server, "a") == "wrote"
        editor.command("Flemma sandbox:enable")
        editor.wait_until(lambda: said(editor)[-1] == "Sandbox enabled")
        editor.keys("GoAgain.<Esc>")
        send(editor)
        editor.wait_until(lambda: editor.text().count("All done.") == 2)
        assert "Read-only file system" in result_text(server, "b")


@pytest.mark.parametrize(
    ("frontmatter", "allowed"),
    [
        ("flemma.opt.sandbox.policy.rw_paths = {'urn:flemma:cwd'}", False),
        ("flemma.opt.sandbox.policy.rw_paths:append('%s')", True),
        ("flemma.opt.sandbox.policy.rw_paths:append('${NO_SUCH:-%s}')", True),
        ("flemma.opt.sandbox.policy.rw_paths:append('$NO_SUCH')", False),
        ("flemma.opt.sandbox.enabled = false", True),
    ],
)
def test_a_chat_has_a_policy_of_its_own(outside: Path, frontmatter: str, allowed: bool) -> None:
    settings = frontmatter.replace("%s", str(outside))
    found, _ = outcome(
        f"touch {outside}/x && echo wrote",
        options={"tools": {"auto_approve": ["bash"]}},
        frontmatter=f"```lua\n{settings}\n```",
    )
    assert (found == "wrote") is allowed


CUSTOM = """
require("flemma.sandbox").register("box", {
  priority = 500,
  description = "Marks what it confines",
  available = function(options) return true end,
  wrap = function(policy, options, command)
    if policy.network then return nil, "this box has no network" end
    local wrapped = { "env", "BOX=" .. table.concat(policy.rw_paths, ":") }
    return vim.list_extend(wrapped, command)
  end,
})
"""


@pytest.mark.parametrize("backend", ["box", "auto", "required"])
def test_a_backend_written_in_lua_confines(backend: str) -> None:
    options = {"sandbox": {"backend": backend, "policy": {"network": False}}}
    with ran("bash", bash("echo $BOX"), lua=CUSTOM, options=options) as (editor, server):
        # It stands for the directory of the chat as well.
        assert result_text(server) == "/tmp"
        assert editor.directory.is_relative_to("/tmp")


def test_the_reason_of_a_lua_backend_reaches_the_model() -> None:
    found, is_error = outcome("true", lua=CUSTOM, options={"sandbox": {"backend": "box"}})
    assert (found, is_error) == ("Sandbox error: this box has no network", True)


def test_a_lua_tool_is_wrapped_by_a_lua_backend() -> None:
    lua = (
        CUSTOM
        + """
    require("flemma.tools").register("probe", {
      description = "Probe", input_schema = { type = "object" },
      execute = function(input, ctx)
        local wrapped, err = ctx.sandbox.wrap_command({ "true" })
        return { success = true, output = err or wrapped[1] .. " " .. wrapped[3] }
      end,
    })
    """
    )
    for network, expected in ((False, "env true"), (True, "this box has no network")):
        options = {
            "sandbox": {"policy": {"network": network}},
            "tools": {"auto_approve": ["probe"]},
        }
        with ran("probe", {}, lua=lua, options=options) as (_, server):
            assert result_text(server) == expected


APPROVAL = [
    ({}, "", True),
    ({"tools": {"auto_approve_sandboxed": False}}, "", False),
    ({"sandbox": {"enabled": False}}, "", False),
    (NOWHERE, "", False),
    ({}, "flemma.opt.tools.auto_approve:remove('bash')", False),
    ({}, "flemma.opt.tools.auto_approve = { '$readonly' }", False),
    ({}, "flemma.opt.tools.auto_approve:append('grep')", True),
    ({}, "flemma.opt.sandbox.enabled = false", False),
    ({"tools": {"auto_approve": []}}, "", True),
]


@pytest.mark.parametrize(("options", "frontmatter", "approved"), APPROVAL)
def test_a_confined_command_is_approved_under_all_conditions(
    options: dict[str, Any], frontmatter: str, approved: bool
) -> None:
    """Acceptance 62."""
    head = f"```lua\n{frontmatter}\n```" if frontmatter else ""
    replies = [call("bash", bash("echo confined")), DONE]
    with conversation(replies, options=options, frontmatter=head) as (editor, server):
        send(editor)
        if approved:
            editor.wait_for_text("All done.")
            assert result_text(server) == "confined"
        else:
            editor.wait_for_text("**Tool Result:** `toolu_1` (pending)")
            assert len(server.requests) == 1


def test_a_sandbox_disabled_for_the_session_approves_nothing() -> None:
    with conversation([call("bash", bash("true")), DONE]) as (editor, server):
        editor.command("Flemma sandbox:disable")
        editor.wait_until(lambda: said(editor) == ["Sandbox disabled"])
        send(editor)
        editor.wait_for_text("(pending)")
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "tool_input", "reason"),
    [
        ("write", {"path": "%s/f", "content": "x"}, "write denied"),
        ("edit", {"path": "%s/f", "oldText": "a", "newText": "b"}, "edit denied"),
    ],
)
def test_write_and_edit_keep_to_the_policy_even_without_a_backend(
    outside: Path, name: str, tool_input: dict[str, Any], reason: str
) -> None:
    """Acceptance 76."""
    values = {key: value.replace("%s", str(outside)) for key, value in tool_input.items()}
    with ran(name, {"label": "l", **values}, options=NOWHERE) as (_, server):
        assert result_text(server) == (
            f"Sandbox: {reason} – path is outside writable directories: {outside}/f"
        )

"""The tool result store in a real Neovim (issue D; spec: tools, "Tool result store")."""

from pathlib import Path
from typing import Any

import pytest

from tests.editor.chats import Chat, StartChat, bash
from tests.editor.job_support import GATE, PATIENT, delivered, one_job
from tests.support.anthropic_server import message, text, tool_use

DONE = message(text("All done."))
UNCONFINED = {"sandbox": {"enabled": False}}


def run(start_chat: StartChat, *calls: Any, **options: Any) -> Chat:
    """Let the model make calls, and wait for its answer to their results."""
    options.setdefault("options", UNCONFINED)
    tools = {**PATIENT, **options.pop("tools", {})}
    chat = start_chat([message(*calls), DONE], tools=tools, **options)
    chat.send()
    chat.wait_for("All done.", timeout=30)
    chat.wait_answered()
    return chat


def store_of(chat: Chat) -> Path:
    """Return the default store directory of a chat."""
    return chat.path.parent / ".flemma" / chat.path.name


def content(chat: Chat, identifier: str = "toolu_1") -> str:
    """Return the text of a result as the model got it."""
    found = chat.result(identifier)["content"]
    return found if isinstance(found, str) else "".join(part["text"] for part in found)


def test_long_output_is_cut_and_kept_beside_the_chat(start_chat: StartChat) -> None:
    chat = run(start_chat, bash("toolu_1", "seq 1 2001"))  # acceptance 68
    path = store_of(chat) / "tool_bash_toolu_1.txt"
    lines = [str(number) for number in range(1, 2002)]
    assert path.read_text() == "\n".join(lines)
    notice = f"[Showing lines 2-2001 of 2001. Full output: {path}]"
    assert content(chat) == "\n".join(lines[1:]) + f"\n\n{notice}"


def test_output_that_just_fits_is_not_stored(start_chat: StartChat) -> None:
    chat = run(start_chat, bash("toolu_1", "seq 1 2000"))
    assert content(chat).split("\n") == [str(number) for number in range(1, 2001)]
    assert not store_of(chat).exists()


def test_a_single_line_of_ten_megabytes(start_chat: StartChat) -> None:  # case X-16
    chat = run(start_chat, bash("toolu_1", "head -c 10000000 /dev/zero | tr '\\0' x"))
    path = store_of(chat) / "tool_bash_toolu_1.txt"
    assert path.stat().st_size == 10_000_000
    notice = f"[Showing last 50.0KB of line 1. Full output: {path}]"
    assert content(chat) == "x" * 51200 + f"\n\n{notice}"
    assert host_peak(chat) < 150


def host_peak(chat: Chat) -> float:
    """Return the most memory in MB that the host ever held."""
    status = Path(f"/proc/{chat.editor.host_pid()}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def test_endless_output_is_kept_in_a_file_and_not_in_memory(start_chat: StartChat) -> None:
    call = bash("toolu_1", "yes | head -c 60M", **{"flemma.save_to": "copy.txt"})  # case X-12
    chat = run(start_chat, call)
    path = chat.path.parent / "copy.txt"
    assert content(chat).endswith(f"[Output saved: {path} — 60.0MB, 31457280 lines]")
    assert path.stat().st_size == (store_of(chat) / "tool_bash_toolu_1.txt").stat().st_size
    assert host_peak(chat) < 150


def test_a_second_run_backs_up_the_first(start_chat: StartChat) -> None:  # acceptance 82
    chat = run(start_chat, bash("toolu_1", "echo x >> n; seq 1 3000; wc -l < n"))
    chat.put_cursor("**Tool Result:** `toolu_1`")
    chat.keys("<M-CR>")
    old = store_of(chat) / "tool_bash_toolu_1.1.txt"
    chat.wait_until(old.exists, message="a backup")
    chat.wait_unlocked()
    assert old.read_text().endswith("\n1")
    assert (store_of(chat) / "tool_bash_toolu_1.txt").read_text().endswith("\n2")


def test_the_model_redirects_output_into_a_file(start_chat: StartChat) -> None:
    chat = run(
        start_chat,
        bash("toolu_1", "seq 1 100000", **{"flemma.save_to": "out/numbers.txt"}),
        bash("toolu_2", "echo small", **{"flemma.save_to": "$FLEMMA_TOOLS_STORE_PATH/s.txt"}),
    )
    target = chat.path.parent / "out" / "numbers.txt"
    preview = "\n".join(str(number) for number in range(1, 11))
    assert content(chat) == f"{preview}\n\n[Output saved: {target} — 575.1KB, 100000 lines]"
    assert target.read_text().split("\n") == [str(number) for number in range(1, 100_001)]
    small = store_of(chat) / "s.txt"
    assert content(chat, "toolu_2") == f"small\n\n[Output saved: {small} — 5B, 1 lines]"
    assert small.read_text() == "small"


def test_a_refused_target_shows_the_output(start_chat: StartChat) -> None:  # acceptance 83
    chat = run(start_chat, bash("toolu_1", "echo here", **{"flemma.save_to": "out/"}))
    assert content(chat) == (
        "here\n\n[Output not saved: save_to target 'out/' is a directory — append a filename. "
        "Showing the full output instead.]"
    )


def test_what_fails_is_not_redirected(start_chat: StartChat) -> None:
    chat = run(start_chat, bash("toolu_1", "echo no; exit 1", **{"flemma.save_to": "out.txt"}))
    assert content(chat) == "no\n\nCommand exited with code 1"
    assert not (chat.path.parent / "out.txt").exists()


def test_jobs_store_and_redirect_under_their_own_id(start_chat: StartChat) -> None:
    background = {"flemma.background": True}
    call = bash("toolu_job", f"{GATE.command}; seq 1 3000", **background)
    saving = bash("toolu_save", GATE.command, **background, **{"flemma.save_to": "out.txt"})
    chat = start_chat(
        [message(call, saving), message(text("It runs."))], tools=PATIENT, options=UNCONFINED
    )
    job = one_job(chat)
    GATE.open(chat)
    chat.wait_until(lambda: len(delivered(chat)) == 2)
    path = store_of(chat) / f"job_bash_{job}.txt"
    assert f"Full output: {path}]" in chat.text
    assert path.read_text().startswith("output of gate\n1\n2\n")
    out = chat.path.parent / "out.txt"
    assert f"output of gate\n\n[Output saved: {out} — 14B, 1 lines]\n```" in chat.text
    assert out.read_text() == "output of gate"


@pytest.mark.parametrize("sandboxed", [False, True])
def test_commands_and_file_tools_know_the_store(start_chat: StartChat, sandboxed: bool) -> None:
    """The directory does not exist before: who writes there first makes it."""
    label = {"label": "a label"}
    store = "$FLEMMA_TOOLS_STORE_PATH"
    edit = {"path": f"{store}/b.txt", "oldText": "two", "newText": "three"}
    policy = {"rw_paths": ["urn:flemma:store"]}
    chat = run(
        start_chat,
        bash("toolu_1", f'echo one > "{store}/a.txt"; cat "{store}/a.txt"'),
        tool_use("toolu_2", "write", {**label, "path": f"{store}/b.txt", "content": "two\n"}),
        tool_use("toolu_3", "edit", {**label, **edit}),
        tool_use("toolu_4", "read", {**label, "path": f"{store}/b.txt"}),
        bash("toolu_5", "touch outside.txt"),
        tools={"max_concurrent": 1},
        options={"sandbox": {"enabled": sandboxed, "policy": policy}},
    )
    assert content(chat) == "one"
    assert (store_of(chat) / "a.txt").read_text() == "one\n"
    assert (store_of(chat) / "b.txt").read_text() == "three\n"
    assert content(chat, "toolu_4").startswith("three")
    confined = chat.result("toolu_5").get("is_error") is True
    assert confined is not (chat.path.parent / "outside.txt").exists()


def test_redirecting_into_the_store_is_allowed_before_it_exists(start_chat: StartChat) -> None:
    chat = run(
        start_chat,
        bash("toolu_1", "echo one", **{"flemma.save_to": "$FLEMMA_TOOLS_STORE_PATH/a.txt"}),
        bash("toolu_2", "echo two", **{"flemma.save_to": "denied.txt"}),
        options={"sandbox": {"enabled": True, "policy": {"rw_paths": ["urn:flemma:store"]}}},
    )
    assert (store_of(chat) / "a.txt").read_text() == "one"
    reason = "save_to destination 'denied.txt' is not writable under sandbox policy"
    assert content(chat, "toolu_2").startswith(f"two\n\n[Output not saved: {reason}.")


def test_a_file_has_its_own_store_settings(start_chat: StartChat) -> None:
    head = (
        "```lua\n"
        "flemma.opt.tools.store.path_format = '{{ __dirname }}/kept/{{ name }}-{{ id }}.log'\n"
        "flemma.opt.tools.store.materialize = true\n"
        "```\n\n@You:\nGo.\n"
    )
    chat = run(start_chat, bash("toolu_1", "echo kept"), text=head)
    assert (chat.path.parent / "kept" / "bash-toolu_1.log").read_text() == "kept"
    assert content(chat) == "kept"


def test_a_buffer_without_a_file_has_a_store_too(start_chat: StartChat) -> None:
    chat = start_chat(
        [message(bash("toolu_1", 'seq 1 3000; echo "$FLEMMA_TOOLS_STORE_PATH"')), DONE],
        tools=PATIENT,
        options=UNCONFINED,
    )
    chat.editor.command("enew | set filetype=chat")
    chat.buffer = chat.editor.request("nvim_get_current_buf").number
    chat.wait_for("@You:")
    chat.keys("Gothere<Esc>")
    chat.send()
    chat.wait_for("All done.")
    expected = f"{chat.editor.home}/tmp/flemma/unnamed/"
    *_, directory, _, notice = content(chat).split("\n")
    assert directory.startswith(expected)
    assert directory.endswith(f"/{chat.buffer}")
    assert notice.endswith(f"Full output: {directory}/tool_bash_toolu_1.txt]")


BACKUP_MODULE = """
package.preload["my.backup"] = function()
  return {
    backup = function(path)
      if vim.uv.fs_stat(path .. ".old") then
        return false, "there is one already"
      end
      assert(vim.uv.fs_rename(path, path .. ".old"))
      return true
    end,
  }
end
package.preload["no.backup"] = function() return {} end
"""


def save_thrice(start_chat: StartChat, backup: Any, **more: Any) -> Chat:
    """Write one file three times."""
    calls = [
        bash(f"toolu_{number}", f"echo {number}", **{"flemma.save_to": "out.txt"})
        for number in (1, 2, 3)
    ]
    tools = {"store": {"backup": backup}, "max_concurrent": 1, **more}
    return run(start_chat, *calls, tools=tools, lua=BACKUP_MODULE)


def files(chat: Chat) -> dict[str, str]:
    """Return the files with the name of the target, with their content."""
    return {path.name: path.read_text() for path in chat.path.parent.glob("out*")}


def test_old_files_are_kept_by_number(start_chat: StartChat) -> None:
    chat = save_thrice(start_chat, "version")
    assert files(chat) == {"out.1.txt": "1", "out.2.txt": "2", "out.txt": "3"}


def test_old_files_are_overwritten_on_request(start_chat: StartChat) -> None:
    assert files(save_thrice(start_chat, False)) == {"out.txt": "3"}


def test_a_lua_module_moves_old_files(start_chat: StartChat) -> None:
    chat = save_thrice(start_chat, "my.backup")
    chat.wait_notified("Store backup failed: there is one already")
    assert files(chat) == {"out.txt.old": "1", "out.txt": "3"}


def test_a_python_function_moves_old_files(start_chat: StartChat, tmp_path: Path) -> None:
    module = tmp_path / "keeper.py"
    module.write_text(
        "import os\nfrom flemma import extensions\n"
        "def aside(path):\n"
        "    if os.path.exists(path + '.old'):\n"
        "        raise FileExistsError('there is one already')\n"
        "    os.rename(path, path + '.old')\n"
        "extensions.register_backup('aside', aside)\n"
    )
    chat = save_thrice(start_chat, "aside", modules=[str(module)])
    chat.wait_notified("Store backup failed: there is one already")
    assert files(chat) == {"out.txt.old": "1", "out.txt": "3"}


@pytest.mark.parametrize(
    ("backup", "reason"),
    [
        ("verison", "Unknown backup strategy 'verison' (known: version)"),
        ("no.backup", "module 'no.backup' must export a 'backup' function"),
    ],
)
def test_a_strategy_that_does_not_exist_is_told(
    start_chat: StartChat, backup: str, reason: str
) -> None:
    chat = save_thrice(start_chat, backup)
    chat.wait_until(lambda: any(reason in told for told in chat.told), message=reason)
    assert files(chat) == {"out.txt": "3"}


def test_output_that_cannot_be_stored_is_told_and_no_file_is_named(start_chat: StartChat) -> None:
    def block(editor: Any) -> None:
        (editor.directory / ".flemma").write_text("in the way")

    chat = run(
        start_chat,
        bash("toolu_1", "seq 1 3000"),
        bash("toolu_2", "seq 1 3000", **{"flemma.save_to": "out.txt"}),
        before=block,
    )
    assert content(chat).endswith("3000\n\n[Showing lines 1001-3000 of 3000]")
    assert "[Output not saved: the whole output could not be kept." in content(chat, "toolu_2")
    reason = f"Failed to create directory '{store_of(chat)}'"
    assert f"Could not save full tool output: {reason}" in chat.told

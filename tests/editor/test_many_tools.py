"""Many slow tools at once: order, limit, cancellation, and running one again."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.editor.lua_tools import HEAD
from tests.editor.tool_support import DONE, approved, calls, conversation, result_text, send
from tests.support.nvim import Editor

COUNT = 20
ABORTED = "User aborted tool execution."

SLOW = (
    HEAD
    + """
_G.running, _G.most, _G.started, _G.waiting = 0, 0, {}, {}
local function begin(input, callback)
  _G.running = _G.running + 1
  _G.most = math.max(_G.most, _G.running)
  table.insert(_G.started, input.n)
  _G.waiting[input.n] = function(success)
    if _G.waiting[input.n] then
      _G.waiting[input.n] = nil
      _G.running = _G.running - 1
      callback({ success = success, output = "done " .. input.n, error = "broken " .. input.n })
    end
  end
end
tools.register("slow", {
  description = "Slow", async = true, input_schema = s.object({ n = s.integer() }):strict(),
  execute = function(input, ctx, callback)
    begin(input, callback)
    if _G.automatic then
      -- Later ones are quicker, so that they end out of order.
      vim.defer_fn(function() _G.waiting[input.n](true) end, 60 - 2 * input.n)
    end
    return function()
      _G.running = _G.running - 1
      _G.waiting[input.n] = nil
    end
  end,
})
"""
)


def many() -> list[tuple[str, str, Mapping[str, Any]]]:
    return [(f"t{number}", "slow", {"n": number}) for number in range(1, COUNT + 1)]


def started(editor: Editor) -> list[int]:
    return editor.exec_lua("return _G.started")


def running(editor: Editor) -> int:
    return editor.exec_lua("return _G.running")


def finish(editor: Editor, number: int, *, success: bool = True) -> None:
    editor.exec_lua("_G.waiting[select(1, ...)](select(2, ...))", number, success)


def said(editor: Editor) -> list[str]:
    return [notification.text for notification in editor.notifications()]


def go_to(editor: Editor, identifier: str) -> None:
    lines = editor.lines()
    row = next(
        row for row, line in enumerate(lines) if line.startswith(f"**Tool Result:** `{identifier}`")
    )
    editor.set_cursor(row + 1)


def results(editor: Editor) -> list[str]:
    """Return the headers of all results, from the top."""
    return [line for line in editor.lines() if line.startswith("**Tool Result:**")]


@pytest.mark.parametrize(("limit", "most"), [(2, 2), (5, 5), (0, COUNT)])
def test_twenty_slow_tools_keep_the_limit_and_every_result_its_place(limit: int, most: int) -> None:
    options = approved(max_concurrent=limit)
    with conversation([calls(*many()), DONE], lua=SLOW, options=options) as (editor, server):
        send(editor)
        for ended in range(COUNT):
            expected = min(most, COUNT - ended)
            editor.wait_until(lambda: running(editor) == expected)  # noqa: B023 - asked here
            # The newest ends first, so that results come in another order than calls.
            finish(editor, editor.exec_lua("return vim.fn.max(vim.tbl_keys(_G.waiting))"))
        editor.wait_for_text("All done.")

        assert editor.exec_lua("return _G.most") == most
        assert started(editor) == list(range(1, COUNT + 1))
        for number in range(1, COUNT + 1):
            assert result_text(server, f"t{number}") == f"done {number}"
        assert results(editor) == [f"**Tool Result:** `t{n}`" for n in range(1, COUNT + 1)]
        content = server.requests[-1].json["messages"][2]["content"]
        order = [block["tool_use_id"] for block in content]
        assert order == [f"t{number}" for number in range(1, COUNT + 1)]


def test_what_waits_for_a_place_is_told_and_one_that_ends_lets_the_next_start() -> None:
    options = approved(max_concurrent=3)
    with conversation([calls(*many()), DONE], lua=SLOW, options=options) as (editor, _):
        send(editor)
        editor.wait_until(lambda: started(editor) == [1, 2, 3])
        assert len([line for line in results(editor) if line.endswith("(approved)")]) == 17
        finish(editor, 2)
        editor.wait_until(lambda: started(editor) == [1, 2, 3, 4])
        assert editor.option("modifiable") is False


def test_cancelling_one_leaves_the_others_running_and_nothing_new_starts() -> None:
    options = approved(max_concurrent=3)
    with conversation([calls(*many()), DONE], lua=SLOW, options=options) as (editor, server):
        send(editor)
        editor.wait_until(lambda: started(editor) == [1, 2, 3])
        go_to(editor, "t2")
        editor.command("Flemma tool:cancel")
        editor.wait_for_text(ABORTED)
        assert said(editor)[-1] == "Tool execution cancelled"
        assert editor.text().count(ABORTED) == 1
        assert (
            editor.exec_lua("return { _G.waiting[1] ~= nil, _G.waiting[2] == nil }") == [True] * 2
        )
        finish(editor, 1)
        editor.wait_for_text("done 1")
        finish(editor, 3)
        editor.wait_for_text("done 3")
        editor.wait_until(lambda: editor.option("modifiable") is True)
        assert started(editor) == [1, 2, 3]

        editor.exec_lua("_G.automatic = true")
        send(editor)
        editor.wait_for_text("All done.", timeout=30)
        assert result_text(server, "t2") == ABORTED
        assert result_text(server, "t20") == "done 20"
        assert editor.exec_lua("return _G.most") == 3


def test_the_cancel_key_away_from_a_tool_ends_the_oldest() -> None:
    options = approved(max_concurrent=3)
    with conversation([calls(*many())], lua=SLOW, options=options) as (editor, _):
        send(editor)
        editor.wait_until(lambda: started(editor) == [1, 2, 3])
        editor.set_cursor(1)
        editor.keys("<C-c>")
        editor.wait_for_text(ABORTED)
        lines = editor.lines()
        place = lines.index(ABORTED)
        assert lines[place - 2] == "**Tool Result:** `t1` (error)"


def test_cancelling_all_ends_every_running_tool_and_keeps_what_waits() -> None:
    options = approved(max_concurrent=4)
    with conversation([calls(*many())], lua=SLOW, options=options) as (editor, _):
        send(editor)
        editor.wait_until(lambda: started(editor) == [1, 2, 3, 4])
        editor.command("Flemma tool:cancel-all")
        editor.wait_until(lambda: editor.text().count(ABORTED) == 4)
        editor.wait_until(lambda: editor.option("modifiable") is True)
        assert editor.exec_lua("return _G.running") == 0
        assert started(editor) == [1, 2, 3, 4]
        assert "All tool executions cancelled" in said(editor)
        assert len([line for line in results(editor) if line.endswith("(approved)")]) == 16
        editor.command("Flemma tool:cancel-all")
        editor.wait_until(lambda: said(editor)[-1] == "No pending tool executions")


def test_the_list_names_what_runs_oldest_first() -> None:
    options = approved(max_concurrent=2)
    with conversation([calls(*many())], lua=SLOW, options=options) as (editor, _):
        editor.command("Flemma tool:list")
        editor.wait_until(lambda: said(editor) == ["No pending tool executions"])
        send(editor)
        editor.wait_until(lambda: started(editor) == [1, 2])
        finish(editor, 1)
        editor.wait_until(lambda: started(editor) == [1, 2, 3])
        editor.command("Flemma tool:list")
        editor.wait_until(lambda: said(editor)[-1].startswith("Pending tool executions:"))
        lines = said(editor)[-1].split("\n")
        assert [line.rsplit(" — ", 1)[0] for line in lines[1:]] == ["  slow (t2)", "  slow (t3)"]
        assert all(line.endswith("s ago") for line in lines[1:])


def test_one_call_that_failed_is_run_again_and_its_result_replaced() -> None:
    replies = [calls(*many()[:2]), DONE]
    options = approved(autopilot={"enabled": False})
    with conversation(replies, lua=SLOW, options=options) as (editor, server):
        send(editor)
        editor.wait_for_text("(`t2`)")
        editor.wait_until(lambda: editor.option("modifiable") is True)
        send(editor)
        editor.wait_until(lambda: started(editor) == [1, 2])
        finish(editor, 1, success=False)
        finish(editor, 2)
        editor.wait_for_text("done 2")
        before = editor.wait_for_text("broken 1")
        assert "**Tool Result:** `t1` (error)" in results(editor)

        go_to(editor, "t1")
        editor.keys("<M-CR>")
        editor.wait_until(lambda: started(editor) == [1, 2, 1])
        finish(editor, 1)
        editor.wait_until(lambda: "broken 1" not in editor.text())
        assert editor.text() == before.replace("`t1` (error)", "`t1`").replace(
            "broken 1\n\nPartial output:\ndone 1", "done 1"
        )
        editor.wait_until(lambda: editor.option("modifiable") is True)
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server, "t1") == "done 1"


def test_one_press_of_undo_takes_one_result_back() -> None:
    options = approved(autopilot={"enabled": False})
    with conversation([calls(*many()[:1])], lua=SLOW, options=options) as (editor, _):
        send(editor)
        editor.wait_for_text("(`t1`)")
        editor.wait_until(lambda: editor.option("modifiable") is True)
        go = "**Tool Use:** `slow` (`t1`)"
        editor.set_cursor(editor.lines().index(go) + 1)
        before = editor.text()
        editor.keys("<M-CR>")
        editor.wait_until(lambda: started(editor) == [1])
        finish(editor, 1)
        editor.wait_for_text("done 1")
        editor.wait_until(lambda: editor.option("modifiable") is True)
        editor.keys("u")
        assert editor.text() == before

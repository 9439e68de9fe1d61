"""How tools written in Lua run: results, callbacks, cancellation, and their context."""

import json

from tests.editor.lua_tools import execute, probe
from tests.editor.tool_support import (
    DONE,
    approved,
    call,
    conversation,
    result_text,
    send,
)


def test_structured_output_is_json_for_the_model_and_in_the_buffer() -> None:
    body = "return { success = true, output = { b = { 1, 2 }, a = true } }"
    with conversation([call("probe", {}), DONE], lua=execute(body), options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        text_of_chat = editor.wait_for_text("All done.")
        assert result_text(server) == '{\n  "a": true,\n  "b": [\n    1,\n    2\n  ]\n}'
        assert '```json\n{\n  "a": true' in text_of_chat


def test_a_failure_keeps_the_output_so_far() -> None:
    found = probe('return { success = false, error = "no disk", output = "3 of 9" }')
    assert found == ("no disk\n\nPartial output:\n3 of 9", True)


def test_what_a_synchronous_tool_throws_is_its_error() -> None:
    found, is_error = probe('error("it broke", 0)')
    assert (found, is_error) == ("it broke", True)


def test_an_asynchronous_tool_answers_by_its_callback_and_the_first_call_counts() -> None:
    body = """
      vim.defer_fn(function()
        callback({ success = true, output = "first" })
        callback({ success = true, output = "second" })
      end, 20)
    """
    assert probe(body, fields="async = true,") == ("first", False)


def test_an_asynchronous_tool_may_call_back_before_it_returns() -> None:
    body = 'callback({ success = true, output = "at once" })\nreturn function() end'
    assert probe(body, fields="async = true,") == ("at once", False)


def test_what_an_asynchronous_tool_throws_is_its_error() -> None:
    assert probe('error("early", 0)', fields="async = true,") == ("early", True)


def test_cancelling_calls_the_cancel_function_and_a_late_callback_changes_nothing() -> None:
    body = """
      _G.answer = callback
      return function() _G.cancelled = (_G.cancelled or 0) + 1 end
    """
    lua = execute(body, fields="async = true,")
    with conversation([call("probe", {}), DONE], lua=lua, options=approved()) as (editor, _):
        send(editor)
        editor.wait_until(lambda: editor.exec_lua("return _G.answer ~= nil"))
        editor.keys("<C-c>")
        before = editor.wait_for_text("User aborted tool execution.")
        assert editor.exec_lua("return _G.cancelled") == 1
        editor.exec_lua('_G.answer({ success = true, output = "too late" })')
        assert editor.option("modifiable") is True
        assert editor.text() == before


CONTEXT = """
  local facts = {
    bufnr = ctx.bufnr == vim.api.nvim_get_current_buf(),
    tool_id = ctx.tool_id,
    cwd = ctx.cwd,
    timeout = ctx.timeout,
    dirname = ctx.__dirname,
    filename = ctx.__filename,
    unused = rawget(ctx, "path") == nil and rawget(ctx, "truncate") == nil,
    resolved = ctx.path.resolve("a/../b.txt"),
    absolute = ctx.path.resolve("/x/y"),
    used = rawget(ctx, "path") ~= nil and rawget(ctx, "truncate") == nil,
  }
  return { success = true, output = facts }
"""


def test_the_context_has_every_field_and_makes_namespaces_when_they_are_used() -> None:
    with conversation([call("probe", {}), DONE], lua=execute(CONTEXT), options=approved()) as (
        editor,
        server,
    ):
        here = str(editor.directory)
        send(editor)
        editor.wait_for_text("All done.")
        assert json.loads(result_text(server)) == {
            "bufnr": True,
            "tool_id": "toolu_1",
            "cwd": here,
            "timeout": 30,
            "dirname": here,
            "filename": f"{here}/work.chat",
            "unused": True,
            "resolved": f"{here}/b.txt",
            "absolute": "/x/y",
            "used": True,
        }


def test_the_configuration_of_a_tool_is_a_deep_copy() -> None:
    body = """
      local first = ctx:get_config()
      first.nested.value = "changed"
      first.added = true
      return { success = true, output = vim.json.encode(ctx:get_config()) }
    """
    found, _ = probe(body, probe={"nested": {"value": "kept"}})
    assert found == '{"nested":{"value":"kept"}}'


def test_a_tool_without_configuration_gets_nil() -> None:
    assert probe("return { success = true, output = type(ctx:get_config()) }") == ("nil", False)


def test_the_parsed_document_shows_roles_and_the_call_itself() -> None:
    body = """
      local found = {}
      for _, msg in ipairs(ctx:get_parsed_document().messages) do
        for _, segment in ipairs(msg.segments) do
          if segment.kind == "tool_use" then
            table.insert(found, msg.role .. " " .. segment.name .. " " .. segment.id
              .. " " .. msg.position.start_line)
          end
        end
      end
      return { success = true, output = table.concat(found, ",") }
    """
    assert probe(body) == ("assistant probe toolu_1 4", False)


def test_truncation_functions_report_what_was_kept() -> None:
    body = """
      local lines = {}
      for number = 1, 3000 do lines[number] = "line " .. number end
      local all = table.concat(lines, "\\n")
      local tail, head = ctx.truncate.truncate_tail(all), ctx.truncate.truncate_head(all)
      local whole = ctx.truncate.truncate_tail("short")
      return { success = true, output = table.concat({
        tostring(tail.truncated), tail.total_lines, tail.output_lines, tail.content:sub(1, 9),
        tostring(head.truncated), head.content:sub(1, 6), head.truncated_by,
        tostring(whole.truncated), whole.content,
        ctx.truncate.format_size(12345), ctx.truncate.MAX_LINES, ctx.truncate.MAX_BYTES,
      }, "|") }
    """
    found, _ = probe(body)
    assert found == ("true|3000|2000|line 1001|true|line 1|lines|false|short|12.1KB|2000|51200")


LONG = """
  local lines = {}
  for number = 1, 2500 do lines[number] = "line " .. number end
  local full_output = table.concat(lines, "\\n")
"""


def test_truncation_with_overflow_stores_the_whole_output_and_says_where() -> None:
    body = f"""{LONG}
      local result = ctx.truncate.truncate_with_overflow(full_output, {{ direction = "tail" }})
      return {{ success = true, output = result.content }}
    """
    with conversation([call("probe", {}), DONE], lua=execute(body), options=approved()) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        stored = editor.directory / ".flemma" / "work.chat" / "tool_probe_toolu_1.txt"
        content = result_text(server)
        assert content.startswith("line 501\n")
        assert content.endswith(
            f"line 2500\n\n[Showing lines 501-2500 of 2500. Full output: {stored}]"
        )
        assert stored.read_text().splitlines() == [f"line {n}" for n in range(1, 2501)]
        assert [path.name for path in stored.parent.iterdir()] == [stored.name]


def test_a_command_is_wrapped_by_the_sandbox_of_the_buffer() -> None:
    body = """
      local wrapped, err = ctx.sandbox.wrap_command({ "bash", "-c", "echo hello" })
      return { success = true, output = (err or "") .. wrapped[1] .. " " .. wrapped[#wrapped] }
    """
    assert probe(body) == ("bwrap echo hello", False)


def test_a_command_that_cannot_be_wrapped_gives_nil_and_the_reason() -> None:
    body = """
      local wrapped, err = ctx.sandbox.wrap_command({ "true" })
      return { success = true, output = type(wrapped) .. ": " .. err }
    """
    lua = execute(body)
    with conversation(
        [call("probe", {}), DONE],
        lua=lua,
        options={**approved(), "sandbox": {"backend": "nowhere"}},
    ) as (editor, server):
        send(editor)
        editor.wait_for_text("All done.")
        assert result_text(server) == "nil: Unknown sandbox backend: nowhere"

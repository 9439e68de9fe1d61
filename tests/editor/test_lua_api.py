"""The Lua API for tools, resolvers and hooks (spec: tools)."""

from collections.abc import Callable
from typing import Any

import pynvim
import pytest

from tests.editor.lua_shim import Shim
from tests.support.nvim import Editor


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    shim = Shim(start_editor)
    shim.editor.exec_lua(
        """
        require("flemma.registrations").connect(require("flemma.host").notify)
        _G.tools = require("flemma.tools")
        _G.s = require("flemma.schema")
        _G.definition = function(name)
          return {
            name = name,
            description = "Does something",
            strict = true,
            capabilities = { "disables_save_to" },
            input_schema = s.object({ label = s.string() }):strict(),
            execute = function(input)
              return { success = true, output = "done: " .. input.label }
            end,
          }
        end
        """
    )
    return shim


def registered(shim: Shim, kind: str = "tool") -> list[str]:
    return [entry["name"] for entry in shim.sent("register") if entry["kind"] == kind]


def answer(shim: Shim, function: int, mode: str, *arguments: Any) -> Any:
    """Call a function as the host and return the reply."""
    shim.editor.exec_lua("_G.sent = {}")
    payload = {"id": 1, "function": function, "mode": mode, "arguments": list(arguments)}
    shim.tell("call", payload)
    shim.editor.wait_until(lambda: shim.sent("reply"))
    return shim.sent("reply")[0]


def number_of(value: dict[str, int]) -> int:
    return value["__flemma_function"]


CONTEXT = {"bufnr": 1, "tool_id": "t1", "tool_name": "x", "cwd": "/tmp", "timeout": 30}


# Registration


def test_one_tool_is_registered(shim: Shim) -> None:
    shim.editor.exec_lua('tools.register("one", definition("one"))')
    (entry,) = shim.sent("register")
    definition = entry["definition"]
    assert (entry["kind"], entry["name"], definition["strict"]) == ("tool", "one", True)
    assert definition["input_schema"]["__flemma_schema"] is True
    reply = answer(shim, number_of(definition["execute"]), "tool", {"label": "x"}, CONTEXT)
    assert reply == {"id": 1, "ok": True, "value": {"success": True, "output": "done: x"}}


def test_several_tools_are_registered(shim: Shim) -> None:
    shim.editor.exec_lua('tools.register({ definition("a"), definition("b") })')
    assert registered(shim) == ["a", "b"]


def test_a_module_registers_its_definitions_and_its_resolver(shim: Shim) -> None:
    shim.editor.exec_lua(
        """
        package.preload["my_plugin.tools"] = function()
          return {
            definitions = { definition("deploy") },
            approval = { priority = 75, resolve = function() return "deny" end },
          }
        end
        tools.register("my_plugin.tools")
        """
    )
    assert registered(shim) == ["deploy"]
    assert registered(shim, "resolver") == ["my_plugin.tools"]


def test_a_module_without_anything_is_refused(shim: Shim) -> None:
    shim.editor.exec_lua('package.preload["empty"] = function() return {} end')
    with pytest.raises(pynvim.NvimError, match="module 'empty' exports neither"):
        shim.editor.exec_lua('tools.register("empty")')


def test_a_source_registers_later_and_is_done_once(shim: Shim) -> None:
    shim.editor.exec_lua(
        """
        tools.register(function(register, done)
          _G.finish = function() register("late", definition("late")); done(); done("again") end
        end)
        """
    )
    (source,) = registered(shim, "tool_source")
    assert shim.sent("source:tool") == []
    shim.editor.exec_lua("finish()")
    (tool,) = shim.sent("source:tool")
    assert (tool["source"], tool["name"]) == (source, "late")
    assert shim.sent("source:done") == [{"source": source}]
    assert shim.editor.exec_lua('return require("flemma.tools.registry").has("late")') is True


def test_a_source_with_a_timeout_that_throws_is_done_with_the_reason(shim: Shim) -> None:
    shim.editor.exec_lua(
        'tools.register({ timeout = 60, resolve = function() error("no", 0) end })'
    )
    (entry,) = shim.sent("register")
    assert entry["definition"]["timeout"] == 60
    assert [done["error"] for done in shim.sent("source:done")] == ["no"]


def test_modules_of_the_options_are_registered_when_the_host_starts(
    start_editor: Callable[..., Editor],
) -> None:
    editor = start_editor()
    names = editor.exec_lua(
        """
        package.preload["mine"] = function()
          return { definitions = { {
            name = "mine", description = "x", input_schema = {}, execute = function() end,
          } } }
        end
        local modules = { "mine", "python_one", "a.py" }
        return require("flemma.modules").load({ tools = { modules = modules } })
        """
    )
    assert names == ["mine"]
    assert editor.exec_lua('return require("flemma.tools.registry").has("mine")') is True


def test_a_redefinition_warns(shim: Shim) -> None:
    shim.editor.exec_lua(
        'tools.register("a", definition("a")); tools.register("a", definition("a"))'
    )
    texts = [n.text for n in shim.editor.notifications()]
    assert texts == ["tool 'a' redefined (previously registered, now overwritten)"]


def test_what_cannot_be_sent_is_named(shim: Shim) -> None:
    with pytest.raises(pynvim.NvimError, match=r"bad\.extra is a thread"):
        shim.editor.exec_lua(
            """
            local bad = definition("bad")
            bad.extra = coroutine.create(function() end)
            tools.register("bad", bad)
            """
        )


def test_the_registry_knows_capabilities(shim: Shim) -> None:
    shim.editor.exec_lua('tools.register("a", definition("a"))')
    ask = 'return require("flemma.tools.registry").has_capability(...)'
    assert shim.editor.exec_lua(ask, "a", "disables_save_to") is True
    assert shim.editor.exec_lua(ask, "a", "emits_template") is False
    assert shim.editor.exec_lua(ask, "nobody", "emits_template") is False


# Calls


def execute(shim: Shim, body: str, *, asynchronous: bool = False) -> int:
    """Register a tool with this body and return the number of its function."""
    shim.editor.exec_lua(
        f"""
        local made = definition("made")
        made.async = {str(asynchronous).lower()}
        made.execute = function(input, ctx, callback) {body} end
        tools.register("made", made)
        """
    )
    return number_of(shim.sent("register")[-1]["definition"]["execute"])


def test_a_tool_that_throws_answers_with_the_text(shim: Shim) -> None:
    reply = answer(shim, execute(shim, 'error("boom", 0)'), "tool", {}, CONTEXT)
    assert reply == {"id": 1, "ok": False, "value": "boom"}


def test_a_synchronous_tool_without_a_result_says_so(shim: Shim) -> None:
    reply = answer(shim, execute(shim, "return nil"), "tool", {}, CONTEXT)
    assert reply["value"] == {"success": False, "error": "Tool returned no result"}


def test_the_first_call_of_the_callback_counts(shim: Shim) -> None:
    body = 'vim.schedule(function() callback({ success = true, output = "1" }) callback({}) end)'
    reply = answer(shim, execute(shim, body, asynchronous=True), "tool", {}, CONTEXT)
    assert reply["value"]["output"] == "1"
    assert len(shim.sent("reply")) == 1


def test_cancelling_calls_what_the_tool_returned(shim: Shim) -> None:
    function = execute(shim, "return function() _G.cancelled = input.a end", asynchronous=True)
    call = {"id": 5, "function": function, "mode": "tool", "arguments": [{"a": 7}, CONTEXT]}
    shim.tell("call", call)
    shim.editor.exec_lua("vim.wait(0)")
    shim.tell("call", {**call, "arguments": [], "cancel": True})
    assert shim.editor.exec_lua("return _G.cancelled") == 7
    assert shim.sent("reply") == []


def test_the_context_has_the_facts_and_lazy_namespaces(shim: Shim) -> None:
    body = """
        local before = rawget(ctx, "truncate") == nil
        return { success = true, output = {
          before, ctx.bufnr, ctx.tool_id, ctx.cwd, ctx.timeout, ctx.__filename,
          ctx.truncate.MAX_LINES, ctx.truncate.MAX_BYTES, rawget(ctx, "truncate") ~= nil,
        } }
    """
    data = {**CONTEXT, "filename": "/a/b.chat", "dirname": "/a"}
    reply = answer(shim, execute(shim, body), "tool", {}, data)
    assert reply["value"]["output"] == [
        *(True, 1, "t1", "/tmp", 30, "/a/b.chat", 2000, 51200, True)
    ]


def test_the_context_asks_the_host(shim: Shim) -> None:
    shim.editor.exec_lua(
        """
        require("flemma.host").request = function(method, payload)
          _G.asked = { method, payload }
          if payload["function"] == "sandbox.wrap_command" then
            return { ok = false, value = "no sandbox" }
          end
          return { ok = true, value = "/abs/a.txt" }
        end
        """
    )
    body = """
        local path = ctx.path.resolve("a.txt")
        local asked = _G.asked
        local wrapped, reason = ctx.sandbox.wrap_command({ "ls" })
        return { success = true, output = { path, asked, wrapped == nil, reason } }
    """
    reply = answer(shim, execute(shim, body), "tool", {}, CONTEXT)
    request = {"tool_call": 1, "function": "path.resolve", "arguments": ["a.txt"]}
    assert reply["value"]["output"] == [
        *("/abs/a.txt", ["flemma:context", request], True, "no sandbox")
    ]


def test_a_plain_call_returns_its_value_or_its_reason(shim: Shim) -> None:
    shim.editor.exec_lua(
        """
        require("flemma.sandbox").register("mine", {
          available = function(options) return options.ok end,
          wrap = function(policy, options, command) return nil, "cannot" end,
        })
        """
    )
    definition = shim.sent("register")[0]["definition"]
    assert definition["priority"] == 50
    available = number_of(definition["available"])
    assert answer(shim, available, "plain", {"ok": True})["value"] is True
    assert answer(shim, available, "plain", {})["value"] is None
    reply = answer(shim, number_of(definition["wrap"]), "plain", {}, {}, ["ls"])
    assert reply == {"id": 1, "ok": False, "value": "cannot"}


def test_an_unknown_function_is_answered(shim: Shim) -> None:
    reply = answer(shim, 999, "plain")
    assert (reply["ok"], "999" in reply["value"]) == (False, True)


# Resolvers


def test_resolvers_are_registered_listed_and_taken_back(shim: Shim) -> None:
    found = shim.editor.exec_lua(
        """
        local approval = require("flemma.tools.approval")
        local built_in = approval.count()
        approval.register("mine", { description = "d", resolve = function() end })
        approval.register("first", { priority = 200, resolve = function() end })
        local names = vim.tbl_map(function(r) return r.name end, approval.get_all())
        local mine = approval.get("mine").priority
        local removed = { approval.unregister("mine"), approval.unregister("mine") }
        approval.clear()
        return { built_in, names, mine, removed, approval.count(), approval.has("first") }
        """
    )
    names = ["first", "urn:flemma:approval:config", "mine", "urn:flemma:approval:sandbox"]
    assert found == [2, names, 50, [True, False], 2, False]
    assert [p["name"] for p in shim.sent("unregister")] == ["mine", "first"]


def test_the_catch_all_is_listed_when_approval_is_off(shim: Shim) -> None:
    shim.tell("config", {"options": {"tools": {"require_approval": False}}})
    found = shim.editor.exec_lua(
        'return require("flemma.tools.approval").get("urn:flemma:approval:catch-all").priority'
    )
    assert found == 0


# Events


def test_an_event_fires_its_autocommand_and_its_hooks(shim: Shim) -> None:
    shim.editor.exec_lua(
        """
        _G.seen = {}
        vim.api.nvim_create_autocmd("User", {
          pattern = "FlemmaAutopilotResumeScheduled",
          callback = function(event) table.insert(seen, { "autocmd", event.data.bufnr }) end,
        })
        local hooks = require("flemma.hooks")
        hooks.on("autopilot:resume-scheduled", function() error("bad", 0) end)
        local remove = hooks.on("autopilot:resume-scheduled", function(data)
          table.insert(seen, { "hook", data.bufnr })
        end)
        _G.remove = remove
        """
    )
    event = {"name": "autopilot:resume-scheduled", "data": {"bufnr": 3}}
    shim.tell("event", event)
    assert shim.editor.exec_lua("return seen") == [["autocmd", 3], ["hook", 3]]
    (told,) = shim.editor.notifications()
    assert told.text == "hook 'autopilot:resume-scheduled' handler error: bad"
    shim.editor.exec_lua("remove()")
    shim.tell("event", event)
    assert len(shim.editor.exec_lua("return seen")) == 3


def test_everything_is_told_to_a_host_that_starts_again(shim: Shim) -> None:
    shim.editor.exec_lua(
        """
        tools.register("a", definition("a"))
        require("flemma.frontmatter").register("TOML", { parse = function() return {} end })
        local late = definition("late")
        tools.register(function(register, done) register("late", late) done() end)
        _G.first = _G.sent
        _G.sent = {}
        local registrations = require("flemma.registrations")
        registrations.connect(nil)
        registrations.connect(require("flemma.host").notify)
        """
    )
    first, second = shim.editor.exec_lua("return { first, sent }")
    assert second == first
    methods = [method for method, _ in first]
    assert methods == ["register"] * 3 + ["source:tool", "source:done"]

"""Keys, commands, insert mode, the popup, pickers and the language server of a chat."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.editor.lua_shim import Shim
from tests.support.nvim import Editor

PENDING = "@You:\n\n**Tool Result:** `t1` (pending)\n```\n```\n"


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    return Shim(start_editor)


def command(shim: Shim) -> tuple[str, str]:
    (sent,) = shim.sent("command")
    return sent["name"], sent["arguments"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("<C-]>", "send"),
        ("<C-c>", "cancel"),
        ("<M-CR>", "tool:execute"),
        ("<M-a>", "tool:approve"),
        ("<M-A>", "tool:approve-all"),
        ("<M-r>", "tool:reject"),
        ("<M-b>", "tool:background"),
    ],
)
def test_a_key_sends_its_command_with_the_place_and_the_tick(
    shim: Shim, key: str, name: str
) -> None:
    # Case A-14: what appears after the tick was not meant.
    shim.open("@You:\nhello\n")
    shim.editor.set_cursor(2, 3)
    shim.editor.keys(key)
    assert shim.sent("command") == [
        {
            "bufnr": shim.buffer,
            "name": name,
            "arguments": "",
            "line": 1,
            "column": 3,
            "insert": False,
            "key": True,
            "tick": shim.tick(),
        }
    ]


def test_keys_are_those_of_the_options(start_editor: Callable[..., Editor]) -> None:
    keys = {"normal": {"send": "<F5>", "cancel": False}, "text_object": False}
    shim = Shim(start_editor, keymaps=keys)
    shim.open("@You:\n")
    assert shim.editor.call("maparg", "<C-]>", "n") == ""
    assert shim.editor.call("maparg", "im", "o") == ""
    shim.editor.keys("<F5>")
    assert command(shim) == ("send", "")


def test_no_keys_at_all(start_editor: Callable[..., Editor]) -> None:
    shim = Shim(start_editor, keymaps=False)
    shim.open("@You:\n")
    mapped = shim.editor.request("nvim_buf_get_keymap", shim.buffer, "n")
    assert [m["lhs"] for m in mapped if m.get("desc", "").startswith("Flemma")] == []


def test_keys_change_with_the_options_the_host_merged(shim: Shim) -> None:
    shim.open("@You:\n")
    shim.tell("config", {"options": {"keymaps": {"normal": {"send": "<F6>"}}}})
    assert shim.editor.call("maparg", "<C-]>", "n") == ""
    shim.editor.keys("<F6>")
    assert command(shim) == ("send", "")


def test_the_leader_key_is_left_alone(start_editor: Callable[..., Editor]) -> None:
    shim = Shim(start_editor)
    shim.editor.exec_lua('vim.g.mapleader = " "')
    shim.open("@You:\n")
    assert shim.editor.call("maparg", "<Space>", "n") == ""


def test_keys_stay_in_chats(shim: Shim) -> None:
    shim.open("@You:\n")
    shim.editor.open(shim.editor.directory / "other.txt")
    assert shim.editor.request("nvim_buf_get_keymap", 0, "n") == []


def test_a_send_from_insert_mode_returns_to_it(shim: Shim) -> None:
    shim.open("@You:\nhello\n")
    shim.editor.keys("GA there<C-]>")
    shim.editor.wait_until(lambda: shim.sent("command"))
    assert shim.sent("command")[0]["insert"] is True
    assert shim.editor.mode()["mode"] == "n"
    shim.tell("lock", {"bufnr": shim.buffer, "locked": True})
    shim.apply(["append", 1, "\n\n@You:\n"])
    shim.tell("lock", {"bufnr": shim.buffer, "locked": False})
    assert shim.editor.mode()["mode"] == "n"
    shim.tell("insert", {"bufnr": shim.buffer, "resume": True})
    shim.editor.wait_until(lambda: shim.editor.mode()["mode"] == "i")


def test_who_moved_away_is_not_put_into_insert_mode(shim: Shim) -> None:
    shim.open("@You:\nhello\n")
    shim.editor.keys("GA<C-]>")
    shim.editor.wait_until(lambda: shim.sent("command"))
    shim.editor.set_cursor(1)
    shim.tell("insert", {"bufnr": shim.buffer, "resume": True})
    mode = "vim.wait(200, function() return vim.fn.mode() == 'i' end) return vim.fn.mode()"
    assert shim.editor.exec_lua(mode) == "n"


def test_who_has_something_to_decide_stays_in_normal_mode(shim: Shim) -> None:
    shim.open("@You:\nhello\n")
    shim.editor.keys("GA<C-]>")
    shim.editor.wait_until(lambda: shim.sent("command"))
    for resume in (False, True):
        shim.tell("insert", {"bufnr": shim.buffer, "resume": resume})
    mode = "vim.wait(200, function() return vim.fn.mode() == 'i' end) return vim.fn.mode()"
    assert shim.editor.exec_lua(mode) == "n"


@pytest.mark.parametrize("role", ["You", "Assistant", "System"])
def test_a_colon_completes_a_role_marker(shim: Shim, role: str) -> None:
    shim.open("\n")
    shim.editor.keys(f"i@{role}:")
    shim.editor.wait_until(lambda: shim.editor.cursor() == (2, 0))
    assert shim.editor.lines() == [f"@{role}:", ""]


def test_a_blank_line_below_is_used(shim: Shim) -> None:
    # Case 56.
    shim.open("\n\n@Assistant:\n")
    shim.editor.keys("i@You:")
    shim.editor.wait_until(lambda: shim.editor.cursor() == (2, 0))
    assert shim.editor.lines() == ["@You:", "", "@Assistant:"]


@pytest.mark.parametrize("habit", ["<Space>", "<CR>"])
def test_one_space_or_enter_by_habit_is_swallowed(shim: Shim, habit: str) -> None:
    # Case 56.
    shim.open("\n")
    shim.editor.keys("i@You:")
    shim.editor.wait_until(lambda: shim.editor.cursor() == (2, 0))
    shim.editor.keys(f"{habit}hi{habit}")
    assert shim.editor.lines()[1].startswith("hi")


def test_another_key_after_a_marker_is_not_swallowed(shim: Shim) -> None:
    shim.open("\n")
    shim.editor.keys("i@You:")
    shim.editor.wait_until(lambda: shim.editor.cursor() == (2, 0))
    shim.editor.keys("x y")
    assert shim.editor.lines() == ["@You:", "x y"]


@pytest.mark.parametrize("text", ["see @You", "@Me", " @You"])
def test_other_colons_are_just_inserted(shim: Shim, text: str) -> None:
    shim.open("\n")
    shim.editor.keys(f"i{text}:x")
    assert shim.editor.lines() == [f"{text}:x"]


def test_a_command_goes_to_the_host_as_it_is(shim: Shim) -> None:
    shim.open("@You:\n")
    shim.editor.command("Flemma tool:reject do not  run 'this'")
    assert command(shim) == ("tool:reject", "do not  run 'this'")


def test_a_command_without_a_name_is_for_the_host_too(shim: Shim) -> None:
    shim.open("@You:\n")
    shim.editor.command("Flemma")
    assert command(shim) == ("", "")


def test_commands_complete_before_and_after_the_host_told_them(shim: Shim) -> None:
    shim.open("@You:\n")
    complete = shim.editor.call
    assert complete("getcompletion", "Flemma tool:app", "cmdline") == [
        *("tool:approve", "tool:approve-all")
    ]
    assert complete("getcompletion", "Flemma status ", "cmdline") == ["verbose"]
    commands = [{"name": "switch", "arguments": [["anthropic", "openai"], ["m1", "m2"]]}]
    shim.tell("commands", {"commands": commands})
    assert complete("getcompletion", "Flemma ", "cmdline") == ["switch"]
    assert complete("getcompletion", "Flemma switch a", "cmdline") == ["anthropic"]
    assert complete("getcompletion", "Flemma switch anthropic m", "cmdline") == ["m1", "m2"]
    assert complete("getcompletion", "Flemma nonsense ", "cmdline") == []


def popup(shim: Shim, **more: Any) -> None:
    payload = {"bufnr": shim.buffer, "tool_use_id": "t1", "line": 3, "end_line": 4, **more}
    shim.tell("popup:reject", payload)


def test_a_reason_is_typed_into_the_popup(shim: Shim) -> None:
    # Cases.
    shim.open(PENDING)
    popup(shim)
    shim.editor.wait_until(lambda: shim.editor.mode()["mode"] == "i")
    shim.editor.keys("not this<C-j>nor that<CR>")
    assert shim.sent("rejection") == [
        {"bufnr": shim.buffer, "tool_use_id": "t1", "message": "not this\nnor that"}
    ]
    assert len(shim.editor.request("nvim_list_wins")) == 1
    assert shim.editor.mode()["mode"] == "n"


def test_the_popup_lies_over_the_fence(shim: Shim) -> None:
    shim.open(PENDING)
    popup(shim)
    shim.editor.wait_until(lambda: shim.editor.mode()["mode"] == "i")
    rows = shim.editor.screen_lines()
    top = next(n for n, row in enumerate(rows) if "╌╌" in row)
    assert top == 3
    assert "Flemma: Rejection reason (optional): " in rows[top]


@pytest.mark.parametrize("key", ["<Esc>", "<C-c>"])
def test_the_popup_closes_without_a_word(shim: Shim, key: str) -> None:
    # Case A-12.
    shim.open(PENDING)
    popup(shim)
    shim.editor.wait_until(lambda: shim.editor.mode()["mode"] == "i")
    shim.editor.keys(f"no{key}")
    assert shim.sent("rejection") == []
    assert len(shim.editor.request("nvim_list_wins")) == 1


def test_no_popup_without_its_lines(shim: Shim) -> None:
    shim.open(PENDING)
    popup(shim, line=30, end_line=31)
    shim.editor.exec_lua("vim.wait(0)")
    assert len(shim.editor.request("nvim_list_wins")) == 1


def test_without_the_popup_the_command_line_asks(start_editor: Callable[..., Editor]) -> None:
    shim = Shim(start_editor, ui={"rejection": {"enabled": False}})
    shim.open(PENDING)
    shim.editor.exec_lua("vim.ui.input = function(_, done) done('typed') end")
    popup(shim)
    shim.editor.wait_until(lambda: shim.sent("rejection"))
    assert shim.sent("rejection")[0]["message"] == "typed"


@pytest.mark.parametrize(("picked", "index"), [(2, 1), (None, None)])
def test_a_picker_answers_with_the_index(shim: Shim, picked: int | None, index: int | None) -> None:
    shim.editor.exec_lua(
        """
        local picked = ...
        if picked == vim.NIL then picked = nil end
        vim.ui.select = function(items, _, done) done(picked and items[picked], picked) end
        """,
        picked,
    )
    shim.tell("choose", {"id": 4, "prompt": "Select Provider:", "items": ["a", "b"]})
    shim.editor.wait_until(lambda: shim.sent("choice"))
    assert shim.sent("choice") == [{"id": 4, "index": index}]


def test_a_message_is_shown_once_when_it_says_so(shim: Shim) -> None:
    for _ in range(2):
        shim.tell("notify", {"message": "once", "level": "warn", "once": True})
        shim.tell("notify", {"message": "always", "level": "info", "once": False})
    assert [(n.text, n.level) for n in shim.editor.notifications()] == [
        ("once", 3),
        ("always", 2),
        ("always", 2),
    ]


def test_an_unknown_method_is_reported_and_answered(shim: Shim) -> None:
    answer = shim.tell("nonsense", {})
    assert answer["ok"] is False
    assert "nonsense" in shim.editor.notifications()[0].text


def test_a_failing_handler_is_reported_once_and_answered(shim: Shim) -> None:
    for _ in range(2):
        assert shim.tell("show", {"name": "x"})["ok"] is False
    assert len(shim.editor.notifications()) == 1


def test_hover_is_asked_from_the_host(shim: Shim) -> None:
    shim.editor.exec_lua('require("flemma.host").channel = function() return 1 end')
    shim.open(PENDING)
    shim.editor.set_cursor(3)
    shim.editor.exec_lua(
        """
        local client = vim.lsp.get_clients({ name = "flemma" })[1]
        client:request("textDocument/hover", vim.lsp.util.make_position_params(0, "utf-8"),
          function(_, result) _G.hover = result end, 0)
        """
    )
    (request,) = shim.editor.wait_until(lambda: shim.sent("lsp"))
    assert (request["method"], request["bufnr"], request["line"]) == ("hover", shim.buffer, 2)
    result = {"contents": {"kind": "markdown", "value": "a tool result"}}
    shim.tell("lsp", {"id": request["id"], "result": result})
    assert shim.editor.exec_lua("return _G.hover") == result


def test_no_language_server_when_it_is_off(start_editor: Callable[..., Editor]) -> None:
    shim = Shim(start_editor, lsp={"enabled": False})
    shim.open("@You:\n")
    assert shim.editor.exec_lua('return #vim.lsp.get_clients({ name = "flemma" })') == 0


def test_options_of_a_chat_window(shim: Shim) -> None:
    shim.editor.command("set textwidth=79 updatetime=4000")
    shim.open("@You:\n")
    window = {"win": 0}
    value = shim.editor.request
    assert shim.editor.option("textwidth") == 0
    assert value("nvim_get_option_value", "conceallevel", window) == 2
    assert value("nvim_get_option_value", "concealcursor", window) == "nv"
    assert value("nvim_get_option_value", "updatetime", {}) == 100
    shim.editor.keys("yoe")
    assert value("nvim_get_option_value", "conceallevel", window) == 0
    shim.editor.keys("]oe")
    assert value("nvim_get_option_value", "conceallevel", window) == 2
    shim.editor.open(shim.editor.directory / "other.txt")
    assert value("nvim_get_option_value", "updatetime", {}) == 4000
    assert value("nvim_get_option_value", "conceallevel", window) == 0


def test_highlights_can_be_chosen_and_colour_schemes_win_over_defaults(
    start_editor: Callable[..., Editor],
) -> None:
    colours = {"tool_name": "#ff0000", "busy": "Title", "tool_label": {"bold": True}}
    shim = Shim(start_editor, highlights=colours, line_highlights={"user": "#101010"})
    shim.editor.command("highlight FlemmaRuler guifg=#00ff00")
    shim.open("@You:\n")
    get = "return vim.api.nvim_get_hl(0, { name = ... })"
    assert shim.editor.exec_lua(get, "FlemmaToolName")["fg"] == 0xFF0000
    assert shim.editor.exec_lua(get, "FlemmaBusy")["link"] == "Title"
    assert shim.editor.exec_lua(get, "FlemmaToolLabel")["bold"] is True
    assert shim.editor.exec_lua(get, "FlemmaRuler")["fg"] == 0x00FF00
    assert shim.editor.exec_lua(get, "FlemmaLineUser")["bg"] == 0x101010
    shim.editor.command("colorscheme habamax")
    assert shim.editor.exec_lua(get, "FlemmaToolName")["fg"] == 0xFF0000

"""What a pending call shows: each built-in format, the generic one, and those of users."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.editor.lua_tools import HEAD
from tests.support.nvim import Editor

Call = tuple[str, Mapping[str, Any]]
Start = Callable[..., Editor]


def pending_chat(*calls: Call) -> str:
    """Return a chat whose last response made these calls, all of them pending."""
    uses = [
        f"**Tool Use:** `{name}` (`t{number}`)\n"
        f"```json\n{json.dumps(tool_input, ensure_ascii=False)}\n```\n"
        for number, (name, tool_input) in enumerate(calls)
    ]
    results = [
        f"**Tool Result:** `t{number}` (pending)\n```\n```\n" for number in range(len(calls))
    ]
    return "@Assistant:\n" + "\n".join(uses) + "\n@You:\n\n" + "\n".join(results)


@pytest.fixture
def show(start_editor: Start) -> Callable[..., Editor]:
    """Open a chat with pending calls in an editor; ``lua`` is the user's configuration."""

    def opened(
        *calls: Call, lua: str = "", options: Mapping[str, Any] | None = None, **more: Any
    ) -> Editor:
        editor = start_editor(**more)
        if lua:
            editor.exec_lua(lua)
        editor.exec_lua('require("flemma").setup(...)', {"provider": "demo", **(options or {})})
        path = editor.directory / "a.chat"
        path.write_text(pending_chat(*calls), encoding="utf-8")
        editor.open(path)
        return editor

    return opened


def previews(editor: Editor) -> list[str]:
    """Return the virtual lines, from the top."""
    return [
        "".join(chunk[0] for chunk in line)
        for mark in editor.extmarks()
        for line in mark.details.get("virt_lines", [])
    ]


def wait_for(editor: Editor, *expected: str) -> None:
    editor.wait_until(
        lambda: previews(editor) == list(expected), message=f"the previews {expected}"
    )


BUILT_IN: list[tuple[str, Mapping[str, Any], str]] = [
    ("bash", {"command": "git status", "label": "checking repo"}, "$ git status — checking repo"),
    ("bash", {"command": "make\nmake test", "label": "both"}, "$ make↵make test — both"),
    ("read", {"path": "config.lua", "label": "l"}, "config.lua — l"),
    (
        "read",
        {"path": "config.lua", "offset": 100, "limit": 50, "label": "reading tail"},
        "config.lua  +100,50 — reading tail",
    ),
    ("read", {"path": "a", "offset": 3, "limit": None, "label": "l"}, "a  +3 — l"),
    ("read", {"path": "a", "limit": 50, "label": "checking config"}, "a  +0,50 — checking config"),
    (
        "edit",
        {"path": "config.lua", "oldText": "a", "newText": "b", "label": "fixing typo"},
        "config.lua — fixing typo",
    ),
    (
        "write",
        {"path": "output.txt", "content": "x" * 2355, "label": "saving log"},
        "output.txt  (2.3KB) — saving log",
    ),
    (
        "grep",
        {"pattern": "TODO", "glob": "*.lua", "path": None, "label": "finding TODOs"},
        "/TODO/  *.lua — finding TODOs",
    ),
    ("grep", {"pattern": "a", "path": "src", "label": "l"}, "/a/  src — l"),
    (
        "find",
        {"pattern": "*.test.lua", "path": "src/", "label": "finding tests"},
        "*.test.lua  in src/ — finding tests",
    ),
    (
        "ls",
        {"path": "src/", "max_depth": 3, "label": "exploring structure"},
        "src/  depth=3 — exploring structure",
    ),
    ("ls", {"path": "src/", "max_depth": 1, "label": "l"}, "src/ — l"),
    ("flemma.jobs.status", {"job_id": "job_abc"}, "job_abc"),
    ("bash", {"label": "only why"}, "only why"),
]


def test_every_built_in_tool_has_its_own_format(show: Callable[..., Editor]) -> None:
    editor = show(*((name, tool_input) for name, tool_input, _ in BUILT_IN))
    wait_for(editor, *(f"{name}: {expected}" for name, _, expected in BUILT_IN))


def test_harness_parameters_never_show(show: Callable[..., Editor]) -> None:
    editor = show(
        ("other", {"a": 1, "flemma.save_to": "x", "flemma.background": True}),
        ("nothing", {"flemma.save_to": None}),
    )
    wait_for(editor, "other: {a: 1}", "nothing")


def test_an_unknown_tool_is_shown_as_a_mapping_on_one_line(show: Callable[..., Editor]) -> None:
    editor = show(
        ("tool_name", {"query": "search term", "limit": 10}),
        ("labelled", {"label": "what for", "deep": {"list": [1, None]}, "yes": True}),
        ("wordless", {"label": 7}),
        ("bare", {}),
    )
    wait_for(
        editor,
        'tool_name: {query: "search term", limit: 10}',
        'labelled: {deep: {"list": [1, null]}, "yes": true} — what for',
        "wordless: {label: 7}",
        "bare",
    )


WIDE_MAPPING = {"first": "x" * 30, "second": "line one\nline two", "label": "why"}
INLINE = 'many: {first: "' + "x" * 30 + '", second: "line one\\nline two"} — why'
BLOCK = [
    "many: — why",
    '    first: "' + "x" * 30 + '"',
    "    second: |-",
    "      line one",
    "      line two",
]


def test_the_mapping_becomes_a_block_when_it_does_not_fit_and_a_line_again(
    show: Callable[..., Editor],
) -> None:
    editor = show(("many", WIDE_MAPPING), size=(60, 30))
    editor.command("setlocal shiftwidth=4")
    editor.command("edit")
    wait_for(editor, *BLOCK)
    editor.request("nvim_ui_try_resize", 120, 30)
    wait_for(editor, INLINE)
    editor.request("nvim_ui_try_resize", 60, 30)
    wait_for(editor, *BLOCK)


@pytest.mark.parametrize(
    ("count", "last"),
    [(11, "        key11: 11"), (12, "        2 more lines"), (99, "        89 more lines")],
)
def test_a_long_block_says_how_much_of_it_is_left_out(
    show: Callable[..., Editor], count: int, last: str
) -> None:
    editor = show(("many", {f"key{number}": number for number in range(1, count + 1)}))
    editor.wait_until(lambda: previews(editor))
    shown = previews(editor)
    assert shown[:2] == ["many:", "        key1: 1"]
    assert shown[-1] == last


@pytest.mark.parametrize(
    "command",
    [
        "echo " + "漢字" * 60,
        "echo " + "e\u0301" * 200,
        "echo " + "👩‍👩‍👧" * 60,
        "echo " + "a" * 300,
        "printf '\\t' " + "\t" * 100,
    ],
)
def test_the_detail_is_cut_to_the_columns_neovim_counts_and_the_label_stays(
    show: Callable[..., Editor], command: str
) -> None:
    """Case B-15."""
    editor = show(("bash", {"command": command, "label": "whole label"}), size=(72, 20))
    editor.wait_until(lambda: previews(editor))
    (shown,) = previews(editor)
    columns = editor.call("strdisplaywidth", shown)
    assert shown.startswith("bash: $ ")
    assert shown.endswith("… — whole label")
    assert 64 <= columns <= 72
    shown.encode()


def test_a_label_without_room_is_cut_as_well(show: Callable[..., Editor]) -> None:
    editor = show(("bash", {"command": "make", "label": "because " * 30}), size=(50, 20))
    editor.wait_until(lambda: previews(editor))
    (shown,) = previews(editor)
    assert shown.endswith("…")
    assert editor.call("strdisplaywidth", shown) <= 50


def test_line_breaks_are_the_sign_of_listchars(show: Callable[..., Editor]) -> None:
    editor = show(
        ("bash", {"command": "a\nb\r\nc", "label": "x\ny"}), lua='vim.o.listchars = "eol:¶"'
    )
    wait_for(editor, "bash: $ a¶b¶c — x¶y")


FORMATS = (
    HEAD
    + """
local function tool(name, format_preview)
  tools.register(name, {
    description = name, input_schema = { type = "object" },
    execute = function() return { success = true, output = "ran" } end,
    format_preview = format_preview,
  })
end
tool("text", function(input) return "only " .. input.what end)
tool("parts", function(input) return { label = input.label, detail = { input.path, "(5B)" } } end)
tool("label", function(input) return { label = "just why" } end)
tool("nothing", function() return {} end)
tool("nil", function() end)
tool("throws", function() error("no idea") end)
tool("width", function(input, max_length) return type(max_length) .. tostring(max_length > 20) end)
tool("quiet", function(input)
  return { label = input.label, detail = input.limit and ("limit " .. input.limit) or nil }
end)
tool("code", function() return { detail = "return 1", highlight = { lang = "lua" } } end)
"""
)


def test_formats_written_in_lua(show: Callable[..., Editor]) -> None:
    editor = show(
        ("text", {"what": "this", "label": "never promoted"}),
        ("parts", {"path": "out.txt", "label": "saving"}),
        ("label", {}),
        ("nothing", {"a": 1}),
        ("nil", {"a": 1}),
        ("throws", {"a": 1, "label": "generic"}),
        ("width", {}),
        ("quiet", {"limit": 3}),
        lua=FORMATS,
    )
    wait_for(
        editor,
        "text: only this",
        "parts: out.txt  (5B) — saving",
        "label: just why",
        "nothing",
        "nil",
        "throws: {a: 1} — generic",
        "width: numbertrue",
        "quiet: limit 3",
    )


PYTHON = """
import flemma.tools
from flemma.tools.definition import ToolPreview

def tool(name, format_preview):
    flemma.tools.register(name, description=name, input_schema={"type": "object"},
        execute=lambda input, ctx: None, format_preview=format_preview)

tool("py_text", lambda input: f"only {input['what']}")
tool("py_parts", lambda input: {"label": input["label"], "detail": [input["path"], "(5B)"]})
tool("py_object", lambda input: ToolPreview(detail="d", label="l"))
tool("py_width", lambda input, max_length: f"{max_length > 20}")
tool("py_raises", lambda input: 1 / 0)
"""


def test_formats_written_in_python_come_when_their_module_is_loaded(
    show: Callable[..., Editor], tmp_path: Path
) -> None:
    module = tmp_path / "tools.py"
    module.write_text(PYTHON)
    editor = show(
        ("py_text", {"what": "this"}),
        ("py_parts", {"path": "out.txt", "label": "saving"}),
        ("py_object", {}),
        ("py_width", {}),
        ("py_raises", {"a": 1}),
        options={"tools": {"modules": [str(module)]}},
    )
    wait_for(
        editor,
        "py_text: only this",
        "py_parts: out.txt  (5B) — saving",
        "py_object: d — l",
        "py_width: True",
        "py_raises: {a: 1}",
    )


def test_a_format_is_asked_again_when_the_call_or_the_tool_changes(
    show: Callable[..., Editor],
) -> None:
    editor = show(("text", {"what": "this"}))
    wait_for(editor, 'text: {what: "this"}')
    editor.exec_lua(FORMATS)
    wait_for(editor, "text: only this")
    row = editor.lines().index('{"what": "this"}')
    editor.request("nvim_buf_set_lines", 0, row, row + 1, True, ['{"what": "that"}'])
    wait_for(editor, "text: only that")
    editor.exec_lua('require("flemma.tools").unregister("text")')
    wait_for(editor, 'text: {what: "that"}')


def groups(editor: Editor) -> set[str]:
    """Return all highlight groups of the virtual lines."""
    found: set[str] = set()
    for mark in editor.extmarks():
        for line in mark.details.get("virt_lines", []):
            for chunk in line:
                names = chunk[1] if isinstance(chunk[1], list) else [chunk[1]]
                found.update(names)
    return found


@pytest.mark.parametrize(("enabled", "coloured"), [(True, True), (False, False)])
def test_a_detail_is_coloured_where_there_is_a_parser(
    show: Callable[..., Editor], enabled: bool, coloured: bool
) -> None:
    options = {"ui": {"approval": {"syntax_highlighting": enabled}}}
    editor = show(("code", {}), lua=FORMATS, options=options)
    wait_for(editor, "code: return 1")
    syntax = {group for group in groups(editor) if group.startswith("@")}
    assert bool(syntax) is coloured
    assert "FlemmaToolPreview" in groups(editor)


def test_the_preview_goes_when_the_result_comes(show: Callable[..., Editor]) -> None:
    editor = show(("text", {"what": "this"}), lua=FORMATS)
    wait_for(editor, "text: only this")
    editor.set_cursor(editor.lines().index("**Tool Result:** `t0` (pending)") + 1)
    editor.keys("<M-CR>")
    editor.wait_for_text("ran")
    wait_for(editor)

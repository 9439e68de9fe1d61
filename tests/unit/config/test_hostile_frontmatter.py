"""A chat file is untrusted input: hostile blocks end in a diagnostic, in no harm, in bounded time.

The limits are processor time and instructions, so nothing here looks at a clock; a block that is
not stopped runs into the time limit of the test itself.
"""

import pytest

from tests.unit.config.support import evaluate, messages

pytestmark = pytest.mark.timeout(20)

TIME = "took too long and was stopped"
MEMORY = "not enough memory"


@pytest.mark.parametrize(
    "code",
    [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "xpcall(function() while true do end end, function() while true do end end)",
        "local t = setmetatable({}, {__index = function() while true do end end}) x = t.a",
        "local t = setmetatable({}, {__tostring = function() while true do end end}) error(t)"
        " while true do end",
        "('a'):rep(40):find(('a*'):rep(30) .. 'b')",
        "('a'):rep(40):match(('a-'):rep(30) .. 'b')",
        "('a'):rep(40):gsub(('a?'):rep(40) .. 'b', '')",
        "for _ in ('a'):rep(40):gmatch(('a*'):rep(30) .. 'b') do end",
        "local s = ('x'):rep(1e6) while true do local _ = s:upper() end",
        "while true do local _ = flemma.opt.thinking.level end",
        "while true do pcall(flemma.opt.tools.append, flemma.opt.tools, 'x') end",
        "while true do pcall(include) end",
        "local t = {} for i = 1, 300000 do t[i] = -i end while true do table.sort(t) end",
        "goto = 1 while goto do goto = goto + 1 end",
        "repeat until false",
    ],
)
def test_endless_work_is_stopped(code: str) -> None:
    result = evaluate(code, include=lambda: 1 / 0)
    assert any(TIME in text or "error object" in text for text in messages(result))
    assert result.unusable


@pytest.mark.parametrize(
    "code",
    [
        "local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local f f = function(...) return f(1, ...) end f()",
        "x = ('x'):rep(1e9)",
        "x = string.rep('abc', 1e8)",
        "x = table.concat({('x'):rep(4e6), ('x'):rep(4e6), ('x'):rep(4e6), ('x'):rep(4e6)})",
    ],
)
def test_memory_bombs_are_refused(code: str) -> None:
    result = evaluate(code)
    assert result.unusable
    (text,) = messages(result)
    assert any(word in text for word in (MEMORY, "too large", "overflow", TIME))


def test_memory_that_is_caught_and_tried_again_runs_out_of_time() -> None:
    code = "while true do pcall(function() local s = 'x' while true do s = s .. s end end) end"
    assert messages(evaluate(code)) == [TIME]


@pytest.mark.parametrize(
    "name",
    [
        "io",
        "package",
        "debug",
        "require",
        "module",
        "dofile",
        "loadfile",
        "load",
        "loadstring",
        "setfenv",
        "getfenv",
        "_G",
        "coroutine",
        "newproxy",
        "collectgarbage",
        "python",
        "print",
        "gcinfo",
        "jit",
        "ffi",
    ],
)
def test_nothing_outside_the_sandbox_has_a_name(name: str) -> None:
    assert messages(evaluate(f"x = {name}")) == [f"Undefined variable '{name}'"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = os.execute == nil and os.getenv == nil and os.exit == nil", True),
        ("x = string.dump == nil", True),
        ("x = getmetatable('')", False),
        ("x = getmetatable(flemma)", False),
        ("x = getmetatable(flemma.opt)", False),
        ("x = pcall(setmetatable, flemma.opt, {})", False),
        ("string.rep = nil string.find = error x = ('a'):rep(3) .. ('a'):find('a')", "aaa1"),
        ("rawset(flemma.opt, 'tools', 1) x = flemma.opt.provider", "anthropic"),
        ("local s = getmetatable('') x = pcall(function() s.__index = nil end)", False),
    ],
)
def test_metatable_tricks_do_no_harm(code: str, expected: object) -> None:
    result = evaluate(code)
    assert messages(result) == []
    assert result.variables["x"] == expected


def test_what_one_block_breaks_the_next_one_does_not_see() -> None:
    evaluate("math.huge = 1 string.format = nil table.insert = nil tostring = nil")
    assert evaluate("x = string.format('%d', 3)").variables == {"x": "3"}


def test_python_objects_are_closed() -> None:
    code = (
        "local ok, problem = pcall(function() return call.__globals__ end)\n"
        "x = ok or tostring(problem)\n"
        "y = type(call)\n"
    )
    result = evaluate(code, call=len)
    assert result.variables["y"] == "function"
    assert "attempt to index" in str(result.variables["x"])


def test_an_error_of_python_reaches_lua_as_plain_text() -> None:
    code = "local ok, problem = pcall(call) x = type(problem) .. ': ' .. problem"
    result = evaluate(code, call=lambda: 1 / 0)
    assert result.variables["x"] == "string: frontmatter:1: division by zero"


def test_a_flood_of_settings_ends() -> None:
    result = evaluate("for i = 1, 1e7 do flemma.opt.thinking = 'low' end")
    assert messages(result) == ["more than 1000 settings are written"]
    assert len(result.operations) == 1000


@pytest.mark.parametrize("language", ["lua", "yaml", "json"])
def test_a_megabyte_is_refused_before_it_is_read(language: str) -> None:
    text = "-- " if language == "lua" else "# "
    (message,) = messages(evaluate(text + "x" * 1_000_000, language))
    assert message.startswith("Frontmatter is too large: 1000")


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "(" * 50_000,
        "x = " + "{" * 300 + "}" * 300,
        "x = " + "-" * 50_000 + "1",
        "x = " + "not " * 50_000 + "1",
        "x = '" + "a" * 200_000,
        "x = " + "a.." * 50_000 + "a",
        "if x then " * 5_000,
        "string.find('a', ('('):rep(40))",
        "string.find(('a?'):rep(100000), ('(a?'):rep(100000))",
        "table.insert({}, -2147483648, 1)",
        "string.find(('a'):rep(4e6), ('a'):rep(2e6) .. 'b', 1, true)",
        "unpack({}, 1, 1e8)",
        "string.format('%9999d', 1)",
        "local t = setmetatable({}, {__index = function(t, k) return t[k] end}) x = t.a",
        "local function f() return f() + 1 end f()",
    ],
)
def test_what_would_overflow_a_parser_or_a_stack_is_an_error(code: str) -> None:
    result = evaluate(code)
    assert result.unusable
    assert len(result.failures) == 1


@pytest.mark.parametrize(
    "code",
    [
        "[" * 200_000,
        "a: " + "{a: " * 100,
        "&a [*a]",
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "\n".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]" for i in range(9)
        ),
        "[" + "1," * 100_000 + "]",
        'a: !!python/object/apply:os.system ["true"]',
        "? [a]\n: b",
        "a: \x00",
        "a: [",
        "a: 1\n\tb: 2",
        "a: 2024-13-45",
    ],
)
def test_hostile_yaml_is_one_error(code: str) -> None:
    result = evaluate(code, "yaml")
    assert result.unusable
    (message,) = messages(result)
    assert message.startswith("YAML parse error: ")


@pytest.mark.parametrize("code", ["[" * 100_000, '{"a":' * 50_000, "1" * 5_000, '{"a": 1,}', "nul"])
def test_hostile_json_is_one_error(code: str) -> None:
    result = evaluate(code, "json")
    assert len(result.failures) == 1
    assert result.unusable

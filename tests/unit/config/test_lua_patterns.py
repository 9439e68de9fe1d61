"""The bounded matcher agrees with the one of Lua (which is why nobody notices it)."""

from functools import cache
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lupa import lua51

from tests.unit.config.support import evaluate

CHEAP = "  return repeats == 1 or (#subject + 1) ^ repeats <= MAX_COST"


@cache
def _runtime() -> Any:
    """The native string library, and ours with the way to the native one closed."""
    folder = files("flemma.config.frontmatter").joinpath("lua")
    patterns = folder.joinpath("patterns.lua").read_text()
    assert CHEAP in patterns
    lua: Any = lua51.LuaRuntime(unpack_returned_tuples=True)
    load = lua.execute("return function(code, ...) return assert(loadstring(code))(...) end")
    safe = load(
        patterns.replace(CHEAP, "  return false"), load(folder.joinpath("matcher.lua").read_text())
    )
    run = lua.execute(
        """
        local function pack(...) return { n = select("#", ...), ... } end
        local function show(library, name, ...)
          local results
          if name == "gmatch" then
            results = pack(pcall(function(subject, pattern)
              local all = {}
              for a, b in library.gmatch(subject, pattern) do
                all[#all + 1] = tostring(a) .. "," .. tostring(b)
              end
              return table.concat(all, ";")
            end, ...))
          else
            results = pack(pcall(library[name], ...))
          end
          if not results[1] then return "error" end
          for index = 1, results.n do
            results[index] = type(results[index]) .. ":" .. tostring(results[index])
          end
          return table.concat(results, "|", 1, results.n)
        end
        return show
        """
    )
    return run, lua.globals().string, safe


def agree(name: str, *arguments: object) -> str:
    run, native, safe = _runtime()
    expected = run(native, name, *arguments)
    assert run(safe, name, *arguments) == expected
    return expected


pieces = st.sampled_from(
    ["a", "b", ".", "%a", "%d", "%s", "%.", "%%", "[ab]", "[^a]", "[a-c]", "[%d_]", "[]x]", "(", ")",  # noqa: E501
     "()", "*", "+", "-", "?", "^", "$", "%1", "%b()", "%f[%a]", "[", "%", " ", "1"]
)  # fmt: skip
patterns = st.lists(pieces, max_size=6).map("".join)
subjects = st.text(alphabet="abc1 ()._x%\n", max_size=10)


@settings(max_examples=400)
@given(subjects, patterns, st.integers(-12, 12))
def test_find_and_match_agree(subject: str, pattern: str, start: int) -> None:
    agree("find", subject, pattern, start)
    agree("match", subject, pattern, start)


@settings(max_examples=400)
@given(subjects, patterns, st.sampled_from(["", "x", "<%0>", "%1%%", "%2"]), st.integers(0, 3))
def test_gsub_and_gmatch_agree(subject: str, pattern: str, replacement: str, limit: int) -> None:
    agree("gsub", subject, pattern, replacement)
    agree("gsub", subject, pattern, replacement, limit)
    agree("gmatch", subject, pattern)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("match", ("  trim me ", "^%s*(.-)%s*$"), "trim me"),
        ("match", ("key = value", "(%w+)%s*=%s*(%w+)"), "value"),
        ("find", ("rm -rf /", "rm %-rf"), "number:1"),
        ("gsub", ("hello world", "o", "0"), "hell0 w0rld"),
        ("gsub", ("abc", "%w", "%0%0"), "aabbcc"),
        ("match", ("f(a(b)c)d", "%b()"), "(a(b)c)"),
        ("find", ("a.b", ".", 1, True), "number:2|number:2"),
        ("match", ("THE (quick) fox", "%((%a+)%)"), "quick"),
        ("gsub", ("THE fox", "%f[%a]%a+", "x"), "x x"),
    ],
)
def test_usual_patterns_give_what_they_do_in_lua(name, arguments, expected) -> None:
    assert expected in agree(name, *arguments)


def test_replacements_may_be_tables_and_functions() -> None:
    for value in ("{ a = 1 }", "function(letter) return letter == 'a' and 1 end"):
        code = f"s, n = ('a-b'):rep(90):gsub('%a*%-*%a*', {value})"
        assert evaluate(code).failures == ()
    code = "s, n = ('a'):rep(300):gsub('[ab]*a*', function(all) return #all end)"
    assert evaluate(code).variables == {"s": "3000", "n": 2}

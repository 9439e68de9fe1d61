"""Glob patterns for paths."""

import re
from fnmatch import translate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.tools.builtin.path_globs import has_wildcard, name_below, path_glob, split_path


@pytest.mark.parametrize(
    ("glob", "hits", "misses"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/x"]),
        ("a?c", ["abc", "x/a.c"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "d/bx"], ["dx", "x"]),
        ("[!a]x", ["bx"], ["ax", "/x"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("[]x]", ["]", "x"], ["a"]),
        ("[z-a]", ["z", "a", "-"], ["m"]),
        ("[", ["["], ["a"]),
        ("[!]", ["[!]"], ["a"]),
        ("{a,b*}.c", ["a.c", "bb.c"], ["c.c", "{a,b*}.c"]),
        ("{a,{b,c}}", ["a", "b", "c"], ["d"]),
        ("{a", ["{a"], ["a"]),
        ("a}", ["a}"], ["a"]),
        ("a,b", ["a,b"], ["a"]),
        ("a+(b)^$.|", ["a+(b)^$.|"], ["aab"]),
        (r"\*", ["*"], ["a", r"\a"]),
        ("**", ["a", "b/c"], []),
        ("src/*.py", ["src/a.py"], ["a.py", "src/x/a.py", "x/src/a.py"]),
        ("/src", ["src"], ["x/src"]),
        ("src/**", ["src/a", "src/b/c"], ["src", "x/src/a"]),
        ("**/x/*.c", ["x/a.c", "a/b/x/a.c"], ["x/y/a.c", "yx/a.c"]),
        ("a/**/b", ["a/b", "a/x/y/b"], ["a/xb", "ab"]),
        ("{a/b,c}/d", ["a/b/d", "c/d"], ["a/d"]),
    ],
)
def test_a_glob_matches_as_a_gitignore_line_does(
    glob: str, hits: list[str], misses: list[str]
) -> None:
    pattern = path_glob(glob)
    assert [path for path in hits if not pattern.fullmatch(path)] == []
    assert [path for path in misses if pattern.fullmatch(path)] == []


def test_a_name_is_matched_at_any_depth_below_the_directories() -> None:
    pattern = name_below(["l*", "**"], "*.c")
    assert pattern.fullmatch("lib/a.c")
    assert pattern.fullmatch("lib/x/y/a.c")
    assert not pattern.fullmatch("src/lib/a.c")


def test_slashes_in_braces_do_not_split() -> None:
    assert split_path("a/{b/c,d}/e") == ["a", "{b/c,d}", "e"]
    assert split_path("a/{b/c") == ["a", "{b", "c"]
    assert [has_wildcard(text) for text in ("a*", "?", "[x]", "{a}", "100%#")] == [
        True,
        True,
        True,
        True,
        False,
    ]


NAMES = st.text(alphabet="ab.*?[]!-", max_size=8)


@given(NAMES, st.text(alphabet="ab.-]", min_size=1, max_size=6))
def test_a_name_without_braces_means_what_it_means_to_a_shell(glob: str, name: str) -> None:
    assert bool(path_glob(glob).fullmatch(name)) is bool(re.match(translate(glob), name))


@given(st.text(alphabet="a{},*?[]!^-\\/&|~", max_size=30), st.text(alphabet="a/{}", max_size=10))
def test_any_text_is_a_pattern(glob: str, name: str) -> None:
    path_glob(glob).fullmatch(name)
    path_glob(glob).fullmatch("a" * 200)

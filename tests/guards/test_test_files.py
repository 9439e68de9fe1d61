"""Habits of the tests themselves, where a linter has no rule."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

TESTS = Path(__file__).resolve().parent.parent
TEST_FILES = sorted(TESTS.rglob("test_*.py"))

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


def functions(source: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def checks_something(function: Function, checkers: frozenset[str]) -> bool:
    """Whether it asserts, expects an exception, or mentions a function that does."""
    for node in ast.walk(function):
        match node:
            case ast.Assert() | ast.Raise() | ast.Attribute(attr="raises" | "fail"):
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in checkers:
                return True
            case _:
                pass
    return False


def checkers_among(sources: list[str]) -> frozenset[str]:
    """Return the names of all functions that check something, by themselves or through others."""
    helpers = [each for source in sources for each in functions(source) if not is_test(each)]
    found: frozenset[str] = frozenset()
    while True:
        more = frozenset(each.name for each in helpers if checks_something(each, found))
        if more == found:
            return found
        found = more


@cache
def checkers() -> frozenset[str]:
    return checkers_among([path.read_text() for path in TESTS.rglob("*.py")])


def is_test(function: Function) -> bool:
    return function.name.startswith("test_")


def says_that_nothing_raises(function: Function) -> bool:
    """Whether to come to its end is its statement: by name, or because hypothesis feeds it."""
    fed = any("given" in ast.unparse(decorator) for decorator in function.decorator_list)
    return fed or "raises" in function.name


def unchecked_tests(source: str, checkers: frozenset[str]) -> list[str]:
    return [
        function.name
        for function in functions(source)
        if is_test(function)
        and not checks_something(function, checkers)
        and not says_that_nothing_raises(function)
    ]


def uses_mocks(source: str) -> bool:
    return any(
        isinstance(node, ast.Import | ast.ImportFrom)
        and "unittest" in ast.unparse(node)
        and "mock" in ast.unparse(node)
        for node in ast.walk(ast.parse(source))
    )


@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_each_test_checks_something_real(path: Path):
    source = path.read_text()
    assert unchecked_tests(source, checkers()) == []
    assert not uses_mocks(source), "use the ports' fakes: a patched inside proves nothing"


@pytest.mark.parametrize(
    ("body", "is_found"),
    [
        ("print(1)", True),
        ("calls_nothing()", True),
        ("with pytest.raises(E): f()", False),
        ("calls_a_check()", False),
    ],
)
def test_an_empty_test_is_found(body: str, is_found: bool):
    helpers = "def check():\n    assert x\ndef calls_a_check():\n    check()\n"
    source = f"{helpers}def calls_nothing():\n    pass\ndef test_x():\n    {body}\n"
    assert unchecked_tests(source, checkers_among([source])) == ["test_x"] * is_found


def test_a_mock_is_found():
    assert uses_mocks("from unittest import mock")
    assert not uses_mocks("import unittest")


def test_each_test_directory_is_a_package_so_that_file_names_may_repeat():
    without = {path.parent for path in TEST_FILES if not (path.parent / "__init__.py").exists()}
    assert without == set()

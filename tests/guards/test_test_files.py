"""Habits of the tests themselves, where a linter has no rule."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
TEST_FILES = sorted(TESTS.rglob("test_*.py"))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def checks_something(function: ast.AST, checkers: frozenset[str]) -> bool:
    """Whether it asserts, expects an exception, or calls a function of the file that does."""
    for node in ast.walk(function):
        match node:
            case ast.Assert() | ast.Attribute(attr="raises"):
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in checkers:
                return True
            case _:
                pass
    return False


def says_that_nothing_raises(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether to come to its end is its statement: by name, or because hypothesis feeds it."""
    fed = any("given" in ast.unparse(decorator) for decorator in function.decorator_list)
    return fed or "raises" in function.name


def unchecked_tests(source: str) -> list[str]:
    tree = ast.parse(source)
    checkers = frozenset(
        function.name for function in functions(tree) if checks_something(function, frozenset())
    ) | {"fail", "wait_until", "wait_for_text"}
    return [
        function.name
        for function in functions(tree)
        if function.name.startswith("test_")
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
    assert unchecked_tests(source) == []
    assert not uses_mocks(source), "use the ports' fakes: a patched inside proves nothing"


def test_an_empty_test_and_a_mock_are_found():
    assert unchecked_tests("def test_x():\n    print(1)\n") == ["test_x"]
    assert unchecked_tests("def test_x():\n    with raises(E): f()\n") == ["test_x"]
    assert unchecked_tests("def test_x():\n    with pytest.raises(E): f()\n") == []
    assert uses_mocks("from unittest import mock")


def test_each_test_directory_is_a_package_so_that_file_names_may_repeat():
    without = {path.parent for path in TEST_FILES if not (path.parent / "__init__.py").exists()}
    assert without == set()

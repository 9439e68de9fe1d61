"""What all tests share: a failed test that drove an editor shows what was in it."""

from collections.abc import Generator

import pytest

from tests.support.nvim import Editor


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        for editor in _editors(item):
            report.sections.append(("Neovim", _describe(editor)))
    return report


def _editors(item: pytest.Item) -> list[Editor]:
    values = getattr(item, "funcargs", {}).values()
    return [value for value in values if isinstance(value, Editor)]


def _describe(editor: Editor) -> str:
    try:
        return editor.describe()
    except (OSError, AssertionError) as error:
        return f"Neovim does not answer any more: {error}"

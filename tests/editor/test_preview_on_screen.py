"""A pending call shows what it would do, whether markup is concealed or not (behaviour 12.4)."""

from collections.abc import Callable

import pytest

from tests.support.nvim import Editor

PENDING = """\
@Assistant:
I will run the tests.

**Tool Use:** `bash` (`toolu_1`)
```json
{"command": "make test", "label": "running the tests"}
```

@You:

**Tool Result:** `toolu_1` (pending)
```
```
"""
PREVIEW = "bash: $ make test — running the tests"


@pytest.fixture
def pending(start_editor: Callable[..., Editor]) -> Editor:
    editor = start_editor(options={"provider": "demo"})
    path = editor.directory / "a.chat"
    path.write_text(PENDING)
    editor.open(path)
    return editor


def is_shown(editor: Editor) -> bool:
    return any(PREVIEW in line for line in editor.screen_lines())


def test_the_preview_is_on_the_screen(pending: Editor):
    pending.wait_until(lambda: is_shown(pending), timeout=20, message="the preview")


def test_the_preview_stays_when_markup_is_shown_and_concealed_again(pending: Editor):
    pending.wait_until(lambda: is_shown(pending), timeout=20, message="the preview")
    pending.keys("]oe[oe")
    pending.wait_until(lambda: is_shown(pending), message="the preview")
    pending.keys("yoe")
    pending.wait_until(lambda: is_shown(pending), message="the preview")

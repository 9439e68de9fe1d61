"""Short ways to draw a chat in these tests."""

from dataclasses import dataclass
from typing import Any

from flemma.chat.document import Document
from flemma.chat.nodes import ToolUse
from flemma.chat.parser import parse_lines
from flemma.ui.payloads import Fold, Mark, View
from flemma.ui.scene import Scene
from flemma.ui.state import RunState, ViewOptions


@dataclass(frozen=True)
class Summary:
    """A preview with everything a view may ask for."""

    name: str
    detail: str | None = None
    label: str | None = None
    block: tuple[str, ...] = ()
    highlight: str | None = None


def summary_of(use: ToolUse) -> Summary:
    """Summarise a call the simplest way."""
    label = use.input.get("label")
    return Summary(use.name, str(use.input.get("command", "")), str(label) if label else None)


def document(text: str) -> Document:
    """Parse a text."""
    return parse_lines(text.split("\n"))


def scene(text: str, run: RunState | None = None, options: ViewOptions | None = None) -> Scene:
    """Return the scene of a text."""
    return Scene(document(text), run or RunState(), options or ViewOptions(), summary_of)


def of_kind(marks: list[Mark], kind: str) -> list[Mark]:
    """Return the marks of one kind."""
    return [mark for mark in marks if mark["kind"] == kind]


def words(fold: Fold) -> str:
    """Return the text of a fold when there is room for all of it."""
    entries = " | ".join("".join(chunk[0] for chunk in entry) for entry in fold["entries"])
    head = "".join(chunk[0] for chunk in fold["head"])
    return head + entries + "".join(chunk[0] for chunk in fold["tail"])


class Screen:
    """Applies views as Lua does: what is drawn, by key."""

    def __init__(self) -> None:
        self.messages: dict[int, dict[str, Any]] = {}
        self.turns: list[list[int]] = []

    def draw(self, view: View) -> None:
        """Apply a view."""
        if view.get("reset"):
            self.messages.clear()
        for key in view["remove"]:
            del self.messages[key]
        for message in view["set"]:
            # The place of later messages moves with the text; Lua keeps it by an extmark.
            self.messages[message["key"]] = {k: v for k, v in message.items() if k != "start"}
        self.turns = view.get("turns", self.turns)


TOOLS = """@You:
do it

@Assistant:
<thinking anthropic:signature="s">
so
</thinking>

On it.

**Tool Use:** `bash` (`t1`)
```json
{"command": "make test", "label": "running tests"}
```

@You:

**Tool Result:** `t1` (pending)
```
```
"""

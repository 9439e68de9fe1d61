"""The previews of the calls of a chat, also those that have to be asked for.

Tools written in Lua or in Python by users have formats that answer later. Until then the generic
form is shown; each call is asked about once.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from flemma.chat.nodes import ToolUse
from flemma.ports.tasks import Tasks
from flemma.tools.definition import RemotePreview, ToolDefinition
from flemma.tools.harness import strip
from flemma.tools.previews import PreviewText, own_preview, preview
from flemma.tools.registry import ToolRegistry

log = logging.getLogger(__name__)

MOST = 2000
"""Calls whose previews are remembered."""


@dataclass(slots=True)
class _Shown:
    """A call, the tool it was formatted by (None: not known yet), and its best preview so far."""

    use: ToolUse
    definition: ToolDefinition | None
    text: PreviewText

    def is_about(self, use: ToolUse, definition: ToolDefinition | None) -> bool:
        """Whether it is still this call: the user may edit it, the tool may be redefined."""
        same_call = self.use.name == use.name and self.use.input == use.input
        return same_call and self.definition is definition


class CallPreviews:
    """The previews of one buffer."""

    def __init__(self, tools: ToolRegistry, tasks: Tasks, changed: Callable[[], None]) -> None:
        self._tools = tools
        self._tasks = tasks
        self._changed = changed
        self._shown: dict[str, _Shown] = {}
        self._later: Mapping[str, PreviewText] = {}

    @property
    def later(self) -> Mapping[str, PreviewText]:
        """Previews that became known after the call was drawn, by tool use id; another mapping
        after every new one."""
        return self._later

    def of(self, use: ToolUse) -> PreviewText:
        """Return the best preview of a call there is now."""
        definition = self._tools.get(use.name)
        shown = self._shown.get(use.id)
        if shown is None or not shown.is_about(use, definition):
            shown = self._show(use, definition)
        return shown.text

    def tools_changed(self) -> None:
        """Tools came or went: calls of them look different."""
        stale = [
            shown.use
            for shown in self._shown.values()
            if self._tools.get(shown.use.name) is not shown.definition
        ]
        for use in stale:
            self._show(use, self._tools.get(use.name))
        self._announce(use.id for use in stale)

    def _show(self, use: ToolUse, definition: ToolDefinition | None) -> _Shown:
        shown = _Shown(use, definition, preview(definition, use.name, use.input))
        self._shown.pop(use.id, None)
        self._shown[use.id] = shown
        if len(self._shown) > MOST:
            del self._shown[next(iter(self._shown))]
        if definition is not None and definition.remote_preview is not None:
            self._tasks.spawn(self._ask(shown, definition.remote_preview), f"preview of {use.name}")
        return shown

    async def _ask(self, shown: _Shown, format_preview: RemotePreview) -> None:
        values, _ = strip(shown.use.input)
        try:
            own = await format_preview(values)
        except Exception:
            # Code of whoever wrote the tool: the generic form stays, the log says why.
            log.exception("format_preview of tool '%s' failed", shown.use.name)
            return
        shown.text = own_preview(shown.use.name, own)
        if self._shown.get(shown.use.id) is shown:
            self._announce([shown.use.id])

    def _announce(self, identifiers: Iterable[str]) -> None:
        news = {identifier: self._shown[identifier].text for identifier in identifiers}
        if news:
            kept = {key: text for key, text in self._later.items() if key in self._shown}
            self._later = {**kept, **news}
            self._changed()

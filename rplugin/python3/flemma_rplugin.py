"""The manifest way: a regular pynvim plugin with the same thin entry as `python -m flemma.host`.

Only for who wants `:UpdateRemotePlugins`; without it Lua starts the host by itself. Both cannot run
at once: Lua refuses the second. The file is not called `flemma.py`, because pynvim imports it by
its bare name and would get the package instead.
"""

import sys
from pathlib import Path
from typing import Any

import pynvim

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flemma.adapters.nvim.connection import ENTRY, connection_of
from flemma.host.dispatcher import Dispatcher


class _Answer:
    """Keeps the answer of a request; pynvim sends what the handler returns."""

    value: Any = None

    def send(self, value: Any, error: bool = False) -> None:
        """Take the answer."""
        if error:
            raise RuntimeError(value)
        self.value = value


@pynvim.plugin
class FlemmaPlugin:
    """Offers this process to Lua as the host."""

    def __init__(self, nvim: Any) -> None:
        self._nvim = nvim
        self._dispatcher = Dispatcher(connection_of(nvim))

    @pynvim.function("FlemmaAttach", sync=True)
    def attach(self, arguments: list[Any]) -> Any:
        """Become the host of this editor; returns ``{ok, error}``."""
        del arguments
        payload = {"channel": self._nvim.channel_id}
        return self._nvim.exec_lua(ENTRY, "attach", payload)

    @pynvim.rpc_export("flemma")
    def message(self, *arguments: Any) -> None:
        """Take a message of Lua."""
        self._dispatcher.on_notification("flemma", arguments)

    @pynvim.rpc_export("nvim_buf_lines_event")
    def lines_event(self, *arguments: Any) -> None:
        """Take changed lines."""
        self._dispatcher.on_notification("nvim_buf_lines_event", arguments)

    @pynvim.rpc_export("nvim_buf_changedtick_event")
    def tick_event(self, *arguments: Any) -> None:
        """Take a changedtick."""
        self._dispatcher.on_notification("nvim_buf_changedtick_event", arguments)

    @pynvim.rpc_export("nvim_buf_detach_event")
    def detach_event(self, *arguments: Any) -> None:
        """Take a detachment."""
        self._dispatcher.on_notification("nvim_buf_detach_event", arguments)

    @pynvim.rpc_export("flemma:ping", sync=True)
    def ping(self, *arguments: Any) -> Any:
        """Answer the health check."""
        return self._answer("flemma:ping", arguments)

    @pynvim.rpc_export("flemma:complete", sync=True)
    def complete(self, *arguments: Any) -> Any:
        """Answer a completion."""
        return self._answer("flemma:complete", arguments)

    @pynvim.rpc_export("flemma:context", sync=True)
    def context(self, *arguments: Any) -> Any:
        """Answer a running Lua tool."""
        return self._answer("flemma:context", arguments)

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        answer = _Answer()
        self._dispatcher.on_request(name, arguments, answer)
        return answer.value

"""A sandbox backend written in Python by a user."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from flemma.adapters.threads import in_own_thread
from flemma.errors import SandboxUnavailable
from flemma.ports.sandbox import SandboxPolicy


class PythonSandbox:
    """Implements :class:`flemma.ports.sandbox.SandboxBackend` by two functions."""

    def __init__(self, name: str, functions: Mapping[str, Any]) -> None:
        self.name = name
        self.priority = int(functions["priority"])
        self._available: Callable[..., Any] = functions["available"]
        self._wrap: Callable[..., Any] = functions["wrap"]

    async def available(self) -> str | None:
        """Return None when the backend says it can be used, else its reason."""
        try:
            answer = await called(self._available, name=f"sandbox {self.name}")
        except Exception as error:  # noqa: BLE001 - code of the user; a broken backend is none
            return f"{type(error).__name__}: {error}"
        if answer is None or answer is True:
            return None
        return str(answer) if answer else "the backend gave no reason"

    async def wrap(self, policy: SandboxPolicy, argv: Sequence[str]) -> Sequence[str]:
        """Return the argument list that runs ``argv`` confined. Raises
        :class:`SandboxUnavailable` with the backend's own reason."""
        try:
            wrapped = await called(self._wrap, policy, list(argv), name=f"sandbox {self.name}")
        except Exception as error:
            raise SandboxUnavailable(str(error), backend=self.name) from error
        if not isinstance(wrapped, list | tuple) or not wrapped:
            raise SandboxUnavailable(
                f"Sandbox backend '{self.name}' returned no command.", backend=self.name
            )
        return [str(word) for word in cast("Sequence[Any]", wrapped)]


async def called(function: Callable[..., Any], *arguments: Any, name: str) -> Any:
    """Return what a function of the user returns, be it plain or a coroutine function."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    returned = await in_own_thread(function, *arguments, name=name)
    return await returned if inspect.isawaitable(returned) else returned

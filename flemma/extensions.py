"""What Python code of users adds to Flemma, beside tools (those: :func:`flemma.tools.register`).

A module named in `tools.modules`, a `.py` file named there, or a package with an entry point in the
group `flemma.tools` calls these functions while it is imported, or later::

    from flemma import extensions

    extensions.register_resolver("team.policy", resolve, priority=75)

Like the Lua side, this module only keeps what was registered; a front end that starts is told
everything, then each change as it comes. Functions may be called from any thread.
"""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

__all__ = [
    "register_backup",
    "register_frontmatter",
    "register_provider",
    "register_resolver",
    "register_sandbox",
    "unregister",
]


class Kind(StrEnum):
    """What can be registered."""

    TOOL = "tool"
    SOURCE = "tool_source"
    MODULE = "module"
    RESOLVER = "resolver"
    FRONTMATTER = "frontmatter"
    SANDBOX = "sandbox"
    PROVIDER = "provider"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class Registration:
    """One thing registered. ``origin`` is the module that did it; ``value`` None takes it back."""

    kind: Kind
    name: str
    value: Any
    origin: str


Listener: TypeAlias = Callable[[Registration], None]

_entries: dict[tuple[Kind, str], Registration] = {}
_listener: Listener | None = None
_lock = threading.RLock()
_origin: ContextVar[str] = ContextVar("origin", default="python")


def register_resolver(
    name: str, resolve: Callable[..., Any], *, priority: int = 50, description: str = ""
) -> None:
    """Add an approval resolver; one of the same name is replaced.

    ``resolve(tool_name, input, context)``, plain or a coroutine function, returns ``"approve"``,
    ``"require_approval"``, ``"deny"`` or None to pass. ``context`` has ``bufnr`` and ``tool_id``.
    """
    value = {"resolve": _function(resolve, "resolve"), "priority": priority}
    add(Kind.RESOLVER, name, {**value, "description": description})


def register_frontmatter(name: str, parse: Callable[..., Any]) -> None:
    """Add a frontmatter language; ``name`` is the word behind the opening fence.

    ``parse(code, names)``, plain or a coroutine function, returns a mapping: variables of the
    templates, and settings below the key ``flemma``. What it raises is shown on the block.
    """
    add(Kind.FRONTMATTER, name.lower(), _function(parse, "parse"))


def register_sandbox(
    name: str, available: Callable[[], Any], wrap: Callable[..., Any], *, priority: int = 50
) -> None:
    """Add a sandbox backend; higher priorities are tried first.

    ``available()`` returns None when the backend can be used, else the reason. ``wrap(policy,
    argv)`` returns the list of arguments that runs ``argv`` confined; ``policy`` has ``rw_paths``,
    ``network`` and ``allow_privileged``. Both may be coroutine functions.
    """
    functions = {"available": _function(available, "available"), "wrap": _function(wrap, "wrap")}
    add(Kind.SANDBOX, name, {**functions, "priority": priority})


def register_provider(provider: Any) -> None:
    """Add a provider, an object with the methods of :class:`flemma.providers.protocol.Provider`."""
    add(Kind.PROVIDER, str(provider.name), provider)


def register_backup(name: str, backup: Callable[[str], Any]) -> None:
    """Add a strategy for `tools.store.backup`: ``backup(path)`` moves that file out of the way."""
    add(Kind.BACKUP, name, _function(backup, "backup"))


def unregister(kind: str, name: str) -> bool:
    """Take back what was registered as `tool`, `resolver`, `frontmatter` or `sandbox`; tell whether
    it was there."""
    with _lock:
        if _entries.pop((Kind(kind), name), None) is None:
            return False
        _tell(Registration(Kind(kind), name, None, _origin.get()))
        return True


def add(kind: Kind, name: str, value: Any) -> None:
    """Keep a registration in place of one of the same kind and name, and pass it on."""
    if not name.strip():
        raise ValueError(f"a {kind} needs a name")
    with _lock:
        entry = Registration(kind, name, value, _origin.get())
        _entries[kind, name] = entry
        _tell(entry)


def connect(listener: Listener) -> None:
    """Tell a front end everything that was registered, then each change. It replaces the one told
    before; a process has one."""
    global _listener
    with _lock:
        _listener = listener
        for entry in tuple(_entries.values()):
            listener(entry)


@contextmanager
def registering(origin: str) -> Generator[None]:
    """Name ``origin`` as the place of what is registered inside."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def registered() -> Mapping[tuple[Kind, str], Registration]:
    """Return everything that is registered."""
    with _lock:
        return dict(_entries)


def forget() -> None:
    """Forget everything and tell nobody any more."""
    global _listener
    with _lock:
        _listener = None
        _entries.clear()


def _tell(entry: Registration) -> None:
    if _listener is not None:
        _listener(entry)


def _function(value: Any, name: str) -> Callable[..., Any]:
    if not callable(value):
        raise TypeError(f"'{name}' has to be a function, got {type(value).__name__}")
    return value

"""The built-in tools: each module has a ``definition()``, imported when first asked for."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from flemma.tools.definition import ToolDefinition


def _definition(module: str) -> ToolDefinition:
    return import_module(module).definition()


MODULES: Mapping[str, str] = {
    name: f"{__name__}.{name.removeprefix('flemma.').replace('.', '_')}"
    for name in (
        "bash",
        "read",
        "write",
        "edit",
        "grep",
        "find",
        "ls",
        "flemma.jobs.status",
    )
}
"""The module of each built-in tool."""

BUILTINS: Mapping[str, Callable[[], ToolDefinition]] = {
    name: partial(_definition, module) for name, module in MODULES.items()
}
"""What makes each built-in tool."""


def builtin_definitions() -> tuple[ToolDefinition, ...]:
    """Import and return all of them, fresh: what they remember belongs to one registry."""
    return tuple(make() for make in BUILTINS.values())

"""The built-in tools: each module has a ``definition()``, imported when first asked for."""

from importlib import import_module

from flemma.tools.definition import ToolDefinition

MODULES = ("bash", "read", "write", "edit", "grep", "find", "ls", "jobs_status")


def builtin_definitions() -> tuple[ToolDefinition, ...]:
    """Import and return all of them, fresh: what they remember belongs to one registry."""
    return tuple(import_module(f"flemma.tools.builtin.{name}").definition() for name in MODULES)

"""Tool definitions, registry, execution context, harness parameters; and the registration of tools
by Python code of users, :func:`register`.

Everything below this package imports it, so it imports nothing itself.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["register", "unregister"]


def register(subject: Any, definition: Mapping[str, Any] | None = None, /, **fields: Any) -> None:
    """Register tools; what was registered under a name before is replaced.

    - ``register("name", description=..., input_schema=..., execute=...)``: one tool; the fields may
      also stand in a mapping
    - ``register([{"name": ..., ...}, ...])``: several
    - ``register("package.module")``: a module that exports `definitions`, `resolve` or `approval`
    - ``register(resolve)``: a function of ``(register, done)`` that finds tools later
    - ``register({"resolve": resolve, "timeout": seconds})``: the same with a time limit

    Fields: `description`, `input_schema` (a node of :mod:`flemma.schema` or raw JSON Schema),
    `execute(input, ctx)`, `strict`, `asynchronous` (also `"async"` in a mapping; true for coroutine
    functions unless said), `enabled`, `capabilities`, `format_preview(input)`, `output_schema`,
    `personalities`. Raises :class:`flemma.errors.ConfigError` that names what is wrong.
    """
    from flemma.tools.registration import register_tools

    register_tools(subject, definition, fields)


def unregister(name: str) -> bool:
    """Take a tool back; tell whether it was there."""
    from flemma import extensions

    return extensions.unregister(extensions.Kind.TOOL, name)

"""Paths of the exploration tools: from what a model writes to a place on disk, and back.

Everything in a path is literal: spaces, quotes, ``%``, ``#``, brackets (cases E-26, E-27).
"""

import os.path

from flemma.ports.files import FileKind
from flemma.tools.builtin.inputs import position_input
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolInput

_STORE = "$FLEMMA_TOOLS_STORE_PATH"


def locate(context: ToolContext, path: str) -> str:
    """Return the absolute path; relative ones start at the working directory of the tool.

    An ``@`` in front, as chats write file references, is dropped unless such a file exists.
    """
    found = _absolute(context, path)
    if path.startswith("@") and context.files.kind(found) is FileKind.MISSING:
        return _absolute(context, path[1:])
    return found


def shown_path(path: str, cwd: str) -> str:
    """Return ``path`` relative to ``cwd`` if it lies inside (``.`` for itself), else unchanged."""
    if path == cwd:
        return "."
    prefix = cwd if cwd.endswith("/") else f"{cwd}/"
    return path.removeprefix(prefix)


def given_text(tool_input: ToolInput, key: str) -> str:
    """Return a text parameter, empty when it is null, absent or blank."""
    value = tool_input.get(key)
    return value if isinstance(value, str) and value.strip() else ""


def given_count(tool_input: ToolInput, key: str, default: int, most: int) -> int:
    """Return a count parameter: rounded down, at least 1, at most ``most``."""
    value = position_input(tool_input, key)
    return default if value is None else min(value, most)


def _absolute(context: ToolContext, path: str) -> str:
    if path == "~" or path.startswith(("~/", f"{_STORE}/")) or path == _STORE:
        return os.path.normpath(context.path.resolve(path))
    return os.path.normpath(os.path.join(context.cwd, path or "."))  # noqa: PTH118 - literal text, no Path

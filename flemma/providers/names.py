"""Tool names and tool use ids on the wire (spec: behaviour 8.3; cases B-07, B-18, B-19)."""

import hashlib
import re
from collections.abc import Iterable

MAX_LENGTH = 64
SEPARATOR = "__"

_LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_LENGTH = 8


def wire_name(name: str) -> str:
    """Return the wire form of an internal tool name: every `.` becomes `__`.

    A name that no service takes (from an MCP server, or an old or edited file) gets legal
    characters and a digest of its own. It is the form that :mod:`flemma.tools.wire_names` gives the
    tool itself, so that calls in the history name the tool that is offered.
    """
    plain = name.replace(".", SEPARATOR)
    if _LEGAL_NAME.fullmatch(plain):
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    legal = _ILLEGAL.sub("_", plain)
    if not legal[:1].isalpha():
        legal = f"_{legal}"
    return f"{legal[: MAX_LENGTH - _DIGEST_LENGTH - 1]}_{digest}"


def internal_name(wire: str) -> str:
    """Return the internal name of a tool as the model called it."""
    return wire.replace(SEPARATOR, ".")


def wire_id(identifier: str) -> str:
    """Return an id made of legal characters, at most 64, without trailing underscores."""
    return _ILLEGAL.sub("_", identifier)[:MAX_LENGTH].rstrip("_") or "call"


def unique_ids(identifiers: Iterable[str]) -> list[str]:
    """Return a wire id for each, in order; a repeated one gets a number behind it.

    An id depends only on those before it, so that a longer conversation keeps the prefix.
    """
    taken: set[str] = set()
    made: list[str] = []
    for identifier in identifiers:
        base = wire_id(identifier)
        candidate, number = base, 1
        while candidate in taken:
            number += 1
            suffix = f"_{number}"
            candidate = base[: MAX_LENGTH - len(suffix)] + suffix
        taken.add(candidate)
        made.append(candidate)
    return made

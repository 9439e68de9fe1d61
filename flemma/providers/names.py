"""Tool names and tool use ids on the wire (spec: behaviour 8.3; cases B-07, B-18, B-19)."""

import hashlib
import re
from collections.abc import Iterable

MAX_LENGTH = 64
SEPARATOR = "__"

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def wire_name(name: str) -> str:
    """Return the wire form of an internal tool name: every `.` becomes `__`.

    A name from an old or edited file may still be illegal; it is bent into shape so that it cannot
    spoil the request, with a digest of the whole name where it is too long.
    """
    wire = _ILLEGAL.sub("_", name.replace(".", SEPARATOR))
    if len(wire) > MAX_LENGTH:
        digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
        wire = f"{wire[: MAX_LENGTH - 9]}_{digest}"
    return wire or "_"


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

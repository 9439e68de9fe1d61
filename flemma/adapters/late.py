"""Parts that are made, and their modules imported, when they are first used.

A host has a quarter of a second to paint the first chat, and most of what a request or a tool needs
would be imported in that time for nothing. The composition root wraps such parts; nobody else has
to know.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

Part = TypeVar("Part")


def late(make: Callable[[], Part]) -> Part:
    """Return a stand-in that calls ``make`` at its first use and passes everything on to the part.

    It is for objects with methods: special methods, operators among them, are not passed on.
    """
    return cast("Part", _Late(make))


class _Late:
    __slots__ = ("_make", "_part")

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        # Only called for names that this class has not, `_part` among them until it is set.
        if name == "_part":
            self._part = self._make()
            return self._part
        return getattr(self._part, name)

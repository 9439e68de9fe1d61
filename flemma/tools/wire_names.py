"""Tool names on the wire: `.` becomes `__`, and what a service refuses is mapped (case B-18).

Services take 1 to 64 of ``A-Za-z0-9_-``, some of them not a digit or hyphen first. A name that
fits after the replacement is sent like that; any other gets legal characters and a short digest of
its own, so that it is the same in every request.
"""

import hashlib
import re
from collections.abc import Iterable

MAX_LENGTH = 64
_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ILLEGAL_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST_LENGTH = 8


def encode_name(name: str) -> str:
    """Return the wire form of one name (spec: behaviour 8.3)."""
    plain = name.replace(".", "__")
    return plain if _LEGAL.fullmatch(plain) else _with_digest(name)


def decode_name(wire_name: str) -> str:
    """Return the internal form of a wire name of which nothing else is known."""
    return wire_name.replace("__", ".")


class WireNames:
    """The names of one request, mapped both ways without loss.

    Two names with the same wire form (`a.b` and `a__b`) get different ones: the dotted name keeps
    the plain form.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._internal: dict[str, str] = {}
        # Dotted names first; sorted, so that the order of registration does not matter.
        for name in sorted(set(names), key=lambda name: ("." not in name, name)):
            wire = encode_name(name)
            if wire in self._internal:
                wire = _with_digest(name)
            self._wire[name] = wire
            self._internal[wire] = name

    def wire(self, name: str) -> str:
        """Return the wire form of ``name``, which need not be one of the request."""
        return self._wire.get(name) or encode_name(name)

    def internal(self, name: str) -> str:
        """Return the internal name for a wire name, or for one that a decoder already turned into
        the dotted form."""
        for wire in (name, name.replace(".", "__")):
            if wire in self._internal:
                return self._internal[wire]
        return decode_name(name)


def _with_digest(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    legal = _ILLEGAL_CHARACTER.sub("_", name.replace(".", "__"))
    if not legal[:1].isalpha():
        legal = f"_{legal}"
    return f"{legal[: MAX_LENGTH - _DIGEST_LENGTH - 1]}_{digest}"

"""Functions and values that every template knows (spec: behaviour 10.2)."""

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from flemma.errors import TemplateError
from flemma.templating.paths import PATH

_DATE_WIDTH = re.compile(r"%[-_0^#]*\d")


class Symbol:
    """A key for options of `include()` that no variable can have."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"symbols.{self._name}"


BINARY = Symbol("BINARY")
"""Option of `include()`: attach the file instead of rendering it."""

MIME = Symbol("MIME")
"""Option of `include()`: the MIME type of an attached file."""


@dataclass(frozen=True, slots=True)
class Populator:
    """Adds to the environment of all templates (`templating.modules`).

    Those with lower priority run first; later ones may override and delete names.
    """

    name: str
    populate: Callable[[dict[str, Any]], None]
    priority: int = 500


def library(populators: Iterable[Populator], now: datetime, pid: int) -> dict[str, Any]:
    """Return the names all templates know. ``now`` is the time `os.date` and `os.time` tell."""
    builtin = (
        Populator("stdlib", lambda names: names.update(_standard(now, pid)), 100),
        Populator("format", lambda names: names.update(format=dict(_FORMAT)), 150),
        Populator("iterators", lambda names: names.update(values=_values, each=_each), 200),
    )
    by_name = {populator.name: populator for populator in (*builtin, *populators)}
    names: dict[str, Any] = {}
    for populator in sorted(by_name.values(), key=lambda known: (known.priority, known.name)):
        populator.populate(names)
    return names


def _standard(now: datetime, pid: int) -> dict[str, Any]:
    return {
        "symbols": {"BINARY": BINARY, "MIME": MIME},
        "math": dict(_MATH),
        "utf8": {"len": len, "char": _characters, "codepoint": ord},
        "os": {
            "date": partial(_date, now),
            "time": partial(int, now.timestamp()),
            "clock": time.thread_time,
            "difftime": _difference,
        },
        "flemma": {"path": dict(PATH), "pid": pid},
    }


def _date(now: datetime, pattern: str = "%c", when: float | None = None) -> str:
    """Format like Lua's `os.date`: a leading ``!`` means UTC."""
    if _DATE_WIDTH.search(pattern):
        raise TemplateError("Widths are not available in date formats")
    moment = now if when is None else datetime.fromtimestamp(when, now.tzinfo)
    if pattern.startswith("!"):
        return moment.astimezone(UTC).strftime(pattern[1:])
    return moment.strftime(pattern)


def _difference(later: float, earlier: float = 0) -> float:
    return later - earlier


def _characters(*codes: int) -> str:
    return "".join(map(chr, codes))


def _values(table: Any) -> list[Any]:
    """Return the values of a mapping, or the items of a list."""
    return list(cast("Mapping[Any, Any]", table).values() if isinstance(table, Mapping) else table)


def _each(table: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each item with where it stands, like the `loop` of a `for`."""
    items = _values(table)
    for index, item in enumerate(items):
        yield (
            item,
            {
                "index": index + 1,
                "index0": index,
                "first": index == 0,
                "last": index + 1 == len(items),
                "length": len(items),
            },
        )


def _number(value: float) -> str:
    return f"{value:,}"


def _percent(ratio: float, decimals: int = 0) -> str:
    return f"{ratio * 100:.{_few(decimals)}f}%"


def _money(amount: float, decimals: int = 2) -> str:
    return f"${amount:,.{_few(decimals)}f}"


def _tokens(count: float) -> str:
    for factor, unit in ((1_000_000, "M"), (1_000, "K")):
        if count >= factor:
            return f"{count / factor:.1f}".removesuffix(".0") + unit
    return f"{count:g}"


def _few(decimals: int) -> int:
    return max(0, min(decimals, 20))


_FORMAT: Mapping[str, Callable[..., str]] = {
    "number": _number,
    "tokens": _tokens,
    "money": _money,
    "percent": _percent,
}

_MATH: Mapping[str, Any] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "fmod": math.fmod,
    "huge": math.inf,
    "log": math.log,
    "max": max,
    "min": min,
    "pi": math.pi,
    "sqrt": math.sqrt,
}

"""The filters and tests of templates: those of Jinja2 that make sense for prompts, weighed.

Left out are the ones for HTML, the random ones (a prompt has to be byte-stable) and ``attr``.
"""

import functools
import html
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jinja2 import filters as jinja
from jinja2.tests import TESTS

from flemma.templating.compiler import PACED_FILTER
from flemma.templating.limits import Meter, ValueTooLargeError
from flemma.templating.operations import apply_operator, join_text, percent_weight, replaced
from flemma.templating.printing import printed, to_json

_KEPT = (
    *("abs", "capitalize", "count", "d", "default", "dictsort", "filesizeformat", "first", "float"),
    *("groupby", "int", "items", "last", "length", "list", "lower", "map", "max", "min"),
    *("reject", "rejectattr", "reverse", "select", "selectattr", "sort", "title", "trim"),
    *("unique", "upper", "urlencode", "wordcount"),
)

_WRAP_LIMIT = 200_000
_COUNT_LIMIT = 100_000
_LARGEST_PRECISION = 100

Filter = Callable[..., Any]


def filters(meter: Meter) -> dict[str, Filter]:
    """Return all filters; whatever one returns is charged to ``meter``."""
    own = {name: functools.partial(function, meter) for name, function in _OWN.items()}
    kept = {name: jinja.FILTERS[name] for name in _KEPT}
    return {name: _charged(meter, function) for name, function in (kept | own).items()}


def tests(meter: Meter) -> dict[str, Filter]:
    """Return all tests; each keeps time."""
    return {name: _charged(meter, function) for name, function in TESTS.items()}


def _charged(meter: Meter, function: Filter) -> Filter:
    def call(*arguments: Any, **options: Any) -> Any:
        return meter.charge(function(*arguments, **options))

    pass_argument = getattr(function, "jinja_pass_arg", None)
    if pass_argument is not None:
        call.jinja_pass_arg = pass_argument  # pyright: ignore[reportFunctionMemberAccess]
    return call


def _join(meter: Meter, values: Iterable[object], separator: object = "") -> str:
    return join_text(meter, values, printed(meter, separator))


def _replace(meter: Meter, text: object, old: str, new: str, count: int | None = None) -> str:
    return replaced(meter, printed(meter, text), old, new, -1 if count is None else count)


def _format(meter: Meter, text: str, *values: object, **named: object) -> str:
    meter.allow(percent_weight(text, named or values))
    return text % (named or values)


def _center(meter: Meter, text: object, width: int = 80) -> str:
    meter.allow(width)
    return printed(meter, text).center(width)


def _indent(meter: Meter, text: str, width: int | str = 4, *rest: bool, **options: bool) -> str:
    step = width if isinstance(width, int) else len(width)
    meter.allow(len(text) + step * (1 + len(text.splitlines())))
    return jinja.do_indent(text, width, *rest, **options)


def _truncate(
    _meter: Meter,
    text: str,
    length: int = 255,
    killwords: bool = False,
    end: str = "...",
    leeway: int = 5,
) -> str:
    if len(text) <= length + leeway:
        return text
    head = text[: max(0, length - len(end))]
    return (head if killwords else head.rsplit(" ", 1)[0]) + end


def _wordwrap(
    meter: Meter,
    text: str,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str = "\n",
) -> str:
    if len(text) > _WRAP_LIMIT:
        raise ValueTooLargeError(f"Only text of up to {_WRAP_LIMIT:,} characters can be wrapped")
    lines: list[str] = []
    for line in text.splitlines():
        meter.tick()
        wrapped = textwrap.wrap(
            line,
            width,
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=break_long_words,
        )
        lines.extend(wrapped or [""])
    return join_text(meter, lines, wrapstring)


def _batch(meter: Meter, values: Iterable[object], size: int, fill: object = None) -> object:
    _count(size)
    return jinja.do_batch(_paced(meter, values), size, fill)


def _slice(meter: Meter, values: Iterable[object], slices: int, fill: object = None) -> object:
    _count(slices)
    return jinja.sync_do_slice(list(_paced(meter, values)), slices, fill)


def _count(number: int) -> None:
    if not 0 < number <= _COUNT_LIMIT:
        raise ValueTooLargeError(f"The count must be between 1 and {_COUNT_LIMIT:,}, not {number}")


def _round(_meter: Meter, value: float, precision: int = 0, method: Any = "common") -> float:
    if abs(precision) > _LARGEST_PRECISION:
        raise ValueTooLargeError(f"The precision must be at most {_LARGEST_PRECISION}")
    return jinja.do_round(value, precision, method)


def _sum(meter: Meter, values: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    total = start
    for value in values:
        addend = value[attribute] if attribute is not None else value
        total = apply_operator(meter, "+", total, addend)
    return total


def _escape(meter: Meter, value: object) -> str:
    return html.escape(printed(meter, value))


def _tojson(meter: Meter, value: object, indent: int | None = None) -> str:
    return to_json(meter, value, indent)


def _paced(meter: Meter, values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        meter.tick()
        yield value


_OWN: Mapping[str, Filter] = {
    PACED_FILTER: _paced,
    "batch": _batch,
    "center": _center,
    "e": _escape,
    "escape": _escape,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "round": _round,
    "slice": _slice,
    "string": printed,
    "sum": _sum,
    "tojson": _tojson,
    "truncate": _truncate,
    "wordwrap": _wordwrap,
}

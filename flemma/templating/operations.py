"""Operations that can make much of little, weighed before they are carried out."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from flemma.templating.limits import NUMBER_BITS, Meter, ValueTooLargeError, weigh
from flemma.templating.printing import printed

_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?")
_NUMBER = re.compile(r"\d+")
_SEQUENCES = (str, list, tuple)

_Binary: TypeAlias = Callable[[Any, Any], Any]

ARITHMETIC: Mapping[str, _Binary] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right,
    "//": lambda left, right: left // right,
    "**": lambda left, right: left**right,
    "%": operator.mod,
}


def apply_operator(meter: Meter, symbol: str, left: Any, right: Any) -> Any:
    """Apply a binary operator. Raises :class:`ValueTooLargeError`."""
    meter.allow(_expected_weight(symbol, left, right))
    return meter.charge(ARITHMETIC[symbol](left, right))


def _expected_weight(symbol: str, left: Any, right: Any) -> int:
    match symbol:
        case "*":
            return _product_weight(left, right) + _product_weight(right, left)
        case "**" if isinstance(left, int) and isinstance(right, int):
            return _power_weight(left, right)
        case "%" if isinstance(left, str):
            return percent_weight(left, right)
        case "+" if isinstance(left, _SEQUENCES):
            return weigh(cast("object", left)) + weigh(right)
        case _:
            return 0


def _product_weight(sequence: object, times: object) -> int:
    if isinstance(sequence, _SEQUENCES) and isinstance(times, int):
        return weigh(cast("object", sequence)) * max(0, times)
    return 0


def _power_weight(base: int, exponent: int) -> int:
    bits = base.bit_length() * max(0, exponent) if abs(base) > 1 else 0
    if bits > NUMBER_BITS:
        raise ValueTooLargeError(f"The number would be too large (limit {NUMBER_BITS:,} bits)")
    return bits // 8


def percent_weight(template: str, values: object) -> int:
    """Return at most how long ``template % values`` becomes. Raises :class:`ValueTooLargeError`."""
    total = len(template)
    value_weight: int | None = None
    for match in _PERCENT.finditer(template):
        if "*" in (match[1], match[2]):
            raise ValueTooLargeError("Widths taken from values ('%*d') are not available")
        if value_weight is None:
            value_weight = 4 * weigh(values)
        total += value_weight + _width(match[1]) + _width(match[2])
    return total


def check_format_spec(meter: Meter, spec: str) -> None:
    """Refuse gigantic widths and precisions of `str.format`. Raises :class:`ValueTooLargeError`."""
    for match in _NUMBER.finditer(spec):
        meter.allow(_width(match[0]))


def _width(digits: str | None) -> int:
    if not digits:
        return 0
    return int(digits) if len(digits) < 10 else 10**10


def join_text(meter: Meter, values: Any, separator: str = "") -> str:
    """Join the text of ``values``, stopping when it becomes too large."""
    texts: list[str] = []
    total = 0
    for value in values:
        text = printed(meter, value)
        total += len(text) + len(separator)
        meter.allow(total)
        meter.tick()
        texts.append(text)
    meter.spend(total)
    return separator.join(texts)


def replaced(meter: Meter, text: str, old: str, new: str, count: int = -1) -> str:
    """Replace ``old`` by ``new``, at most ``count`` times when that is not negative."""
    found = text.count(old)
    times = found if count < 0 else min(found, count)
    meter.allow(len(text) + times * len(new))
    return text.replace(old, new, count)

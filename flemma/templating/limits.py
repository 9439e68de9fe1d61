"""What a template may cost: processor time, memory, size of one value.

The sandbox of Jinja2 keeps a template away from the machine but lets it burn time and memory, and a
chat file is untrusted input (design.md, decision 2). Every value a template makes is therefore
weighed, as if it were written out: a string weighs its length, a container its items. Shared
structures count as often as they are reachable, so that printing or comparing what passed the
scales is always cheap.
"""

import time
from collections.abc import Callable, Collection, Mapping, Set
from typing import TypeVar, cast

from flemma.errors import TemplateError

VALUE_LIMIT = 2_000_000
"""Largest weight of one value: characters, or 8 for each item of a container."""

TOTAL_LIMIT = 40_000_000
"""Largest weight of everything one evaluation makes."""

SECONDS = 0.8
"""Processor time that the templates of one evaluation may use, compiling apart."""

ATTACHMENT_DISCOUNT = 8
"""Bytes of an attached file that weigh as much as one character."""

CODE_LIMIT = 50_000
"""Characters of expressions and statements in one message or file."""

TAG_LIMIT = 2_000
"""Expressions and statements in one message or file; 5,000 take half a second to compile."""

TOTAL_TAG_LIMIT = 5_000
"""Expressions and statements in one evaluation."""

DEPTH_LIMIT = 60
"""Nesting of one expression; deeper code trips Python's own parser."""

NUMBER_BITS = 16_000
ITEM_WEIGHT = 8

_Value = TypeVar("_Value")


class ValueTooLargeError(Exception):
    """One operation would make a value that is too large; only its expression fails."""


class BudgetSpentError(TemplateError):
    """Time or memory of the whole evaluation is used up; nothing of it can go on."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="limit")


class Meter:
    """Counts what an evaluation costs. Not running, it does not count time."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._left = SECONDS
        self._deadline = float("inf")
        self._weight = 0
        self._tags = 0
        self._depth = 0

    def __enter__(self) -> "Meter":
        """Start counting time; an include runs inside the message that has it."""
        self._depth += 1
        if self._depth == 1:
            self._deadline = self._clock() + self._left
        return self

    def __exit__(self, *_: object) -> None:
        """Stop counting time."""
        self._depth -= 1
        if self._depth == 0:
            self._left = self._deadline - self._clock()
            self._deadline = float("inf")

    def tick(self) -> None:
        """Raise :class:`BudgetSpentError` when the time is up."""
        if self._clock() > self._deadline:
            raise BudgetSpentError(f"The template ran longer than {SECONDS:g} seconds")

    def allow(self, weight: int) -> None:
        """Raise :class:`ValueTooLargeError` unless a value of ``weight`` may be made."""
        if weight > VALUE_LIMIT:
            raise ValueTooLargeError(
                f"The value would be too large (limit {VALUE_LIMIT:,} characters)"
            )

    def spend(self, weight: int) -> None:
        """Take ``weight`` from the budget. Raises :class:`BudgetSpentError`."""
        self._weight += weight
        if self._weight > TOTAL_LIMIT:
            raise BudgetSpentError(
                f"The template made more than {TOTAL_LIMIT:,} characters of values"
            )

    def read(self, tags: int) -> None:
        """Count what is to be compiled. Raises :class:`BudgetSpentError`."""
        self._tags += tags
        if self._tags > TOTAL_TAG_LIMIT:
            raise BudgetSpentError(f"The templates have more than {TOTAL_TAG_LIMIT:,} expressions")

    def charge(self, value: _Value) -> _Value:
        """Weigh ``value``, take it from the budget and return it."""
        self.tick()
        self.spend(weigh(value))
        return value


def weigh(value: object) -> int:
    """Return the weight of ``value`` written out. Raises :class:`ValueTooLargeError`."""
    total = 0
    waiting: list[object] = [value]
    while waiting:
        current = waiting.pop()
        match current:
            case str() | bytes():
                total += len(current)
            case bool() | None | float():
                total += 1
            case int():
                total += weigh_number(current)
            case Mapping():
                mapping = cast("Mapping[object, object]", current)
                total += ITEM_WEIGHT * 2 * len(mapping)
                _refuse(total)
                waiting.extend(mapping.keys())
                waiting.extend(mapping.values())
            case list() | tuple() | Set():
                items = cast("Collection[object]", current)
                total += ITEM_WEIGHT * len(items)
                _refuse(total)
                waiting.extend(items)
            case range():
                total += ITEM_WEIGHT * len(current)
            case _:
                total += ITEM_WEIGHT
        _refuse(total)
    return total


def weigh_number(value: int) -> int:
    """Return the weight of a whole number. Raises :class:`ValueTooLargeError` for gigantic ones."""
    bits = value.bit_length()
    if bits > NUMBER_BITS:
        raise ValueTooLargeError(f"The number would be too large (limit {NUMBER_BITS:,} bits)")
    return 1 + bits // 8


def _refuse(total: int) -> None:
    if total > VALUE_LIMIT:
        raise ValueTooLargeError(f"The value is too large (limit {VALUE_LIMIT:,} characters)")

"""Output that is not only text: parts that a template passes along or includes."""

from collections.abc import Iterable, Iterator
from typing import Any


class Fragments(tuple[Any, ...]):
    """A sequence of text, parts and passed pieces; what a macro or an include yields when it is
    more than text."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the text in it, for filters and joins."""
        return "".join(item for item in self if isinstance(item, str))


def flattened(outputs: Iterable[object]) -> list[Any]:
    """Return the outputs in order, nested fragments opened and neighbouring texts joined."""
    result: list[Any] = []
    texts: list[str] = []
    for output in _opened(outputs):
        if isinstance(output, str):
            texts.append(output)
            continue
        if texts:
            result.append("".join(texts))
            texts.clear()
        result.append(output)
    if texts:
        result.append("".join(texts))
    return result


def joined(outputs: Iterable[object]) -> "str | Fragments":
    """Return a string when the outputs are only text, else fragments."""
    flat = flattened(outputs)
    match flat:
        case []:
            return ""
        case [str() as text]:
            return text
        case _:
            return Fragments(flat)


def _opened(outputs: Iterable[object]) -> Iterator[Any]:
    for output in outputs:
        if isinstance(output, Fragments):
            yield from output
        else:
            yield output

"""Methods of strings that templates may call; those that can blow up are weighed first."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flemma.templating.limits import Meter
from flemma.templating.operations import join_text, replaced

_PLAIN = (
    *("capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha"),
    *("isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isspace"),
    *("istitle", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix"),
    *("rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith"),
    *("strip", "swapcase", "title", "upper"),
)

TextMethod = Callable[..., Any]
"""Called with the meter, the string, and the arguments of the template."""


def _plain(name: str) -> TextMethod:
    method = getattr(str, name)

    def call(_meter: Meter, text: str, *arguments: object, **options: object) -> object:
        return method(text, *arguments, **options)

    return call


def _padding(name: str) -> TextMethod:
    method = getattr(str, name)

    def call(meter: Meter, text: str, width: int, *arguments: object) -> object:
        meter.allow(width)
        return method(text, width, *arguments)

    return call


def _expandtabs(meter: Meter, text: str, tabsize: int = 8) -> str:
    meter.allow(len(text) + text.count("\t") * tabsize)
    return text.expandtabs(tabsize)


def _join(meter: Meter, text: str, values: Iterable[object]) -> str:
    return join_text(meter, values, text)


TEXT_METHODS: Mapping[str, TextMethod] = {
    **{name: _plain(name) for name in _PLAIN},
    **{name: _padding(name) for name in ("center", "ljust", "rjust", "zfill")},
    "expandtabs": _expandtabs,
    "join": _join,
    "replace": replaced,
}

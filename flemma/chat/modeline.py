"""The modeline grammar of header suffixes and `:Flemma` arguments (spec: behaviour 1.6)."""

import math
import re
from dataclasses import dataclass

from flemma.chat.nodes import ModelineValue

_DOUBLE = r"""(?:\\[\\"]|\\(?![\\"])|[^"\\])*"""
_SINGLE = r"""(?:\\[\\']|\\(?![\\'])|[^'\\])*"""
_QUOTED = rf"""\"{_DOUBLE}(?:\"|\Z)|'{_SINGLE}(?:'|\Z)"""
_TOKEN = re.compile(rf"""(?:{_QUOTED}|[^\s"'])+""")
_KEYWORD = re.compile(r"([A-Za-z0-9_]+)=(.*)", re.DOTALL)
_WRAPPED = re.compile(rf"""\"{_DOUBLE}\"|'{_SINGLE}'""")
_ESCAPE = re.compile(r"\\([\\\"'])")
_ITEM = re.compile(rf"""(?:{_QUOTED}|[^,"'])*""")
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Modeline:
    """A parsed modeline.

    ``tokens`` are the tokens as written, one for each positional or keyword, nil ones included.
    """

    tokens: tuple[str, ...] = ()
    positionals: tuple[ModelineValue, ...] = ()
    keywords: tuple[tuple[str, ModelineValue], ...] = ()
    """In order of appearance; a keyword that was given as nil is here with None."""

    @property
    def options(self) -> dict[str, ModelineValue]:
        """The keywords that have a value; the last of equal ones wins."""
        return {key: value for key, value in self.explicit_options.items() if value is not None}

    @property
    def explicit_options(self) -> dict[str, ModelineValue]:
        """All keywords; None means that the value was given as nil, to clear a parameter."""
        return dict(self.keywords)


def parse_modeline(text: str) -> Modeline:
    """Parse ``text``; never raises, empty text gives an empty modeline."""
    tokens = tuple(found.group() for found in _TOKEN.finditer(text))
    positionals: list[ModelineValue] = []
    keywords: list[tuple[str, ModelineValue]] = []
    for token in tokens:
        key, value = split_token(token)
        if key is not None:
            keywords.append((key, value))
        elif value is not None:
            positionals.append(value)
    return Modeline(tokens, tuple(positionals), tuple(keywords))


def split_token(token: str) -> tuple[str | None, ModelineValue]:
    """Return key (None for a positional) and resolved value of one token."""
    keyword = _KEYWORD.fullmatch(token)
    if keyword is None:
        return None, resolve_value(token)
    return keyword.group(1), resolve_value(keyword.group(2))


def resolve_value(text: str) -> ModelineValue:
    """Turn the text of a value into a string, number, boolean, list, or None for nil."""
    if _WRAPPED.fullmatch(text):
        return _unquote(text)
    items = _split_commas(text)
    if len(items) > 1:
        return [resolve_value(item) for item in items]
    match text:
        case "" | "nil" | "null":
            return None
        case "true":
            return True
        case "false":
            return False
        case _:
            number = _number(text)
            return text if number is None else number


def _unquote(text: str) -> str:
    quote = text[0]
    return _ESCAPE.sub(
        lambda found: found.group(1) if found.group(1) in ("\\", quote) else found.group(),
        text[1:-1],
    )


def _split_commas(text: str) -> list[str]:
    if "," not in text:
        return [text]
    items: list[str] = []
    position = 0
    while True:
        found = _ITEM.match(text, position)
        end = found.end() if found else position
        items.append(text[position:end])
        if end >= len(text):
            return items
        position = end + 1


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else None
    return None

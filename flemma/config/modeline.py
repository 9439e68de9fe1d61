"""`key=value` arguments of presets and commands (grammar of spec: behaviour 1.6).

The chat format has the same grammar in its headers, where every token has to survive a rewrite;
here only the values count.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

Argument = bool | int | float | str | list["Argument"] | None
"""A value; None is `nil`, `null` or nothing, and clears a parameter."""

_KEYWORD = re.compile(r"([A-Za-z0-9_.]+)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments taken apart, in the order they were written."""

    positionals: tuple[str, ...]
    keywords: tuple[tuple[str, Argument], ...]


def parse_arguments(text: str) -> Arguments:
    """Take ``text`` apart; an unclosed quote runs to the end."""
    positionals: list[str] = []
    keywords: list[tuple[str, Argument]] = []
    for token in tokenize(text):
        keyword = _KEYWORD.fullmatch(token)
        if keyword:
            keywords.append((keyword[1], resolve_value(keyword[2])))
        else:
            positionals.append(_unquoted(token) or token)
    return Arguments(tuple(positionals), tuple(keywords))


def tokenize(text: str) -> Iterable[str]:
    """Yield the words of ``text``; quotes keep blanks together and stay in the word."""
    word = ""
    quote: str | None = None
    escaped = False
    for character in text:
        if quote is None and character.isspace():
            if word:
                yield word
            word = ""
            continue
        word += character
        if quote is None:
            quote = character if character in "\"'" else None
        elif escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == quote:
            quote = None
    if word:
        yield word


def resolve_value(text: str) -> Argument:
    """Return what ``text`` means: a string, number, boolean, nothing, or a list of them."""
    unquoted = _unquoted(text)
    if unquoted is not None:
        return unquoted
    parts = _split_outside_quotes(text)
    if len(parts) > 1:
        return [value for part in parts if (value := resolve_value(part)) is not None]
    match text:
        case "true":
            return True
        case "false":
            return False
        case "" | "nil" | "null":
            return None
        case _:
            return _number(text)


def _number(text: str) -> Argument:
    if not _NUMBER.fullmatch(text):
        return text
    if "x" in text.lower():
        return int(text, 16)
    return float(text) if re.search(r"[.eE]", text) else int(text)


def _unquoted(text: str) -> str | None:
    """Return the inside of a fully quoted ``text``, else None."""
    if len(text) < 2 or text[0] not in "\"'":
        return None
    quote = re.escape(text[0])
    inside = re.fullmatch(rf"{quote}((?:\\.|(?!{quote})[^\\])*){quote}", text, re.DOTALL)
    return re.sub(rf"\\({quote}|\\)", r"\1", inside[1]) if inside else None


def _split_outside_quotes(text: str) -> list[str]:
    parts = [""]
    quote: str | None = None
    for character in text:
        if quote is None and character == ",":
            parts.append("")
            continue
        if quote is None and character in "\"'":
            quote = character
        elif character == quote:
            quote = None
        parts[-1] += character
    return parts

"""Display columns of text, and cutting to them without splitting what reads as one character."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

Measure: TypeAlias = Callable[[str], int]
"""Display columns of a text."""

ELLIPSIS = "…"
_JOINERS = "\u200d\ufe0e\ufe0f"


def shorten(text: str, width: int, measure: Measure | None = None) -> str:
    """Cut ``text`` to ``width`` columns with an ellipsis, never inside a character cluster."""
    measure = measure or columns
    if measure(text) <= width:
        return text
    room = width - measure(ELLIPSIS)
    kept = ""
    for cluster in clusters(text):
        if measure(kept + cluster) > room:
            break
        kept += cluster
    return kept + ELLIPSIS if room >= 0 else ""


def columns(text: str) -> int:
    """Return display columns by the Unicode width tables; a cluster is as wide as its base."""
    return sum(_cluster_width(cluster) for cluster in clusters(text))


def clusters(text: str) -> list[str]:
    """Split into what a reader sees as one character: base, marks, joined emoji, flags."""
    found: list[str] = []
    for character in text:
        if found and _continues(found[-1], character):
            found[-1] += character
        else:
            found.append(character)
    return found


def _continues(cluster: str, character: str) -> bool:
    if unicodedata.combining(character) or character in _JOINERS or _is_skin_tone(character):
        return True
    if cluster[-1] == "\u200d":
        return True
    return _is_regional(character) and len(cluster) == 1 and _is_regional(cluster)


def _is_skin_tone(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _cluster_width(cluster: str) -> int:
    base = cluster[0]
    if unicodedata.combining(base) or unicodedata.category(base) in {"Cf", "Mn", "Me"}:
        return 0
    wide = unicodedata.east_asian_width(base) in "WF"
    return 2 if wide or "\ufe0f" in cluster or _is_regional(base) else 1

"""Did you mean."""

from collections.abc import Iterable

MAX_DISTANCE = 3


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate at most three typing errors from ``name``, case apart.

    Ties go to the first in alphabetical order. A candidate that shares nothing with the name is
    never offered: the distance has to be smaller than the longer of the two.
    """
    wanted = name.lower()
    best: tuple[int, str] | None = None
    for candidate in candidates:
        distance = edit_distance(wanted, candidate.lower(), MAX_DISTANCE)
        if distance > MAX_DISTANCE or distance >= max(len(wanted), len(candidate)):
            continue
        if best is None or (distance, candidate) < best:
            best = (distance, candidate)
    return best[1] if best else None


def edit_distance(left: str, right: str, limit: int) -> int:
    """Return the Levenshtein distance, or any number above ``limit`` when it is larger."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    previous = list(range(len(right) + 1))
    for row, left_character in enumerate(left, 1):
        current = [row]
        for column, right_character in enumerate(right, 1):
            substitution = previous[column - 1] + (left_character != right_character)
            current.append(min(previous[column] + 1, current[-1] + 1, substitution))
        if min(current) > limit:
            return limit + 1
        previous = current
    return previous[-1]

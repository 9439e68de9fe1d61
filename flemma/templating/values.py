"""Variables as templates see them: plain data only."""

import datetime
from collections.abc import Mapping, Sequence, Set
from typing import Any, cast

from flemma.errors import TemplateError
from flemma.templating.limits import ValueTooLargeError, weigh

_NOTHING = object()
_DEEPEST = 50


def plain_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with plain data: dates become ISO text, what is no data is left out.

    Raises :class:`flemma.errors.TemplateError` naming a variable that is too large; small files can
    describe gigantic values (YAML aliases).
    """
    result: dict[str, Any] = {}
    for name, value in variables.items():
        try:
            weigh(value)
            plain = _plain(value, 0)
        except ValueTooLargeError as error:
            raise TemplateError(f"Variable '{name}' is too large for templates") from error
        if plain is not _NOTHING:
            result[name] = plain
    return result


def _plain(value: object, depth: int) -> object:
    if depth > _DEEPEST:
        raise ValueTooLargeError("The value is nested too deeply")
    match value:
        case None | str() | int() | float():
            return value
        case datetime.date() | datetime.time():
            return value.isoformat()
        case Mapping():
            pairs = cast("Mapping[Any, object]", value).items()
            plain = ((key, _plain(item, depth + 1)) for key, item in pairs)
            return {key: item for key, item in plain if item is not _NOTHING}
        case bytes():
            return value.decode("utf-8", "replace")
        case Set():
            return _plain(sorted(cast("Set[Any]", value), key=str), depth)
        case Sequence():
            items = (_plain(item, depth + 1) for item in cast("Sequence[object]", value))
            return [item for item in items if item is not _NOTHING]
        case _:
            return _NOTHING

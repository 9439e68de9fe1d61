"""Rendering a template that is no message: paths of the result store, a status line."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from flemma.templating.includes import template_segments
from flemma.templating.library import library
from flemma.templating.limits import Meter
from flemma.templating.pieces import Piece, Tag, pieces_of
from flemma.templating.values import plain_variables


def render_text(
    source: str,
    variables: Mapping[str, Any],
    *,
    now: datetime,
    pid: int,
    transform: Callable[[str], str] | None = None,
) -> str:
    """Render ``source`` with the standard names and ``variables``; nothing can be included.

    ``transform`` changes the text of every expression. Raises
    :class:`flemma.errors.TemplateError`.
    """
    from flemma.templating.engine import Engine, Hooks, as_template_error

    def give_up(_piece: Piece, line: int, error: Exception) -> object:
        raise as_template_error(error, line) from error

    pieces = pieces_of(template_segments(source))
    if not any(isinstance(piece, Tag) for piece in pieces):
        return source
    names = library((), now, pid) | plain_variables(variables)
    output = Engine(Meter()).run(pieces, names, Hooks(give_up, transform))
    return "".join(item for item in output.items if isinstance(item, str))

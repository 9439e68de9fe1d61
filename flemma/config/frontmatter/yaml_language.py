"""Frontmatter in YAML, safe and bounded."""

import datetime
from collections.abc import Iterator, Sequence
from typing import Any, cast

import yaml

from flemma.config.frontmatter.data import from_data
from flemma.config.frontmatter.result import FrontmatterContext, FrontmatterResult, failed
from flemma.config.options import Path
from flemma.config.shapes import items_of, table_of

MAX_DEPTH = 64
"""Deepest nesting; the C parser recurses without a limit of its own."""
MAX_VALUES = 50_000
"""Most values of a block with its aliases written out ("billion laughs")."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Refused(Exception):
    pass


def evaluate_yaml(code: str, context: FrontmatterContext) -> FrontmatterResult:
    """Evaluate a YAML mapping (spec: behaviour 9.5, with YAML for JSON)."""
    try:
        _check_size(code)
        loader = _Loader(code)
        try:
            node = loader.get_single_node()
            data = loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
        lines = dict(_lines(node, ())) if node is not None else {}
        return from_data(_Plain().value(data, 0), context, lines.get)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        detail = error.problem or error.context or "not valid YAML"
        return failed(f"YAML parse error: {detail}", mark.line + 1 if mark else None)
    except (yaml.YAMLError, _Refused, ValueError) as error:
        return failed(f"YAML parse error: {error}", 1)


def _check_size(code: str) -> None:
    depth = 0
    for count, event in enumerate(yaml.parse(code, Loader=_Loader)):
        if count > MAX_VALUES:
            raise _Refused(f"more than {MAX_VALUES} values")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _Refused(f"nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _lines(node: Any, path: Path) -> Iterator[tuple[Path, int]]:
    if not isinstance(node, yaml.MappingNode) or len(path) > MAX_DEPTH:
        return
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            place = (*path, str(key.value))
            yield place, key.start_mark.line + 1
            if place[0] == "flemma":
                yield from _lines(value, place)


class _Plain:
    """Turns a document into what JSON could hold, counting the values."""

    def __init__(self) -> None:
        self._count = 0

    def value(self, data: object, depth: int) -> object:
        self._count += 1
        if self._count > MAX_VALUES or depth > MAX_DEPTH:
            raise _Refused(f"more than {MAX_VALUES} values, or an alias of itself")
        table = table_of(data)
        if table is not None:
            return {_key(key): self.value(entry, depth + 1) for key, entry in table.items()}
        items = _members(data)
        if items is not None:
            return [self.value(entry, depth + 1) for entry in items]
        match data:
            case datetime.date():
                return data.isoformat()
            case bytes():
                return data.decode("utf-8", "replace")
            case _:
                return data


def _members(data: object) -> Sequence[object] | None:
    return list(cast("set[object]", data)) if isinstance(data, set) else items_of(data)


def _key(key: object) -> str:
    match key:
        case bool():
            return str(key).lower()
        case None:
            return "null"
        case datetime.date():
            return key.isoformat()
        case _:
            return str(key)

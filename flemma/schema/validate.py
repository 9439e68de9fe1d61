"""Checks what a model sent against a JSON Schema, and coerces where nothing is lost (case B-23).

Works on the common subset of JSON Schema: types, enum, const, bounds, properties, items, local
`$ref`, anyOf, oneOf, allOf. Keywords it does not know are not checked, so that a foreign schema
never refuses more than it says.
"""

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from flemma.text.truncate import truncate_line

_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DEEPEST = 64
"""Levels of schema that are followed; a recursive schema is not checked below."""
_SHOWN = 80
"""Bytes of a value that a message quotes."""

_TYPE_WORDS = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}

_NUMBER_BOUNDS = (
    ("minimum", "a number of at least {}", operator.ge),
    ("maximum", "a number of at most {}", operator.le),
    ("exclusiveMinimum", "a number above {}", operator.gt),
    ("exclusiveMaximum", "a number below {}", operator.lt),
)
_LENGTH_BOUNDS = (
    ("minLength", "a string of at least {} characters", operator.ge),
    ("maxLength", "a string of at most {} characters", operator.le),
)
_COUNT_BOUNDS = (
    ("minItems", "a list of at least {} items", operator.ge),
    ("maxItems", "a list of at most {} items", operator.le),
)


@dataclass(frozen=True, slots=True)
class Checked:
    """The value, coerced, and a sentence for each thing wrong with it."""

    value: Any
    problems: tuple[str, ...] = ()


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Checked:
    """Check the input of a tool call. Each problem names the parameter, its value and what is
    expected. Null stands for "not given" wherever the schema allows one of the two."""
    return _Checker(schema).check(schema, dict(arguments), "", 0)


class _Checker:
    """Walks one schema; knows its root for `$ref`."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def check(self, schema: object, value: object, name: str, depth: int) -> Checked:
        schema = self._resolved(schema)
        if schema is False:
            return Checked(value, (f"Parameter '{name}' is not accepted here.",))
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return Checked(value)
        rules = cast("Mapping[str, Any]", schema)
        checked = _check_type(rules, value, name)
        for step in (_check_choices, _check_bounds):
            if not checked.problems:
                checked = step(rules, checked.value, name)
        for walk in (self._check_fields, self._check_items, self._check_combinations):
            if not checked.problems:
                checked = walk(rules, checked.value, name, depth)
        return checked

    def _resolved(self, schema: object) -> object:
        for _ in range(_DEEPEST):
            if not isinstance(schema, Mapping):
                return schema
            reference = cast("Mapping[str, Any]", schema).get("$ref")
            if not isinstance(reference, str):
                return cast("Mapping[str, Any]", schema)
            schema = self._follow(reference)
        return True

    def _follow(self, reference: str) -> object:
        if not reference.startswith("#"):
            return True
        found: object = self._root
        for part in reference.lstrip("#").strip("/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if key and isinstance(found, Mapping):
                found = cast("Mapping[str, Any]", found).get(key, True)
        return found

    def _check_fields(
        self, rules: Mapping[str, Any], value: object, name: str, depth: int
    ) -> Checked:
        if not isinstance(value, dict):
            return Checked(value)
        given = cast("dict[str, Any]", value)
        properties = _mapping(rules.get("properties"))
        required = cast("Sequence[str]", rules.get("required") or ())
        kept: dict[str, Any] = {}
        problems: list[str] = []
        for key, field in given.items():
            place = f"{name}.{key}" if name else key
            if key not in properties:
                checked = self._check_extra(rules, properties, field, place, depth)
            elif field is None and key not in required and not self._takes_null(properties[key]):
                continue
            else:
                checked = self.check(properties[key], field, place, depth + 1)
            kept[key] = checked.value
            problems.extend(checked.problems)
        for key in required:
            if key not in given and not self._takes_null(properties.get(key, True)):
                place = f"{name}.{key}" if name else key
                problems.append(f"Missing parameter '{place}': {self._expected(properties, key)}.")
        return Checked(kept, tuple(problems))

    def _check_extra(
        self,
        rules: Mapping[str, Any],
        properties: Mapping[str, Any],
        value: object,
        place: str,
        depth: int,
    ) -> Checked:
        extra = rules.get("additionalProperties", True)
        if extra is False and "patternProperties" not in rules:
            known = ", ".join(f"'{key}'" for key in sorted(properties)) or "none"
            return Checked(
                value,
                (f"Unknown parameter '{place}' with value {shown(value)}; accepted: {known}.",),
            )
        if isinstance(extra, Mapping):
            return self.check(cast("Mapping[str, Any]", extra), value, place, depth + 1)
        return Checked(value)

    def _check_items(
        self, rules: Mapping[str, Any], value: object, name: str, depth: int
    ) -> Checked:
        if not isinstance(value, list):
            return Checked(value)
        first = cast("Sequence[Any]", rules.get("prefixItems") or ())
        rest = rules.get("items", True)
        checked = [
            self.check(
                first[index] if index < len(first) else rest, item, f"{name}[{index}]", depth + 1
            )
            for index, item in enumerate(cast("list[Any]", value))
        ]
        return Checked(
            [item.value for item in checked],
            tuple(problem for item in checked for problem in item.problems),
        )

    def _check_combinations(
        self, rules: Mapping[str, Any], value: object, name: str, depth: int
    ) -> Checked:
        checked = Checked(value)
        for branch in cast("Sequence[object]", rules.get("allOf") or ()):
            checked = self.check(branch, checked.value, name, depth + 1)
            if checked.problems:
                return checked
        for keyword in ("anyOf", "oneOf"):
            branches = cast("Sequence[object]", rules.get(keyword) or ())
            if branches and not checked.problems:
                checked = self._check_branches(branches, checked.value, name, depth)
        return checked

    def _check_branches(
        self, branches: Sequence[object], value: object, name: str, depth: int
    ) -> Checked:
        tried = [self.check(branch, value, name, depth + 1) for branch in branches]
        passed = [checked for checked in tried if not checked.problems]
        # A branch that takes the value as it is wins over one that has to coerce it.
        exact = [checked for checked in passed if _same(checked.value, value)]
        if passed:
            return (exact or passed)[0]
        resolved = [self._resolved(branch) for branch in branches]
        telling = [
            checked
            for branch, checked in zip(resolved, tried, strict=True)
            if _types(branch) != ("null",)
        ]
        if len(telling) == 1:
            return telling[0]
        expected = " or ".join(dict.fromkeys(_expectation(branch) for branch in resolved))
        return Checked(value, (_mismatch(name, value, expected),))

    def _takes_null(self, schema: object) -> bool:
        return not self.check(schema, None, "", 1).problems

    def _expected(self, properties: Mapping[str, Any], key: str) -> str:
        return f"{_expectation(self._resolved(properties.get(key, True)))} is required"


def shown(value: object) -> str:
    """Return ``value`` as JSON for a message, cut after 80 bytes."""
    return truncate_line(json.dumps(value, ensure_ascii=False, default=repr), _SHOWN)


def _check_type(rules: Mapping[str, Any], value: object, name: str) -> Checked:
    types = _types(rules)
    if not types or any(_is(value, kind) for kind in types):
        return Checked(_whole(value, types))
    for kind in types:
        coerced = _coerced(value, kind)
        if coerced is not None:
            return Checked(coerced)
    return Checked(value, (_mismatch(name, value, _expectation(rules)),))


def _check_choices(rules: Mapping[str, Any], value: object, name: str) -> Checked:
    choices = cast("Sequence[Any]", rules.get("enum") or ())
    if "const" in rules:
        choices = [rules["const"]]
    if not choices or any(_same(choice, value) for choice in choices):
        return Checked(value)
    for choice in choices:
        if choice is not None and _same(_coerced(value, _kind_of(choice)), choice):
            return Checked(choice)
    return Checked(value, (_mismatch(name, value, _one_of(choices)),))


def _check_bounds(rules: Mapping[str, Any], value: object, name: str) -> Checked:
    match value:
        case bool() | None:
            return Checked(value)
        case int() | float():
            return _within(rules, value, value, _NUMBER_BOUNDS, name)
        case str():
            return _within(rules, value, len(value), _LENGTH_BOUNDS, name)
        case list():
            items = cast("list[Any]", value)
            return _within(rules, items, len(items), _COUNT_BOUNDS, name)
        case _:
            return Checked(value)


def _within(
    rules: Mapping[str, Any],
    value: object,
    measure: float,
    bounds: Sequence[tuple[str, str, Callable[[float, float], bool]]],
    name: str,
) -> Checked:
    for keyword, words, fits in bounds:
        limit = rules.get(keyword)
        if _is(limit, "number") and not fits(measure, cast("float", limit)):
            return Checked(value, (_mismatch(name, value, words.format(limit)),))
    return Checked(value)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _types(schema: object) -> tuple[str, ...]:
    kind = _mapping(schema).get("type")
    if isinstance(kind, str):
        return (kind,)
    return tuple(cast("Sequence[str]", kind)) if isinstance(kind, list) else ()


def _is(value: object, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "integer":
            return _is(value, "number") and float(cast("float", value)).is_integer()
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, list)
        case "null":
            return value is None
        case _:
            return True


def _whole(value: object, types: tuple[str, ...]) -> object:
    if isinstance(value, float) and "integer" in types and "number" not in types:
        return int(value)
    return value


def _coerced(value: object, kind: str) -> object:
    """Return ``value`` as ``kind`` if nothing is lost, else None."""
    if kind == "string" and isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    match kind:
        case "integer" if _INTEGER.fullmatch(text):
            return int(text)
        case "integer" if _NUMBER.fullmatch(text) and float(text).is_integer():
            return int(float(text))
        case "number" if _NUMBER.fullmatch(text):
            return json.loads(text)
        case "boolean" if text in {"true", "false"}:
            return text == "true"
        case "array" | "object":
            return _parsed(text, kind)
        case _:
            return None


def _parsed(text: str, kind: str) -> object:
    """Models sometimes send a list or an object as a string of JSON."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if _is(parsed, kind) else None


def _same(left: object, right: object) -> bool:
    """Equality without Python's ``True == 1``."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _kind_of(value: object) -> str:
    return next((kind for kind in _TYPE_WORDS if kind != "number" and _is(value, kind)), "number")


def _one_of(choices: Sequence[Any]) -> str:
    listed = ", ".join(shown(choice) for choice in choices)
    return f"one of {listed}" if len(choices) > 1 else listed


def _expectation(schema: object) -> str:
    rules = _mapping(schema)
    if rules.get("enum"):
        return _one_of(rules["enum"])
    if "const" in rules:
        return shown(rules["const"])
    return " or ".join(_TYPE_WORDS.get(kind, kind) for kind in _types(rules)) or "a value"


def _mismatch(name: str, value: object, expected: str) -> str:
    subject = f"Parameter '{name}' is {shown(value)}" if name else f"The input is {shown(value)}"
    return f"{subject}, but {expected} is expected."

"""Checking what a model sent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma import schema as s
from flemma.schema.validate import shown

SCHEMA = s.to_json_schema(
    s.object(
        {
            "name": s.string(),
            "count": s.integer().nullable(),
            "ratio": s.number().optional(),
            "force": s.boolean().optional(),
            "mode": s.enum(["fast", "slow"]).optional(),
            "items": s.list(s.object({"id": s.integer()})).optional(),
            "either": s.union(s.integer(), s.boolean()).optional(),
        }
    )
)


def check(**arguments: object) -> s.Checked:
    return s.check_arguments(SCHEMA, arguments)


@pytest.mark.parametrize(
    ("given_value", "key", "expected"),
    [
        ("10", "count", 10),
        (" -3 ", "count", -3),
        (10.0, "count", 10),
        ("10.0", "count", 10),
        ("1e2", "ratio", 100.0),
        ("2", "ratio", 2),
        ("true", "force", True),
        ("false", "force", False),
        ('[{"id": "7"}]', "items", [{"id": 7}]),
        ("5", "either", 5),
        (True, "either", True),
    ],
)
def test_what_loses_nothing_is_coerced(given_value: object, key: str, expected: object) -> None:
    """B-23."""
    checked = check(name="x", **{"count": None, key: given_value})
    assert checked.problems == ()
    assert checked.value[key] == expected
    assert type(checked.value[key]) is type(expected)


def test_a_number_serves_where_a_string_is_wanted() -> None:
    assert check(name=42).value["name"] == "42"


def test_null_and_absent_are_the_same_for_optional_and_nullable() -> None:
    assert check(name="x").problems == ()
    assert check(name="x", count=None, ratio=None).value == {"name": "x", "count": None}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"name": "x", "count": "abc"}, "Parameter 'count' is \"abc\", but an integer or null is"),
        ({"name": "x", "count": 1.5}, "Parameter 'count' is 1.5, but an integer or null is"),
        ({"name": "x", "count": True}, "Parameter 'count' is true, but an integer or null is"),
        ({"name": None}, "Parameter 'name' is null, but a string is expected."),
        ({}, "Missing parameter 'name': a string is required."),
        ({"name": "x", "nmae": 1}, "Unknown parameter 'nmae' with value 1; accepted: 'count', "),
        ({"name": "x", "mode": "f"}, 'Parameter \'mode\' is "f", but one of "fast", "slow" is'),
        ({"name": "x", "items": [{"id": "q"}]}, "Parameter 'items[0].id' is \"q\", but an"),
        ({"name": "x", "items": [{}]}, "Missing parameter 'items[0].id': an integer is required."),
        ({"name": "x", "force": "yes"}, "Parameter 'force' is \"yes\", but true or false is"),
        ({"name": "x", "either": "q"}, "Parameter 'either' is \"q\", but an integer or true or"),
    ],
)
def test_a_problem_names_parameter_value_and_what_is_expected(
    arguments: dict[str, object], problem: str
) -> None:
    problems = s.check_arguments(SCHEMA, arguments).problems
    assert len(problems) == 1
    assert problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ({"type": "integer", "minimum": 1}, 1, 0),
        ({"type": "integer", "maximum": 3}, 3, 4),
        ({"type": "number", "exclusiveMinimum": 0}, 0.1, 0),
        ({"type": "number", "exclusiveMaximum": 1}, 0.9, 1),
        ({"type": "string", "minLength": 1}, "a", ""),
        ({"type": "string", "maxLength": 1}, "a", "ab"),
        ({"type": "array", "minItems": 1}, [1], []),
        ({"type": "array", "maxItems": 1}, [1], [1, 2]),
        ({"const": "x"}, "x", "y"),
        ({"enum": [1, "a", None]}, None, "b"),
        ({"enum": [1]}, "1", True),
        ({"$ref": "#/$defs/id"}, 3, "q"),
        ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, 2, 1),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "4", "x"),
        ({"anyOf": [{"const": "a"}, {"type": "array"}]}, "a", "b"),
        ({"type": "array", "prefixItems": [{"type": "integer"}]}, [1, "x"], ["x"]),
        ({"type": "array", "items": {"type": "string"}}, ["x"], [[]]),
        ({"additionalProperties": {"type": "integer"}}, {"a": "1"}, {"a": "x"}),
        (False, None, None),
    ],
)
def test_raw_json_schema_is_checked(rule: object, good: object, bad: object) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"v": rule},
        "required": ["v"],
        "$defs": {"id": {"type": "integer"}},
    }
    if rule is not False:
        assert s.check_arguments(schema, {"v": good}).problems == ()
    assert s.check_arguments(schema, {"v": bad}).problems != ()


@pytest.mark.parametrize(
    "rule",
    [True, {}, {"format": "date"}, {"pattern": "^[a"}, {"$ref": "other.json#/x"}, {"type": "wat"}],
)
def test_what_cannot_be_checked_is_accepted(rule: object) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"v": rule}}
    assert s.check_arguments(schema, {"v": "anything"}).problems == ()


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "loop": {"$ref": "#/properties/loop"}},
    }
    value: dict[str, Any] = {}
    for _ in range(200):
        value = {"next": value}
    assert s.check_arguments(schema, {**value, "loop": 1}).problems == ()


def test_text_that_fits_a_union_as_it_is_stays_text() -> None:
    schema = s.to_json_schema(s.object({"v": s.union(s.integer(), s.string())}))
    assert s.check_arguments(schema, {"v": "10"}).value == {"v": "10"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["name", "count", "mode", "items", "odd"]), JSON))
def test_any_input_gives_sentences_and_a_valid_value_passes_again(
    arguments: dict[str, object],
) -> None:
    checked = s.check_arguments(SCHEMA, arguments)
    assert all(problem.endswith(".") for problem in checked.problems)
    if not checked.problems:
        assert s.check_arguments(SCHEMA, checked.value) == checked


@given(st.text(alphabet="a👨‍👩‍👧漢é\n", max_size=200))
def test_a_quoted_value_is_short_and_never_splits_a_character(text: str) -> None:
    """B-15."""
    quoted = shown(text)
    assert len(quoted.encode()) <= 80
    assert "\ufffd" not in quoted

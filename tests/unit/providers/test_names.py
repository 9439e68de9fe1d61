"""Names and ids on the wire (behaviour 8.3; cases B-07, B-18, B-19)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.providers.names import internal_name, unique_ids, wire_id, wire_name
from flemma.tools.wire_names import encode_name

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("bash", "bash"),
        ("flemma.jobs.status", "flemma__jobs__status"),
        ("slack.post", "slack__post"),
    ],
)
def test_dots_become_double_underscores_and_back(name: str, wire: str) -> None:
    assert wire_name(name) == wire
    assert internal_name(wire) == name


@given(st.text(alphabet=st.characters(), max_size=100) | st.from_regex(r"[0-9_.-]{0,70}"))
def test_any_name_becomes_legal_and_the_one_its_tool_has(name: str) -> None:  # B-18
    assert LEGAL.fullmatch(wire_name(name))
    assert wire_name(name) == encode_name(name)


def test_long_names_with_equal_beginnings_stay_apart() -> None:
    assert wire_name("s." + "x" * 90 + "1") != wire_name("s." + "x" * 90 + "2")


@pytest.mark.parametrize(
    ("identifier", "wire"),
    [("functions.bash:0", "functions_bash_0"), ("urn:x:", "urn_x"), ("é", "call"), ("", "call")],
)
def test_ids_are_normalised(identifier: str, wire: str) -> None:
    assert wire_id(identifier) == wire


@given(st.lists(st.sampled_from(["a", "a_2", "a:", "é", "x" * 70, "x" * 64]), max_size=12))
def test_ids_are_unique_legal_and_depend_only_on_those_before(identifiers: list[str]) -> None:
    made = unique_ids(identifiers)
    assert len(set(made)) == len(made)
    assert all(LEGAL.fullmatch(identifier) for identifier in made)
    assert unique_ids(identifiers[:-1]) == made[:-1] if made else True

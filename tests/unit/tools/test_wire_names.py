"""Tool names on the wire (case B-18)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.tools.wire_names import WireNames, decode_name, encode_name

LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("bash", "bash"),
        ("flemma.jobs.status", "flemma__jobs__status"),
        ("slack.post-message", "slack__post-message"),
        ("a" * 64, "a" * 64),
    ],
)
def test_a_fitting_name_only_changes_its_dots(name: str, wire: str) -> None:
    assert encode_name(name) == wire
    assert decode_name(wire) == name


@pytest.mark.parametrize("name", ["a" * 65, "s p", "ä", "7zip", "", "-x", "srv." + "tool" * 20])
def test_a_name_that_services_refuse_gets_a_legal_one_that_stays_the_same(name: str) -> None:
    assert LEGAL.fullmatch(encode_name(name))
    assert encode_name(name) == encode_name(name)
    assert WireNames([name]).internal(encode_name(name)) == name


def test_names_that_fall_together_are_kept_apart() -> None:
    names = WireNames(["a__b", "a.b"])
    assert names.wire("a.b") == "a__b"
    assert names.wire("a__b") != "a__b"
    assert names.internal("a__b") == "a.b"
    assert names.internal(names.wire("a__b")) == "a__b"


def test_a_real_double_underscore_comes_back_when_nothing_collides() -> None:
    names = WireNames(["my__tool"])
    assert names.internal("my__tool") == "my__tool"
    assert names.internal("my.tool") == "my__tool"


def test_a_name_that_is_no_tool_of_the_request_still_maps() -> None:
    names = WireNames(["bash"])
    assert names.wire("old.tool") == "old__tool"
    assert names.internal("old__tool") == "old.tool"


@given(st.lists(st.text(alphabet="ab._-é ", max_size=70), unique=True, max_size=8), st.data())
def test_every_name_of_a_request_is_legal_unique_and_comes_back(
    listed: list[str], data: st.DataObject
) -> None:
    names = WireNames(listed)
    wires = [names.wire(name) for name in listed]
    assert all(LEGAL.fullmatch(wire) for wire in wires)
    assert len(set(wires)) == len(wires)
    assert [names.internal(wire) for wire in wires] == listed
    # Decoders turn `__` into dots before the request's names are at hand.
    assert [names.internal(decode_name(wire)) for wire in wires] == listed
    shuffled = data.draw(st.permutations(listed))
    assert [WireNames(shuffled).wire(name) for name in listed] == wires

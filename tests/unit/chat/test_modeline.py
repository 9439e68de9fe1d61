"""The modeline grammar (spec: behaviour 1.6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.modeline import parse_modeline, resolve_value
from flemma.chat.nodes import ModelineValue


def test_words_are_positionals_and_pairs_are_keywords():
    modeline = parse_modeline("pending sandbox=false  n=3\treason='a b'")
    assert modeline.positionals == ("pending",)
    assert modeline.options == {"sandbox": False, "n": 3, "reason": "a b"}
    assert modeline.tokens == ("pending", "sandbox=false", "n=3", "reason='a b'")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("nil", None),
        ("null", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("0x1F", 31),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1e999", "1e999"),
        ("1.2.3", "1.2.3"),
        ('"true"', "true"),
        ("'3'", "3"),
        ('"a\\"b"', 'a"b'),
        ('"a\\nb"', "a\\nb"),
        ('"a"b', '"a"b'),
        ('"open', '"open'),
        ("a,b,3", ["a", "b", 3]),
        ("a,,b", ["a", None, "b"]),
        ('"a,b"', "a,b"),
        ('"a","b"', ["a", "b"]),
        ("a,'b,c'", ["a", "b,c"]),
        ("word", "word"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_value_is_resolved(text: str, value: ModelineValue):
    resolved = resolve_value(text)
    assert resolved == value
    assert type(resolved) is type(value)


def test_quotes_group_anywhere_and_an_open_one_runs_to_the_end():
    assert parse_modeline("a' b 'c d").tokens == ("a' b 'c", "d")
    assert parse_modeline('x y="a b').tokens == ("x", 'y="a b')


def test_nil_clears_a_keyword_only_when_it_is_asked_for():
    modeline = parse_modeline("temperature=nil model=x nil")
    assert modeline.options == {"model": "x"}
    assert modeline.explicit_options == {"temperature": None, "model": "x"}
    assert modeline.positionals == ()


def test_the_first_equals_sign_splits_and_odd_keys_are_positionals():
    assert parse_modeline("a=b=c").options == {"a": "b=c"}
    assert parse_modeline("a-b=c").positionals == ("a-b=c",)


@given(st.text(alphabet="ab \"'\\=,-0x\n"))
def test_any_text_is_a_modeline(text: str):
    modeline = parse_modeline(text)
    assert len(modeline.positionals) + len(modeline.keywords) <= len(modeline.tokens)

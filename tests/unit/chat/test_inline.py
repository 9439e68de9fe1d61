"""Template parts of text (spec: behaviour 1.10)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.inline import InlineSegment, parse_inline
from flemma.chat.nodes import Code, Expression, FileReference, Text
from tests.unit.chat.samples import chat


def parts(text: str) -> tuple[InlineSegment, ...]:
    return parse_inline(text, 0, text.count("\n"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{{ x }}", "x"),
        ("{{x}}", "x"),
        ("{{- x -}}", "x"),
        ('{{ "}}" }}', '"}}"'),
        ('{{ "a\\"}}" }}', '"a\\"}}"'),
        ("{{ {'a': {'b': 1}} }}", "{'a': {'b': 1}}"),
        ("{{ {'a':{'b':1}}}}", "{'a':{'b':1}}"),
        ("{{ f(\n1) }}", "f(\n1)"),
        ("{{ don't }}", "don't"),
    ],
)
def test_an_expression_ends_at_its_own_braces(text: str, code: str):
    [expression] = parts(text)
    assert isinstance(expression, Expression)
    assert (expression.code, expression.raw) == (code, text)


@pytest.mark.parametrize("text", ["a {{ b", "{% if", "{{ {x }}", "{{", "{ { x } }", "{# no #}"])
def test_what_is_not_closed_is_text(text: str):
    assert parts(text) == (Text(text, 0, 0),)


def test_statements_keep_delimiters_in_their_strings():
    [code] = parts('{%- set a = "%}" -%}')
    assert code == Code('set a = "%}"', '{%- set a = "%}" -%}', 0, 0)


def test_raw_sections_are_text():
    assert parts("a{% raw %}{{ x }}{% endraw %}b") == (
        Text("a", 0, 0),
        Text("{{ x }}", 0, 0),
        Text("b", 0, 0),
    )


def test_a_raw_section_that_is_not_closed_is_a_statement():
    assert [type(part) for part in parts("{% raw %}{{ x }}{% raw %}")] == [Code, Expression, Code]


def test_a_template_may_follow_what_is_no_reference():
    assert [type(part) for part in parts("@./{{ x }}@../. @./a")] == [
        Text,
        Expression,
        Text,
        FileReference,
    ]


def test_positions_are_lines_and_columns():
    assert parts("one {{ a }}\ntwo\n {% b %}@./c d") == (
        Text("one ", 0, 0),
        Expression("a", "{{ a }}", 0, 0, 4),
        Text("\ntwo\n ", 0, 2),
        Code("b", "{% b %}", 2, 2, 1),
        FileReference("./c", None, "@./c", 2, 2, 8),
        Text(" d", 2, 2),
    )


def test_files_are_still_found_behind_an_unclosed_delimiter():
    [text, reference] = parts("{{ open @./a")
    assert text == Text("{{ open ", 0, 0)
    assert isinstance(reference, FileReference)


@given(st.text(alphabet="{}%'\"\\ -a\n@./"))
def test_the_parts_make_up_the_text(text: str):
    written = "".join(part.text if isinstance(part, Text) else part.raw for part in parts(text))
    assert written == text


def test_templates_are_found_in_fences_of_users_and_nowhere_in_answers():
    document = chat("@You:", "```", "{{ a }}", "```", "@Assistant:", "{{ a }} @./photo.png")
    user, assistant = document.messages
    assert [type(segment) for segment in user.segments] == [Text, Expression, Text]
    assert assistant.segments == (Text("{{ a }} @./photo.png", 1, 1),)  # case 29

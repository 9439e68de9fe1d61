"""Expressions, statements, trimming and what values look like."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.nodes import Severity
from flemma.chat.parser import parse
from flemma.conversation.templates import Rendered
from flemma.templating.text import render_text
from tests.unit.conversation.build_support import NOW, evaluation


def rendered(body: str, files: dict[str, bytes] | None = None, **variables: object) -> Rendered:
    (message,) = parse("@You:\n" + body).messages
    return evaluation(files, **variables).render(message.segments)


def text_of(body: str, **variables: object) -> str:
    result = rendered(body, **variables)
    assert result.diagnostics == ()
    assert all(isinstance(item, str) for item in result.items)
    return "".join(map(str, result.items))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{{ none }}|", "|"),
        ("{{ nothing }}|", "|"),
        ("{{ 3 }} {{ 2.5 }} {{ true }}", "3 2.5 true"),
        ("{{ [1, 'ä', none] }}", '[1, "ä", null]'),
        ("{{ {'a': {'b': [true]}} }}", '{"a": {"b": [true]}}'),
        ("{{ (1, 2) }}", "[1, 2]"),
        ("{{ [1, 2]|map('string') }}", '["1", "2"]'),
        ("{{ 'a' ~ 1 ~ none ~ [2] }}", "a1[2]"),
        ("{{ name|upper }} {{ table.key }} {{ table.items }}", "ADA value mine"),
        ("{{ missing|default('x') }}", "x"),
        ("{{ missing is defined }}", "false"),
        ("{{ '}}' }} {{ \"%}\" }}", "}} %}"),
        ("{{ {'a': {}}['a'] }}", "{}"),
        ("{% for x in [1, 2] %}{{ loop.index }}{{ loop.last }},{% endfor %}", "1false,2true,"),
        ("{% for x, at in each(['a', 'b']) %}{{ x }}{{ at.index0 }}{% endfor %}", "a0b1"),
        ("{% for x in values({'a': 1, 'b': 2}) %}{{ x }}{% endfor %}", "12"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}{{ m(2) }}", "<1><2>"),
        ("{% set x %}a{{ 1 }}{% endset %}{{ x|length }}", "2"),
        ("{% filter upper %}a{{ 'b' }}{% endfilter %}", "AB"),
        ("{% if name == 'Ada' %}yes{% elif true %}no{% endif %}", "yes"),
        ("{% print name %}", "Ada"),
        ("{# no comment #}", "{# no comment #}"),
        ("{{ unclosed", "{{ unclosed"),
        ("{% unclosed", "{% unclosed"),
        ("```\n{{ 1 + 1 }}\n```", "```\n2\n```"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{{ format.number(1234567) }}", "1,234,567"),
        ("{{ format.percent(0.256) }} {{ format.percent(0.256, 1) }}", "26% 25.6%"),
        ("{{ format.money(1.5) }} {{ format.tokens(12300) }}", "$1.50 12.3K"),
        ("{{ math.floor(2.7) }} {{ utf8.len('äö') }}", "2 2"),
        ("{{ os.date('%Y-%m-%d') }}", "2026-01-02"),
        ("{{ __filename }} {{ __dirname }}", "/chats/a.chat /chats"),
        ("{{ flemma.path.basename(__filename) }}", "a.chat"),
        ("{{ '%s-%03d' % ('a', 7) }} {{ '{:>4}|{}'.format('x', 1) }}", "a-007    x|1"),
        ("{{ 'a,b'.split(',')|join('+') }} {{ 'a'.replace('a', 'b') }}", "a+b b"),
    ],
)
def test_values_print_as_prompts_need_them(body: str, expected: str):
    table = {"key": "value", "items": "mine"}
    assert text_of(body, name="Ada", nothing=None, table=table) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('A\n{{- "b" -}}\nC', "AbC"),  # acceptance 37
        ("A\n\n\n{{- 1 -}}\n\n\nC", "A\n\n1\n\nC"),
        ("A  \n  {{- 1 -}}  \n  C", "A1C"),
        ("A  {{- 1 -}}  C", "A1C"),
        ("A \t\n\n {{- 1 }}", "A \t\n1"),
        ("{%- if true -%}\n  x\n{%- endif -%}\ny", "xy"),
        ("a {{ 1 }} b\n", "a 1 b"),
        ("{{ 1 }}\n\n\nb", "1\n\n\nb"),
        ("A\r\n{{- 1 -}}\r\nC", "A1C"),
    ],
)
def test_trim_marks_take_at_most_one_newline(body: str, expected: str):
    assert text_of(body) == expected


@given(st.text(st.characters(exclude_characters="{}@", exclude_categories=["Cs"]), min_size=1))
def test_text_around_tags_is_kept_to_the_letter(text: str):
    segments = parse("@You:\n{{ 1 }}" + text + "{{ 2 }}").messages[0].segments
    if len(parse("@You:\n{{ 1 }}" + text + "{{ 2 }}").messages) == 1:
        assert evaluation().render(segments).items == ("1" + text + "2",)


def test_an_undefined_name_is_a_warning_and_stays_in_the_prompt():
    """Acceptance 32."""
    result = rendered("one\ntwo {{ nme }} {{ 1 }}")
    assert result.items == ("one\ntwo {{ nme }} 1",)
    (problem,) = result.diagnostics
    assert problem.message == "Undefined variable 'nme'"
    assert (problem.type, problem.severity) == ("expression", Severity.WARNING)
    assert (problem.line, problem.column, problem.reference) == (2, 4, "{{ nme }}")


@pytest.mark.parametrize(
    "code",
    [
        *("__x", "x.y", "x + 1", "x[0]", "x()", "1 + ", "1 }", "'a", "x|nofilter", "1 is notest"),
        *("[x]", "1 / 0", "'a'()", "", "a b", "{'a': x}", "x ~ 'a'", "'%d' % 'a'"),
        "'{0}'.format()",
    ],
)
def test_a_failing_expression_does_not_take_the_others_along(code: str):
    result = rendered("a {{ " + code + " }} b {{ 2 }}{% for i in [1] %} {{ i }}{% endfor %}")
    assert result.items == ("a {{ " + code + " }} b 2 1",)
    assert [problem.severity for problem in result.diagnostics] == [Severity.WARNING]
    assert not result.failed


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("{% if %}{% endif %}", 2),
        ("{% for x in 5 %}{% endfor %}", 2),
        ("{% for x in missing %}{% endfor %}", 2),
        ("{% nosuch %}", 2),
        ("{% if true %}", 2),
        ("{% endif %}", 2),
        ("{% set x = 1 / 0 %}", 2),
        ("{% include 'a' %}", 2),
        ("{% import 'a' as b %}", 2),
        ("{% extends 'a' %}", 2),
        ("{% if true %}\n{{ 1 }}\n{% for x in nope %}{% endfor %}{% endif %}", 4),
        ("{%\n\nset x = nope + 1 %}", 4),
        ("{% set x = include('gone.md') %}", 2),
    ],
)
def test_a_failing_statement_fails_the_message(statement: str, line: int):
    """Behaviour 10.3: an error, no parts."""
    result = rendered("one\n" + statement)
    assert result.failed
    assert result.items == ()
    (problem,) = result.diagnostics
    assert (problem.type, problem.severity, problem.line) == ("template", Severity.ERROR, line)


def test_a_failing_expression_in_a_loop_is_reported_once():
    result = rendered("{% for i in range(5) %}{{ x }}{% endfor %}")
    assert result.items == ("{{ x }}" * 5,)
    assert len(result.diagnostics) == 1


def test_macros_and_names_last_for_the_whole_evaluation():
    messages = parse(
        "@System:\n{% macro hi(n) %}Hi {{ n }}{% endmacro %}{% set x = 1 %}\n"
        "@You:\n{{ hi('A') }} {{ x }}\n"
    ).messages
    shared = evaluation()
    assert [shared.render(message.segments).items for message in messages] == [(), ("Hi A 1",)]


def test_names_set_in_a_tool_result_do_not_last():
    first, second = parse("@You:\n{% set x = 1 %}\n@You:\n{{ x is defined }}").messages
    shared = evaluation()
    shared.render(first.segments, in_tool_result=True)
    assert shared.render(second.segments).items == ("false",)


def test_variables_that_are_no_data_are_left_out():
    import datetime

    assert text_of("{{ f is defined }}", f=print) == "false"
    assert text_of("{{ d }} {{ s }}", d=datetime.date(2026, 1, 2), s={"b", "a"}) == (
        '2026-01-02 ["a", "b"]'
    )


def test_a_variable_that_unfolds_to_gigantic_size_fails_by_name():
    """YAML aliases: a small block that stands for billions of values."""
    bomb: list[object] = ["x"]
    for _ in range(60):
        bomb = [bomb, bomb]
    (problem,) = rendered("{{ 1 }}", bomb=bomb).diagnostics
    assert problem.message == "Variable 'bomb' is too large for templates"


def test_render_text_knows_the_path_helpers():
    """Spec: tools, "Store location"."""
    variables = {"__filename": "/home/me/a.chat", "__dirname": "/home/me", "id": "c1", "bufnr": 3}
    source = "{{ __dirname }}/{{ flemma.path.flatten(__filename) }}/{{ flemma.pid }}/{{ id }}.txt"
    assert render_text(source, variables, now=NOW, pid=42) == (
        "/home/me/home--me--a.chat/42/c1.txt"
    )
    assert render_text("{{ 'a%' }} b%", {}, now=NOW, pid=1, transform=_doubled) == "a%% b%"


def _doubled(text: str) -> str:
    return text.replace("%", "%%")


def test_render_text_raises_on_any_error():
    from flemma.errors import TemplateError

    with pytest.raises(TemplateError, match="Undefined variable 'nope'"):
        render_text("a {{ nope }}", {}, now=NOW, pid=1)
    with pytest.raises(TemplateError, match="Undefined variable 'include'"):
        render_text("{{ include('a') }}", {}, now=NOW, pid=1)


def test_jinja_is_not_loaded_for_messages_without_templates():
    import subprocess

    code = (
        "import sys\n"
        "from tests.unit.conversation.build_support import built\n"
        "built('@You:\\nHi @./a.md {x}\\n', {'/chats/a.md': b'x'})\n"
        "print('jinja2' in sys.modules)\n"
        "built('@You:\\n{{ 1 }}\\n')\n"
        "print('jinja2' in sys.modules)\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.split() == ["False", "True"]

"""Templates that want to burn time or memory, or to get out. A chat file is untrusted input."""

import resource
import time

import pytest

from flemma.chat.parser import parse
from flemma.conversation.references import Place
from flemma.templating.evaluation import Evaluation, TemplateSetting
from tests.unit.conversation.build_support import NOW, evaluation

NESTED_DATA = (
    "{% set ns = namespace(a=[1]) %}{% for i in range(100) %}{% set ns.a = [ns.a, ns.a] %}"
    "{% endfor %}{{ ns.a }}"
)

EXPENSIVE = [
    "{% for i in range(10**9) %}x{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100000) %}{{ i }}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) if 'a' * 1000000 == 'b' %}{% endfor %}",
    "{% for i in range(100000) %}" + "y" * 10_000 + "{% endfor %}",
    "{% set x %}{% for i in range(100000) %}" + "y" * 1_000 + "{% endfor %}{% endset %}",
    NESTED_DATA,
    NESTED_DATA.replace("[ns.a, ns.a]", "(ns.a, ns.a)"),
    NESTED_DATA.replace("[ns.a, ns.a]", "{'a': ns.a, 'b': ns.a}"),
    NESTED_DATA.replace("[ns.a, ns.a]", "ns.a + ns.a"),
    NESTED_DATA.replace("[ns.a, ns.a]", "dict(a=ns.a, b=ns.a)"),
    "{% set ns = namespace(a='x') %}{% for i in range(99) %}{% set ns.a = ns.a ~ ns.a %}"
    "{% endfor %}",
    "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{{ range(100000)|map('center', 1000000)|list }}",
    "{{ ([[1] * 1000] * 200)|sum(start=[]) }}",
    "{{ a }}" * 10_000,
    "{% if " + "not " * 5000 + "1 %}{% endif %}",
    "{% if true %}" * 200 + "{% endif %}" * 200,
    "{% for x in [1] %}" * 30 + "{% endfor %}" * 30,
    "{% set x = " + "9" * 5000 + " %}",
]

REFUSED = [
    "'a' * 10**9",
    "10**9 * 'a'",
    "[0] * 10**9",
    "10 ** (10 ** 9)",
    "(10 ** 4000) ** 4000",
    "'%1000000000d' % 1",
    "'%*d' % (1000000000, 1)",
    "'%.999999999f' % 1.5",
    "('%s' * 2000) % ('x' * 100000)",
    "'{:1000000000}'.format(1)",
    "'{:{}}'.format(1, 1000000000)",
    "'{:.999999999f}'.format(1.5)",
    "'{a:>1000000000}'.format_map({'a': 1})",
    "'a'.ljust(10**9)",
    "'a'.center(10**9)",
    "'a'.zfill(10**9)",
    "'\t'.expandtabs(10**9)",
    "('a' * 100000).replace('a', 'b' * 100000)",
    "('a' * 100000)|replace('a', 'b' * 100000)",
    "('x' * 100000).join('a' * 100000)",
    "('a' * 100000)|join('x' * 100000)",
    "'a'|center(10**9)",
    "'a'|indent(10**9)",
    "('a\n' * 100000)|indent(100000)",
    "'%1000000000d'|format(1)",
    "range(10)|batch(10**9, 0)|list",
    "range(10)|slice(10**9)|list",
    "range(100000)|map('center', 1000000)|join",
    "1.5|round(10**9)",
    "1.5|round(10**9, 'ceil')",
    "[1]|tojson(indent=10**9)",
    "('a ' * 500000)|wordwrap(1)",
    "range(10**9)|list",
    "os.date('%1000000000d')",
    "(" * 5000 + "1" + ")" * 5000,
    "1" + " + 1" * 5000,
    "-" * 5000 + "1",
    "[" * 5000 + "]" * 5000,
    "x" + ".a" * 5000,
    "9" * 5000,
]

ESCAPES = [
    "''.__class__.__mro__",
    "''['__class__']",
    "''|attr('__class__')",
    "''|map(attribute='__class__')|list|first",
    "['']|map(attribute='__class__')|list|first",
    "'{0.__class__}'.format('')",
    "'{a.__class__}'.format_map({'a': ''})",
    "('{0.__class__}'|string).format('')",
    "(1).__class__",
    "[].append",
    "[].__class__",
    "{}.update",
    "{}.pop",
    "include.func",
    "include.__self__",
    "include.args",
    "range.__self__",
    "dict.fromkeys",
    "namespace.__init__",
    "cycler.__init__.__globals__",
    "self.__init__",
    "self._TemplateReference__context",
    "joiner.__init__",
    "os.system('true')",
    "os.environ",
    "open('/etc/passwd')",
    "lipsum.__globals__",
    "environment",
    "context",
    "math.__dict__",
    "flemma.path.basename.__globals__",
    "format.number.__code__",
    "symbols.BINARY._name",
    "[1]|random",
    "'a'.encode()",
    "'a'.translate({})",
    "''.maketrans('a', 'b')",
]


def _cost(body: str):
    (message,) = parse("@You:\n" + body).messages
    before = time.thread_time()
    result = evaluation().render(message.segments)
    assert time.thread_time() - before < 5, "far beyond what the meter allows"
    return result


@pytest.fixture(autouse=True)
def _bounded_memory():
    """Fail, not swap, when a template does get hold of memory."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.parametrize("body", EXPENSIVE, ids=range(len(EXPENSIVE)))
def test_a_template_that_costs_too_much_fails(body: str):
    result = _cost(body)
    assert result.failed
    assert result.items == ()
    assert result.diagnostics[-1].type == "template"


@pytest.mark.parametrize("code", REFUSED, ids=range(len(REFUSED)))
def test_an_expression_that_would_make_something_gigantic_is_refused(code: str):
    result = _cost("{{ " + code + " }}")
    assert result.items == ("{{ " + code + " }}",)
    assert [problem.type for problem in result.diagnostics] == ["expression"]


@pytest.mark.parametrize("code", ESCAPES)
def test_nothing_leads_out_of_the_sandbox(code: str):
    result = _cost("{{ " + code + " }}")
    assert result.items == ("{{ " + code + " }}",)
    assert len(result.diagnostics) == 1


def test_what_a_model_read_cannot_use_up_the_time_of_the_users_own_templates():
    hostile, own = parse(
        "@You:\n{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}\n"
        "@You:\n{{ 1 + 1 }}"
    ).messages
    shared = evaluation()
    assert not shared.render(hostile.segments, in_tool_result=True).failed
    assert shared.render(own.segments).items == ("2",)


def test_a_spent_budget_fails_every_later_message():
    hostile, own = parse(
        "@You:\n{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}\n"
        "@You:\n{{ 1 + 1 }}"
    ).messages
    shared = evaluation()
    assert shared.render(hostile.segments).failed
    assert shared.render(own.segments).failed


def test_a_file_is_read_once_and_cannot_be_attached_without_end():
    reads: list[str] = []

    class Counting:
        def read(self, path: str) -> bytes:
            reads.append(path)
            return bytes(1 << 20)

    setting = TemplateSetting(Place(None, "/w", "/h"), Counting(), NOW)
    body = "{% for i in range(9999) %}{{ include('p.png', {symbols.BINARY: true}) }}{% endfor %}"
    assert Evaluation(setting).render(parse("@You:\n" + body).messages[0].segments).failed
    assert reads == ["/w/p.png"]

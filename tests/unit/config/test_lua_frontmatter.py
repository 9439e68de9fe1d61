"""Lua frontmatter: `flemma.opt` and variables (spec: behaviour 1.2, 9.3)."""

import pytest

from flemma.config.frontmatter.languages import FrontmatterLanguages
from flemma.config.frontmatter.result import FrontmatterContext, FrontmatterResult
from flemma.config.layers import Layers
from flemma.errors import ConfigError, TemplateError
from tests.unit.config.support import buffer, evaluate, messages, setup


def test_globals_become_variables_and_locals_do_not() -> None:
    result = evaluate(
        'name = "Ada"\nlocal hidden = 1\nn, list, map = 3, {1, "two"}, {a = {b = 1.5}}'
    )
    assert result.variables == {"name": "Ada", "n": 3, "list": [1, "two"], "map": {"a": {"b": 1.5}}}


def test_functions_become_callables_that_templates_can_use() -> None:
    greet = evaluate('function greet(name) return "hi " .. name end').variables["greet"]
    assert greet("Ada") == "hi Ada"


def test_a_variable_that_cannot_leave_lua_is_an_error() -> None:
    assert messages(evaluate("t = {} t.t = t")) == [
        "variable 't' holds a table nested too deeply, or inside itself"
    ]


@pytest.mark.parametrize(
    ("code", "path", "expected"),
    [
        ('flemma.opt.provider = "openai"', "provider", "openai"),
        ("flemma.opt.temperature = 0.3", "parameters.temperature", 0.3),
        ("flemma.opt.sandbox = false", "sandbox.enabled", False),
        ("flemma.opt.tools.autopilot = false", "tools.autopilot.enabled", False),
        ("flemma.opt.tools.store.preview.lines = 3", "tools.store.preview.lines", 3),
        ("flemma.opt.tools.store = { preview = { lines = 3 } }", "tools.store.preview.lines", 3),
        ('flemma.opt.tools.bash.env.CI = "1"', "tools.bash.env", {"CI": "1"}),
        ('flemma.opt.tools.export = { a = { b = 1 } }', "tools.export", {"a": {"b": 1}}),
        ("flemma.opt.turns.padding = { 2, 3 }", "turns.padding", {"left": 2, "right": 3}),
        ("flemma.opt = { thinking = 9, ui = { pricing = false } }", "ui.pricing.enabled", False),
        (
            'flemma.opt.sandbox.policy.rw_paths:set({"/x"}):append("/y", "/z"):prepend("/w")',
            "sandbox.policy.rw_paths",
            ["/w", "/x", "/y", "/z"],
        ),
        (
            'flemma.opt.sandbox.policy.rw_paths = {"a"}\n'
            'flemma.opt.sandbox.policy.rw_paths = '
            '(flemma.opt.sandbox.policy.rw_paths + {"b", "c"} - "a") ^ "d"',
            "sandbox.policy.rw_paths",
            ["d", "b", "c"],
        ),
        (
            'local l = flemma.opt.sandbox.policy.rw_paths\nl:set({"b"})\nl = l ^ "a"',
            "sandbox.policy.rw_paths",
            ["a", "b"],
        ),
        (
            "flemma.opt.tools.grep.exclude = {}\nflemma.opt.tools.find.exclude = "
            "flemma.opt.tools.grep.exclude",
            "tools.find.exclude",
            [],
        ),
        ("flemma.opt.tools.max_concurrent = nil", "tools.max_concurrent", 2),
    ],
)  # fmt: skip
def test_assignment_and_list_operations(code, path, expected) -> None:
    assert buffer(code).value(tuple(path.split("."))) == expected


def test_reading_gives_what_the_layers_and_the_lines_above_say() -> None:
    layers = setup({"tools": {"max_concurrent": 7}, "provider": "openai"})
    result = evaluate(
        "a = flemma.opt.tools.max_concurrent\n"
        "flemma.opt.tools.max_concurrent = a + 1\n"
        "b = flemma.opt.tools.max_concurrent\n"
        "c = flemma.opt.provider\n"
        "d = flemma.opt.tools.auto_approve[1]\n"
        "e = flemma.opt.tools:get()[1]\n"
        "f = flemma.opt.thinking.level\n",
        layers=layers,
    )
    assert messages(result) == []
    assert result.variables == {
        "a": 7,
        "b": 8,
        "c": "openai",
        "d": "$standard",
        "e": "bash",
        "f": "high",
    }


def test_assigning_a_chain_back_writes_nothing_twice() -> None:
    result = evaluate('flemma.opt.tools = flemma.opt.tools + "read" - "write"')
    assert [(each.op, each.value) for each in result.operations] == [
        ("append", "read"),
        ("remove", "write"),
    ]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("flemma.opt.nope = 1", "unknown key 'nope'"),
        (
            "flemma.opt.tools.max_concurent = 1",
            "unknown key 'tools.max_concurent' -- did you mean 'max_concurrent'?",
        ),
        (
            'flemma.opt.tools.max_concurrent = "x"',
            "write error at 'tools.max_concurrent': expected integer, got string",
        ),
        (
            'flemma.opt.tools.auto_approve = { "ls", 3 }',
            "config list set error at 'tools.auto_approve' item[2]: expected string, got number",
        ),
        (
            "flemma.opt.tools.auto_approve:append(3)",
            "list append error at 'tools.auto_approve': expected string, got number",
        ),
        (
            "flemma.opt.tools.auto_approve:prepend(3)",
            "list prepend error at 'tools.auto_approve': expected string, got number",
        ),
        ("flemma.opt.provider.name = 1", "attempt to index field 'provider' (a string value)"),
    ],
)
def test_mistakes_carry_their_line_and_block_the_send(code, message) -> None:
    result = evaluate("\n\n" + code)
    (failure,) = result.failures
    assert (failure.message, failure.line) == (message, 3)
    assert result.blocks_send


def test_what_is_removed_is_never_checked() -> None:
    assert messages(evaluate("flemma.opt.tools.auto_approve:remove(3)")) == []


def test_one_mistake_leaves_the_other_settings_in_force() -> None:
    result = evaluate('flemma.opt.nope = 1\nflemma.opt.provider = "openai"\nx = 1')
    assert [failure.validation for failure in result.failures] == [True]
    assert not result.unusable
    assert len(result.operations) == 1
    assert result.variables == {"x": 1}


@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        ("x = 1\ny = = 2", "unexpected symbol near '='", 2),
        ("x = nme", "Undefined variable 'nme'", 1),
        ("\nerror('boom')", "boom", 2),
        ("error({})", "error object is a table value", None),
        ("local x = flemma.opt.nope.deeper", "unknown key 'nope'", 1),
        ("local x = flemma.pid", "Undefined variable 'flemma.pid'", 1),
        ("flemma.other = 1", "only flemma.opt can be assigned", 1),
        ("flemma.opt.tools.append('x')", "call it with a colon: flemma.opt.tools:append(...)", 1),
        ("x = 'a' + flemma.opt.tools", "the list has to stand on the left of the operator", 1),
        ("flemma.opt.tools[1] = 'x'", "flemma.opt.tools: assign the whole list", 1),
        ("\x1bLua", "precompiled Lua code is refused", None),
    ],
)
def test_broken_code_is_one_error_with_its_line(code, message, line) -> None:
    result = evaluate(code)
    assert [(each.message, each.line) for each in result.failures] == [(message, line)]
    assert result.unusable


def test_policy_functions_outlive_the_evaluation() -> None:
    config = buffer(
        "local calls = 0\n"
        "flemma.opt.tools.auto_approve = function(tool_name, input, ctx)\n"
        "  calls = calls + 1\n"
        "  if input.list and #input.list == 2 and ctx.bufnr == 7 then return calls end\n"
        '  if tool_name == "bash" then return "deny" end\n'
        "end"
    ).config
    policy = config.tools.auto_approve
    assert callable(policy)
    assert policy("grep", {"list": ["a", {"b": None}]}, {"bufnr": 7}) == 1
    assert policy("bash", {}, {}) == "deny"
    assert policy("ls", {}, {}) is None


def test_a_failing_function_names_its_line() -> None:
    function = evaluate("\nfunction f() error('no') end").variables["f"]
    with pytest.raises(ConfigError, match="no") as raised:
        function()
    assert raised.value.line == 2


def test_an_endless_function_is_stopped_at_every_call_and_works_again() -> None:
    function = evaluate("function f(n) while n do end return 1 end").variables["f"]
    for _ in range(2):
        with pytest.raises(ConfigError, match="took too long"):
            function(True)
    assert function(False) == 1


def test_functions_and_data_of_the_host_are_there() -> None:
    def include(path: str, options: object = None) -> str:
        return f"<{path} {options}>"

    result = evaluate(
        "a = include('x.md', { n = 1 })\nb = __dirname\nc = flemma.path.basename('/a/b')\n"
        "d = flemma.pid",
        include=include,
        __dirname="/home",
        flemma={"pid": 4, "path": {"basename": lambda text: str(text).split("/")[-1]}},
    )
    assert messages(result) == []
    assert result.variables == {"a": "<x.md {'n': 1}>", "b": "/home", "c": "b", "d": 4}


def test_an_error_of_the_host_is_kept_with_its_structure() -> None:
    def include(_path: str) -> str:
        raise TemplateError("a includes b", line=3)

    result = evaluate("x = include('a')", include=include)
    (failure,) = result.failures
    assert failure.message == "a includes b"
    assert isinstance(failure.cause, TemplateError)


def test_text_of_the_editor_survives_both_ways() -> None:
    result = evaluate("a = echo('ünï 😀') b = echo('\\255')", echo=lambda text: text)
    assert result.variables == {"a": "ünï 😀", "b": "�"}


def test_helpers_for_lists_are_there() -> None:
    result = evaluate(
        "out = {}\n"
        "for v in values({'a', 'b'}) do out[#out + 1] = v end\n"
        "for v, loop in each({'x', 'y'}) do\n"
        "  if loop.last then out[#out + 1] = v .. loop.index .. loop.length end\n"
        "end\n"
        "year = os.date('%Y', 0)"
    )
    assert result.variables["out"] == ["a", "b", "y22"]
    assert len(result.variables["year"]) == 4


def test_languages_can_be_registered_replaced_and_removed() -> None:
    languages = FrontmatterLanguages()

    def parse(code: str, _context: FrontmatterContext) -> dict[str, object]:
        name, value = code.split("=")
        return {"v": 1, "flemma": {name.strip(): value.strip()}}

    languages.register("TOY", parse)
    result = languages.evaluate("toy", "provider = demo", FrontmatterContext(Layers()))
    assert isinstance(result, FrontmatterResult)
    assert result.variables == {"v": 1}
    assert [each.value for each in result.operations] == ["demo"]
    failed = languages.evaluate("Toy", "nonsense", FrontmatterContext())
    assert isinstance(failed, FrontmatterResult)
    assert failed.unusable
    assert languages.names() == ["json", "lua", "toy", "yaml"]
    assert languages.unregister("toy")
    assert not languages.unregister("toy")
    assert messages(evaluate("x", "toy")) == ["Unsupported frontmatter language: toy"]
    with pytest.raises(ConfigError, match="letters and digits"):
        languages.register("a b", parse)


async def test_a_registered_language_may_answer_later() -> None:
    from flemma.config.frontmatter.languages import from_mapping

    async def parse_later() -> dict[str, object]:
        return {"flemma": {"thinking": "low"}}

    languages = FrontmatterLanguages()
    languages.register("slow", lambda _code, _context: parse_later())
    outcome = languages.evaluate("slow", "", FrontmatterContext())
    assert not isinstance(outcome, FrontmatterResult)
    result = from_mapping(await outcome, FrontmatterContext())
    assert [each.value for each in result.operations] == ["low"]

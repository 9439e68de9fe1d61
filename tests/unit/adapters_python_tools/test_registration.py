"""What `flemma.tools.register` accepts, and what it says of the rest."""

from collections.abc import Iterator
from typing import Any

import pytest

import flemma.tools
from flemma import extensions
from flemma import schema as s
from flemma.errors import ConfigError
from flemma.extensions import Kind, Registration
from flemma.tools.definition import ToolDefinition
from flemma.tools.registration import SourceDefinition

SCHEMA = s.object({"n": s.integer()}).strict()


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    extensions.forget()
    yield
    extensions.forget()


def execute(tool_input: Any, ctx: Any) -> Any:
    return {"success": True, "output": [tool_input, ctx]}


async def execute_later(tool_input: Any, ctx: Any) -> Any:
    return execute(tool_input, ctx)


def fields(**more: Any) -> dict[str, Any]:
    return {"description": "d", "input_schema": SCHEMA, "execute": execute, **more}


def tool(name: str) -> ToolDefinition:
    return extensions.registered()[Kind.TOOL, name].value


def test_fields_may_be_keywords_or_a_mapping_or_both() -> None:
    flemma.tools.register("keywords", **fields(strict=True))
    flemma.tools.register("mapping", fields(capabilities=["disables_save_to"]))
    flemma.tools.register("both", fields(), enabled=False)
    assert tool("keywords").strict
    assert tool("mapping").capabilities == {"disables_save_to"}
    assert not tool("both").enabled


def test_a_definition_object_is_taken_as_it_is() -> None:
    definition = ToolDefinition("made", "d", SCHEMA, execute)
    flemma.tools.register(definition)
    assert tool("made") is definition


def test_a_list_registers_every_tool_in_it() -> None:
    flemma.tools.register([{"name": "a", **fields()}, {"name": "b", **fields()}])
    assert [name for _, name in extensions.registered()] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "asynchronous"),
    [
        (fields(), False),
        (fields(execute=execute_later), True),
        (fields(execute=execute_later, asynchronous=False), False),
        (fields(**{"async": True}), True),
    ],
)
def test_coroutine_functions_are_asynchronous_unless_said(
    given: dict[str, Any], asynchronous: bool
) -> None:
    flemma.tools.register("x", given)
    assert tool("x").asynchronous is asynchronous


def test_sources_have_names_of_their_own() -> None:
    flemma.tools.register(execute)
    flemma.tools.register({"resolve": execute, "timeout": 3})
    found = list(extensions.registered().values())
    assert [entry.kind for entry in found] == [Kind.SOURCE, Kind.SOURCE]
    assert found[0].name != found[1].name
    assert found[1].value == SourceDefinition(execute, 3)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: flemma.tools.register("x", fields(descripton="")), "did you mean 'description'?"),
        (lambda: flemma.tools.register("x", fields(description=None)), "'description' has to be"),
        (lambda: flemma.tools.register("x", fields(input_schema="string")), "'input_schema'"),
        (lambda: flemma.tools.register("x", fields(execute=None)), "'execute' has to be"),
        (lambda: flemma.tools.register("x", fields(format_preview="p")), "'format_preview'"),
        (lambda: flemma.tools.register("x", fields(capabilities="tag")), "a list of tags"),
        (lambda: flemma.tools.register([fields()]), "needs a 'name'"),
        (lambda: flemma.tools.register({"resolve": 1}), "has to be a function"),
        (lambda: flemma.tools.register({"resolve": execute, "timeout": "3"}), "number of seconds"),
        (lambda: flemma.tools.register(7), "not int"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_registered(call: Any, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint.replace("?", r"\?")):
        call()
    assert extensions.registered() == {}


def test_a_registration_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a name"):
        flemma.tools.register(" ", **fields())


def test_who_connects_is_told_everything_and_then_each_change() -> None:
    told: list[Registration] = []
    flemma.tools.register("early", **fields())
    extensions.connect(told.append)
    with extensions.registering("a_module"):
        flemma.tools.register("late", **fields())
    assert flemma.tools.unregister("early") is True
    assert flemma.tools.unregister("early") is False
    assert [(entry.name, entry.origin, entry.value is None) for entry in told] == [
        ("early", "python", False),
        ("late", "a_module", False),
        ("early", "python", True),
    ]


def test_importing_the_package_loads_none_of_its_modules() -> None:
    import subprocess
    import sys

    source = "import flemma.tools, sys; print(*[m for m in sys.modules if m.startswith('flemma')])"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["flemma", "flemma.tools"]

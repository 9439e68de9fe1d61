"""The declarations themselves, and what is generated from them."""

import json
import re
from pathlib import Path

import pytest

from flemma.config.catalogue import Item, Kind, catalogue
from flemma.config.options import dotted
from flemma.config.shapes import conform, shape_of
from scripts.configuration import json_schema, lua, markdown, vimdoc
from scripts.configuration.prose import EXAMPLES, GUIDE, TASKS
from scripts.generate_config import ROOT, generated, stale
from tests.unit.config.support import evaluate as evaluate_block
from tests.unit.config.support import messages

OPTIONS = [item for item in catalogue().items.values() if item.kind is not Kind.SECTION]


@pytest.mark.parametrize("item", OPTIONS, ids=lambda item: dotted(item.path))
def test_every_option_has_a_text_and_a_default_of_its_type(item: Item) -> None:
    assert item.declaration.doc.endswith((".", "`"))
    assert item.declaration.doc[0] != " "
    if item.default is not None or item.shape.nullable:
        conform(item.shape, item.default)


@pytest.mark.parametrize("item", OPTIONS, ids=lambda item: dotted(item.path))
def test_every_option_is_on_the_page_with_its_full_name(item: Item) -> None:
    page = markdown.render(catalogue())
    path = dotted(item.path)
    parts = path.split(".")
    common = ".".join([parts[0], "<provider>", *parts[2:]])
    assert f"| `{path}` |" in page or f"| `{common}` |" in page


@pytest.mark.parametrize("item", OPTIONS, ids=lambda item: dotted(item.path))
def test_every_option_is_a_help_topic(item: Item) -> None:
    page = vimdoc.render(catalogue())
    assert page.count(f"*flemma.{dotted(item.path)}*") == 1


def test_help_topics_are_unique_and_fit_the_screen() -> None:
    page = vimdoc.render(catalogue())
    topics = re.findall(r"\*(\S+)\*", page)
    assert len(topics) == len(set(topics))
    assert {"flemma.thinking", "flemma.max_tokens", "flemma.tools.approve"} <= set(topics)
    prose = [line for line in page.split("\n") if not line.startswith("    ")]
    assert max(map(len, prose)) <= vimdoc.WIDTH


def test_generated_files_are_current() -> None:
    assert stale(ROOT) == []


def test_stale_and_missing_files_are_named(tmp_path: Path) -> None:
    assert stale(tmp_path) == list(generated())


def test_the_json_schema_is_json_and_describes_operators() -> None:
    schema = json.loads(json_schema.render(catalogue()))
    tools = schema["properties"]["tools"]["anyOf"][0]["properties"]
    assert tools["max_concurrent"] == {
        "description": tools["max_concurrent"]["description"],
        "type": "integer",
        "minimum": 0,
        "default": 2,
    }
    assert "$append" in tools


def test_lua_literals_are_lua() -> None:
    value = {"a": True, "b": [1, 2.5, "x"], "c": None, "d": {}}
    code = f"x = {lua.literal(value)}"
    result = evaluate_block(code)
    assert result.variables["x"] == {"a": True, "b": [1, 2.5, "x"], "d": []}


def _blocks(text: str, language: str) -> list[str]:
    return [part.split("\n```")[0] for part in text.split(f"```{language}\n")[1:]]


APPROVAL = (ROOT / "docs" / "approval.md").read_text(encoding="utf-8")
LUA = [*_blocks(GUIDE, "lua"), *_blocks(APPROVAL, "lua")]
SETUPS = [*EXAMPLES.values(), *(code for code in LUA if "setup(" in code)]


@pytest.mark.parametrize("code", SETUPS)
def test_examples_of_the_page_hold_no_mistake(code: str) -> None:
    as_block = code.replace('require("flemma").setup(', "flemma.opt = (")
    assert messages(evaluate_block(as_block)) == []


@pytest.mark.parametrize("code", [code for code in LUA if "require(" not in code])
def test_lua_blocks_of_the_page_hold_no_mistake(code: str) -> None:
    assert messages(evaluate_block(code)) == []


@pytest.mark.parametrize("code", [*_blocks(GUIDE, "yaml"), *_blocks(APPROVAL, "yaml")])
def test_yaml_blocks_of_the_page_hold_no_mistake(code: str) -> None:
    assert messages(evaluate_block(code, "yaml")) == []


def test_all_other_lua_of_the_pages_registers_something() -> None:
    others = [code for code in LUA if "require(" in code and "setup(" not in code]
    assert all(".register(" in code for code in others)
    assert len(others) == 2


def test_every_wish_of_the_page_names_something() -> None:
    assert all(wish and "`" in answer for wish, answer in TASKS)


def test_a_type_nobody_checks_is_refused() -> None:
    with pytest.raises(TypeError, match="not supported"):
        shape_of(complex)

"""The wire schema of every built-in tool, as recorded files (case B-24).

A change of a schema changes the prompt of every chat, so it has to be seen. To record anew set
FLEMMA_UPDATE_GOLDEN=1, and read the difference.
"""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from flemma.schema.json_schema import is_strict_schema
from flemma.tools.builtin import builtin_definitions
from flemma.tools.definition import ToolDefinition
from flemma.tools.registry import ToolRegistry
from flemma.tools.wire_names import WireNames
from flemma.tools.wire_tools import sent_tools

GOLDEN = Path(__file__).parents[2] / "golden" / "tools"
DEFINITIONS = {definition.name: definition for definition in builtin_definitions()}
HARNESS = {"flemma.background", "flemma.save_to"}


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_the_wire_form_of_a_tool_is_as_recorded(definition: ToolDefinition) -> None:
    (sent,) = sent_tools([definition], WireNames([definition.name]))
    written = json.dumps(asdict(sent), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    path = GOLDEN / f"{sent.name}.json"
    if os.environ.get("FLEMMA_UPDATE_GOLDEN"):
        path.write_text(written)
    assert path.read_text() == written


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_every_built_in_tool_keeps_the_rules_of_strict_mode(definition: ToolDefinition) -> None:
    (sent,) = sent_tools([definition], WireNames([definition.name]))
    assert sent.strict
    assert is_strict_schema(sent.input_schema)
    own = [name for name in sent.input_schema["required"] if name not in HARNESS]
    assert own == sorted(own)
    assert all("description" in field for field in sent.input_schema["properties"].values())


def test_every_tool_but_the_harness_tool_asks_for_a_label() -> None:
    without = [
        name
        for name, definition in DEFINITIONS.items()
        if "label" not in sent_tools([definition], WireNames([name]))[0].input_schema["properties"]
    ]
    assert without == ["flemma.jobs.status"]


def test_there_is_one_recorded_file_per_tool() -> None:
    recorded = {path.stem for path in GOLDEN.glob("*.json")}
    assert recorded == {WireNames([name]).wire(name) for name in DEFINITIONS}


def test_the_built_in_tools_register_without_warnings() -> None:
    registry = ToolRegistry()
    assert [registry.register(definition) for definition in DEFINITIONS.values()] == [()] * 8
    assert registry.enabled_names() == (
        "bash",
        "edit",
        "find",
        "flemma.jobs.status",
        "grep",
        "ls",
        "read",
        "write",
    )
    assert registry.has_capability("read", "emits_template")
    assert registry.has_capability("bash", "auto_approves_if_sandboxed")

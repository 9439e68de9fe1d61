"""All built-in tools as Anthropic gets them, as a recorded file (case B-24).

To record anew set FLEMMA_UPDATE_GOLDEN=1, and read the difference.
"""

import json
import os
from pathlib import Path

from flemma.providers.protocol import WireTool
from flemma.tools.builtin import builtin_definitions
from flemma.tools.wire_names import WireNames
from flemma.tools.wire_tools import sent_tools
from tests.unit.providers.conversations import build, user

GOLDEN = Path(__file__).parents[2] / "golden" / "anthropic" / "tools.json"


def request_body() -> bytes:
    definitions = builtin_definitions()
    names = WireNames([definition.name for definition in definitions])
    tools = tuple(
        WireTool(tool.name, tool.description, tool.input_schema, tool.strict)
        for tool in sent_tools(definitions, names)
    )
    # `build` checks the rules of the service as well.
    return build(user("Hello"), tools=tools).body


def test_the_tools_are_sent_as_recorded() -> None:
    tools = json.loads(request_body())["tools"]
    written = json.dumps(tools, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("FLEMMA_UPDATE_GOLDEN"):
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written
    names = [tool["name"] for tool in tools]
    assert names == sorted(names)


def test_definitions_made_anew_give_the_same_bytes() -> None:
    assert request_body() == request_body()

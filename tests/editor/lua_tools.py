"""Lua tools for tests, and what becomes of one call of them."""

from collections.abc import Mapping
from typing import Any

from tests.editor.tool_support import (
    DONE,
    approved,
    call,
    conversation,
    result_of,
    result_text,
    send,
)

HEAD = 'local s = require("flemma.schema")\nlocal tools = require("flemma.tools")\n'


def run_tool(
    lua: str, name: str, tool_input: Mapping[str, Any], **options: Any
) -> tuple[str, bool, list[str]]:
    """Let the model call one tool; return what it got, whether as an error, and notifications."""
    with conversation([call(name, tool_input), DONE], lua=lua, options=approved(**options)) as (
        editor,
        server,
    ):
        send(editor)
        editor.wait_for_text("All done.")
        result = result_of(server)
        said = [notification.text for notification in editor.notifications()]
        return result_text(server), bool(result.get("is_error")), said


def execute(body: str, *, fields: str = "", head: str = "") -> str:
    """Return the registration of a tool `probe` whose `execute` has this body."""
    return f"""{HEAD}{head}
    tools.register("probe", {{
      description = "Probe",
      input_schema = s.object({{ n = s.integer():nullable() }}):strict(),
      {fields}
      execute = function(input, ctx, callback)
        {body}
      end,
    }})
    """


def probe(body: str, *, fields: str = "", head: str = "", **options: Any) -> tuple[str, bool]:
    """Run such a tool."""
    found, is_error, _ = run_tool(execute(body, fields=fields, head=head), "probe", {}, **options)
    return found, is_error

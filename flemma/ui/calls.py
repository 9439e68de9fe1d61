"""A tool use and its result seen from one message: who belongs to an id mentioned there.

A result stands next to its use almost always, so looking around from the message finds it at once;
no index of the whole document has to be kept up to date with every key.
"""

from itertools import chain

from flemma.chat.document import Document
from flemma.chat.message import Message
from flemma.chat.nodes import ToolResult, ToolUse


def find_use(document: Document, index: int, tool_use_id: str) -> ToolUse | None:
    """Return the use of a result in message ``index``: the nearest one above, else below."""
    for number in chain(range(index, -1, -1), range(index + 1, len(document.messages))):
        if (use := _use_in(document.messages[number], tool_use_id)) is not None:
            return use
    return None


def find_result(document: Document, index: int, tool_use_id: str) -> ToolResult | None:
    """Return the result of a use in message ``index``: the last of the nearest message below."""
    for number in range(index, len(document.messages)):
        if (result := _result_in(document.messages[number], tool_use_id)) is not None:
            return result
    return None


def _use_in(message: Message, tool_use_id: str) -> ToolUse | None:
    for _, use in reversed(message.tools.uses):
        if use.id == tool_use_id:
            return use
    return None


def _result_in(message: Message, tool_use_id: str) -> ToolResult | None:
    for _, result in reversed(message.tools.results):
        if result.tool_use_id == tool_use_id:
            return result
    return None

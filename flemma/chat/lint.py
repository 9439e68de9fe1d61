"""What is wrong with the structure of a chat, told before it is sent.

A call without a result is reported where the conversation is built, since only there the answer
is made up for it (spec: behaviour 1.14); here is what else would surprise the user.
"""

from collections.abc import Iterator

from flemma.chat.document import Document
from flemma.chat.fences import next_fence
from flemma.chat.headers import ASSISTANT, SYSTEM, USER, read_role_marker
from flemma.chat.nodes import Diagnostic, Severity
from flemma.chat.pairing import orphan_results

_KNOWN = frozenset({SYSTEM, USER, ASSISTANT})


def lint(document: Document) -> tuple[Diagnostic, ...]:
    """Return all problems by line, absolute: those of the parser, and those of the whole text."""
    found = [
        *document.diagnostics(),
        *_unknown_roles(document),
        *_orphan_results(document),
        *_swallowed_messages(document),
    ]
    return tuple(sorted(found, key=lambda diagnostic: diagnostic.line))


def _unknown_roles(document: Document) -> Iterator[Diagnostic]:
    for start, message in zip(document.starts, document.messages, strict=True):
        if message.role not in _KNOWN:
            text = (
                f"'{message.marker.strip()}' is no role that is sent; "
                "use @System:, @You: or @Assistant:"
            )
            yield Diagnostic("message", Severity.WARNING, text, start, role=message.role)


def _orphan_results(document: Document) -> Iterator[Diagnostic]:
    for result in orphan_results(document):
        text = f"Tool result '{result.node.tool_use_id}' belongs to no tool use in this chat"
        yield Diagnostic("tool_result", Severity.WARNING, text, result.line, role=USER)


def _swallowed_messages(document: Document) -> Iterator[Diagnostic]:
    if not document.open_fence or not document.messages:
        return
    message, start = document.messages[-1], document.starts[-1]
    fence, opened, swallowed = 0, 0, 0
    for number, line in enumerate(message.lines):
        before, fence = fence, next_fence(fence, line)
        if fence and not before:
            opened, swallowed = number, 0
        elif fence and read_role_marker(line) is not None:
            swallowed += 1
    if swallowed:
        text = (
            f"This code fence is never closed: {swallowed} role marker(s) below it are read as its "
            "content; close it with the same number of backticks"
        )
        yield Diagnostic("message", Severity.WARNING, text, start + opened, role=message.role)

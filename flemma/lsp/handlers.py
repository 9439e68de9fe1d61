"""Answers of the in-process language server `flemma`: plain dicts of the protocol.

Columns are bytes (position encoding `utf-8`), lines are 0-based (spec: behaviour 12.14, and tools,
"LSP integration").
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

from flemma.chat.document import Document
from flemma.chat.nodes import (
    Code,
    Expression,
    FileReference,
    JobResult,
    Segment,
    Status,
    ToolResult,
    ToolUse,
)
from flemma.chat.pairing import Located, job_results, siblings
from flemma.chat.query import job_placeholders, node_at
from flemma.conversation.references import Place, resolve_path
from flemma.lsp.dump import dump_frontmatter, dump_message, dump_segment

Answer: TypeAlias = dict[str, Any] | None

_INCLUDE = re.compile(r"""\binclude\(\s*(?:'([^'\\]*)'|"([^"\\]*)")""")


@dataclass(frozen=True, slots=True)
class Query:
    """A question about a position of a chat.

    ``uri`` is the address of the chat; None for a buffer without a file, to which no answer can
    lead. ``job_states`` tells of jobs that run or wait for delivery: `pending`, `completed` or
    `error`.
    """

    document: Document
    line: int
    column: int
    uri: str | None
    place: Place
    job_states: Mapping[str, str] = field(default_factory=dict[str, str])


def answer(method: str, query: Query) -> Answer:
    """Answer `hover` or `definition`; None when there is nothing to say (or to any other method).

    A position outside the text has no answer.
    """
    if not 0 <= query.line < query.document.line_count:
        return None
    match method:
        case "hover":
            return hover(query)
        case "definition":
            return definition(query)
        case _:
            return None


def hover(query: Query) -> Answer:
    """Describe the segment, else the message, else the frontmatter; first the state of a job."""
    found = node_at(query.document, query.line, _character(query))
    if found.frontmatter is not None:
        return _markdown(dump_frontmatter(found.frontmatter), 0, found.frontmatter.line_count - 1)
    if found.message is None or found.message_index is None:
        return None
    start = query.document.start_of(found.message_index)
    if found.segment is None:
        last = start + found.message.line_count - 1
        return _markdown(dump_message(found.message, start), start, last)
    located = found.segment
    state = _job_line(query, located.node)
    return _markdown(dump_segment(located.node, start), located.line, located.end, above=state)


def definition(query: Query) -> Answer:
    """Return where to jump: from a call to its result and back, from a job's placeholder to its
    result and back, from a reference or include to the file."""
    located = node_at(query.document, query.line, _character(query)).segment
    if located is None:
        return None
    match located.node:
        case FileReference(path=path):
            return _file(query.place, path)
        case Expression(code=code) | Code(code=code):
            return _included(query.place, code)
        case _:
            target = _counterpart(query.document, located)
            return _in_chat(query, target)


def _in_chat(query: Query, target: Located[Any] | None) -> Answer:
    if target is None or query.uri is None:
        return None
    return _location(query.uri, target.line)


def _counterpart(document: Document, located: Located[Segment]) -> Located[Any] | None:
    match located.node:
        case ToolUse():
            calls = (call for call in siblings(document) if call.use.node is located.node)
            return next((call.first_result for call in calls), None)
        case ToolResult() as node:
            return _job_result(document, node.job_id) or _use_of(document, node)
        case JobResult(job_id=job_id):
            placeholders = job_placeholders(document)
            return next((found for found in placeholders if found.node.job_id == job_id), None)
        case _:
            return None


def _use_of(document: Document, node: ToolResult) -> Located[ToolUse] | None:
    for call in siblings(document):
        if any(result.node is node for result in call.results):
            return call.use
    return None


def _job_result(document: Document, job_id: str | None) -> Located[JobResult] | None:
    if job_id is None:
        return None
    return next((found for found in job_results(document) if found.node.job_id == job_id), None)


def _job_line(query: Query, node: Segment) -> str | None:
    if not isinstance(node, ToolResult) or node.job_id is None:
        return None
    delivered = _job_result(query.document, node.job_id)
    if delivered is not None:
        state = "error" if delivered.node.status is Status.ERROR else "completed"
    else:
        # Neither here nor known to the host: it was lost with an earlier session.
        state = query.job_states.get(node.job_id, "error")
    return f"Job `{node.job_id}`: {state}"


def _included(place: Place, code: str) -> Answer:
    found = _INCLUDE.search(code)
    if found is None:
        return None
    path = found[1] if found[1] is not None else found[2]
    return None if path.startswith("urn:") else _file(place, path)


def _file(place: Place, path: str) -> Answer:
    absolute = resolve_path(path, place.directory, place.home)
    return _location("file://" + quote(absolute, errors="surrogateescape"), 0)


def _location(uri: str, line: int) -> dict[str, Any]:
    return {"uri": uri, "range": _range(line, line)}


def _markdown(text: str, first: int, last: int, *, above: str | None = None) -> dict[str, Any]:
    heading = f"{above}\n\n" if above else ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    value = f"{heading}{fence}\n{text}\n{fence}"
    return {"contents": {"kind": "markdown", "value": value}, "range": _range(first, last + 1)}


def _range(first: int, last: int) -> dict[str, Any]:
    return {
        "start": {"line": first, "character": 0},
        "end": {"line": last, "character": 0},
    }


def _character(query: Query) -> int:
    """Return the column as a character of its line."""
    data = query.document.line(query.line).encode("utf-8", "surrogatepass")
    return len(data[: query.column].decode("utf-8", "ignore"))

"""What each tool call of a document gets as its result (spec: behaviour 1.4, 1.14)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.nodes import Diagnostic, JsonValue, Severity, ToolResult
from flemma.chat.pairing import Located, ToolCall, siblings
from flemma.text.safe import without_surrogates

NO_RESULT = "No result provided"
"""Text of the error result that a call without a final result gets."""


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call as it goes out: ``id`` is unique in the conversation, ``result`` its final result."""

    call: ToolCall
    id: str
    result: Located[ToolResult] | None


class Calls:
    """The tool calls of a document that can be sent, with their results.

    Calls whose body could not be read are no calls to a provider. A repeated id gets a number
    behind it that depends only on the calls before, so that a longer chat keeps its beginning
    (case B-07).
    """

    def __init__(self, document: Document) -> None:
        self._by_message: dict[int, dict[int, SentCall]] = {}
        self._claimed: set[int] = set()
        self._names: dict[str, tuple[str, str]] = {}
        self._unread: dict[int, ToolCall] = {}
        used: set[str] = set()
        for call in siblings(document):
            for result in call.results:
                self._note_result(call, result.node)
            if call.use.node.error is None:
                sent = SentCall(call, _unique(call.id, used), _final(call.results))
                self._by_message.setdefault(call.use.message, {})[call.use.segment] = sent

    def at(self, message: int, segment: int) -> SentCall | None:
        """Return the call written at a place, None when it cannot be sent."""
        return self._by_message.get(message, {}).get(segment)

    def of_message(self, message: int) -> Sequence[SentCall]:
        """Return the calls of an assistant message in order."""
        return tuple(self._by_message.get(message, {}).values())

    def has_call(self, result: ToolResult) -> bool:
        """Tell whether a result belongs to a call that is sent."""
        return id(result) in self._claimed

    def unread_call(self, result: ToolResult) -> ToolCall | None:
        """Return the call with an unreadable body that a result belongs to."""
        return self._unread.get(id(result))

    def origin_of_job(self, job_id: str) -> tuple[str, str] | None:
        """Return tool name and tool use id of the call whose result became a job."""
        return self._names.get(job_id)

    def _note_result(self, call: ToolCall, node: ToolResult) -> None:
        if call.use.node.error is None:
            self._claimed.add(id(node))
        else:
            self._unread[id(node)] = call
        if node.job_id is not None:
            self._names.setdefault(node.job_id, (call.use.node.name, call.id))


def missing_result(sent: SentCall) -> Diagnostic:
    """Return the warning about a call that goes out with a made-up error result."""
    use = sent.call.use
    return Diagnostic(
        type="tool_use",
        severity=Severity.WARNING,
        message=(
            f"Tool call '{use.node.name}' ({sent.call.id}) has no matching tool result. "
            f"A synthetic '{NO_RESULT}' error response will be sent to the API."
        ),
        line=use.line,
        role="assistant",
    )


def safe_input(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the input of a call without lone surrogates (case B-14)."""
    return {without_surrogates(key): _safe(item) for key, item in value.items()}


def _safe(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return without_surrogates(value)
        case list():
            return [_safe(item) for item in value]
        case dict():
            return safe_input(value)
        case _:
            return value


def _final(results: Sequence[Located[ToolResult]]) -> Located[ToolResult] | None:
    """Return the last final result; of duplicates only one can be sent."""
    return next((r for r in reversed(results) if not r.node.is_placeholder), None)


def _unique(identifier: str, used: set[str]) -> str:
    candidate, number = identifier, 1
    while candidate in used:
        number += 1
        candidate = f"{identifier}_{number}"
    used.add(candidate)
    return candidate

"""The tool calls of a document as the planner sees them."""

from collections.abc import Mapping
from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.nodes import JsonValue, Status, ToolResult
from flemma.chat.pairing import CallKey, ToolCall, siblings
from flemma.chat.query import aborted_message

FAILURES_IN_A_ROW = 2
"""Identical failed calls before the next one has to be approved (case E-34)."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and what stands for its result."""

    key: CallKey
    name: str
    input: Mapping[str, JsonValue]
    result: ToolResult | None
    """The block that counts: of duplicates the last."""
    abort_message: str | None = None
    """Message of the aborted marker that the response ended with."""

    @property
    def aborted(self) -> bool:
        """Whether the response was interrupted, so that the call must not run."""
        return self.abort_message is not None

    @property
    def has_block(self) -> bool:
        """Whether there is a result or a placeholder."""
        return self.result is not None

    @property
    def is_placeholder(self) -> bool:
        """Whether the block still waits for a result."""
        return self.result is not None and self.result.is_placeholder

    @property
    def status(self) -> Status | None:
        """Status in the header of the block."""
        return None if self.result is None else self.result.status

    @property
    def content(self) -> str:
        """What the fence of the block holds; empty when there is none."""
        return "" if self.result is None else self.result.content

    @property
    def failed(self) -> bool:
        """Whether the call has an error result."""
        return self.status is Status.ERROR


def calls_of(document: Document) -> tuple[Call, ...]:
    """Return all calls that can be sent, in document order.

    A block whose input could not be parsed is no call: it never reaches the model.
    """
    interrupted: dict[int, str | None] = {}
    return tuple(
        _call(document, call, interrupted)
        for call in siblings(document)
        if call.use.node.error is None
    )


def _call(document: Document, call: ToolCall, interrupted: dict[int, str | None]) -> Call:
    index = call.use.message
    if index not in interrupted:
        interrupted[index] = aborted_message(document.messages[index])
    node = call.use.node
    last = call.last_result
    return Call(
        call.key, node.name, node.input, None if last is None else last.node, interrupted[index]
    )


def repeats_a_failure(call: Call, calls: tuple[Call, ...]) -> bool:
    """Tell whether the same call failed just before, twice in a row, with the same input."""
    position = calls.index(call)
    before = [other for other in calls[:position] if other.has_block][-FAILURES_IN_A_ROW:]
    return len(before) == FAILURES_IN_A_ROW and all(
        other.failed and other.name == call.name and _asks_the_same(other, call) for other in before
    )


def _asks_the_same(one: Call, other: Call) -> bool:
    """Compare inputs; the label is prose and may differ."""
    return {**one.input, "label": None} == {**other.input, "label": None}

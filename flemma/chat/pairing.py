"""Which tool result belongs to which tool use, over the whole document.

Ids pair, wherever the blocks stand. When a provider used one id twice, a result belongs to the
latest message above it that uses the id, and the results there go to its uses in order
(case B-07).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from flemma.chat.document import Document
from flemma.chat.nodes import JobResult, Segment, ToolResult, ToolUse

NodeT_co = TypeVar("NodeT_co", bound=Segment, covariant=True)


@dataclass(frozen=True, slots=True)
class Located(Generic[NodeT_co]):
    """A segment and where it is: index of its message, its index there, absolute lines."""

    message: int
    segment: int
    node: NodeT_co
    line: int
    """The first line (of a tool or job block: its header)."""
    end: int
    """The last line."""


class CallKey(NamedTuple):
    """Names one tool use: ``occurrence`` counts the uses with the same id, from 0."""

    id: str
    occurrence: int = 0


CallReference: TypeAlias = CallKey | str
"""A tool use; a plain id means the last use that has it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool use with its results in document order (one, none, or duplicates)."""

    key: CallKey
    use: Located[ToolUse]
    results: tuple[Located[ToolResult], ...]

    @property
    def id(self) -> str:
        """The tool use id."""
        return self.key.id

    @property
    def first_result(self) -> Located[ToolResult] | None:
        """Where a jump from the tool use goes (case 14)."""
        return self.results[0] if self.results else None

    @property
    def last_result(self) -> Located[ToolResult] | None:
        """The one that decides whether the call is resolved (case 14)."""
        return self.results[-1] if self.results else None

    @property
    def result(self) -> Located[ToolResult] | None:
        """The one to rewrite: the first, unless the last is a placeholder that waits for it."""
        last = self.last_result
        return last if last is not None and last.node.is_placeholder else self.first_result

    @property
    def is_resolved(self) -> bool:
        """Whether there is a final result."""
        last = self.last_result
        return last is not None and not last.node.is_placeholder


_known_siblings: WeakKeyDictionary[Document, tuple[ToolCall, ...]] = WeakKeyDictionary()


def siblings(document: Document) -> tuple[ToolCall, ...]:
    """Return every tool use with its results, in document order.

    The answer is kept as long as the document is: a step of the cycle asks many times.
    """
    known = _known_siblings.get(document)
    if known is None:
        known = _known_siblings[document] = _Pairing(document).calls()
    return known


def orphan_results(document: Document) -> tuple[Located[ToolResult], ...]:
    """Return the tool results whose id no tool use has."""
    used = {node.id for message in document.messages for _, node in message.tools.uses}
    return tuple(r for r in tool_results(document) if r.node.tool_use_id not in used)


def tool_index(document: Document) -> dict[str, Located[ToolUse]]:
    """Return the tool uses by id; of several with one id, the last."""
    return {use.node.id: use for use in tool_uses(document)}


def find_call(document: Document, reference: CallReference) -> ToolCall | None:
    """Return the call that ``reference`` names, or None when it is not in the document."""
    matches = [call for call in siblings(document) if call.id == _id_of(reference)]
    if isinstance(reference, str):
        return matches[-1] if matches else None
    return next((call for call in matches if call.key == reference), None)


def _id_of(reference: CallReference) -> str:
    return reference if isinstance(reference, str) else reference.id


def tool_uses(document: Document) -> Iterator[Located[ToolUse]]:
    """Yield all tool uses in order."""
    for index, message in enumerate(document.messages):
        if message.tools.uses:
            start = document.start_of(index)
            for segment, node in message.tools.uses:
                yield Located(index, segment, node, start + node.start, start + node.end)


def tool_results(document: Document) -> Iterator[Located[ToolResult]]:
    """Yield all tool results in order, placeholders included."""
    for index, message in enumerate(document.messages):
        if message.tools.results:
            start = document.start_of(index)
            for segment, node in message.tools.results:
                yield Located(index, segment, node, start + node.start, start + node.end)


def job_results(document: Document) -> tuple[Located[JobResult], ...]:
    """Return all delivered job results in order."""
    return tuple(
        Located(index, segment, node, start + node.start, start + node.end)
        for index, message in enumerate(document.messages)
        if message.tools.jobs
        for start in (document.start_of(index),)
        for segment, node in message.tools.jobs
    )


class _Pairing:
    def __init__(self, document: Document) -> None:
        self._uses = tuple(tool_uses(document))
        self._results: list[list[Located[ToolResult]]] = [[] for _ in self._uses]
        self._with_id: defaultdict[str, list[int]] = defaultdict(list)
        self._keys: list[CallKey] = []
        for position, use in enumerate(self._uses):
            positions = self._with_id[use.node.id]
            self._keys.append(CallKey(use.node.id, len(positions)))
            positions.append(position)
        for result in tool_results(document):
            candidates = self._candidates(result)
            if candidates:
                free = next((p for p in candidates if not self._results[p]), candidates[-1])
                self._results[free].append(result)

    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(key, use, tuple(results))
            for key, use, results in zip(self._keys, self._uses, self._results, strict=True)
        )

    def _candidates(self, result: Located[ToolResult]) -> list[int]:
        """Return the uses in the latest message above the result; all uses if none is above."""
        positions = self._with_id.get(result.node.tool_use_id, [])
        above = bisect_left(positions, result.message, key=self._message_of)
        if not above:
            return positions
        latest = self._message_of(positions[above - 1])
        return positions[bisect_left(positions, latest, key=self._message_of) : above]

    def _message_of(self, position: int) -> int:
        return self._uses[position].message

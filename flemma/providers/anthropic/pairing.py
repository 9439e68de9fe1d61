"""Tool calls and their results brought together as the API wants them.

Every call gets exactly one result, in the message right after it, in call order (spec: providers
1.7 rules 1 to 4, 5.3, 5.5, 5.6; cases B-06, B-07, B-19). The document is not changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flemma.conversation.messages import (
    ContentPart,
    Message,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.providers.names import unique_ids

NO_RESULT = "No result provided"


@dataclass(frozen=True, slots=True)
class Call:
    """A call with the id it has on the wire."""

    part: ToolUsePart
    wire_id: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of the call ``wire_id``."""

    wire_id: str
    content: tuple[ContentPart, ...]
    is_error: bool


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """What the model said, in the order of the document."""

    parts: tuple[TextPart | ThinkingPart | Call, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """Its tool calls."""
        return tuple(part for part in self.parts if isinstance(part, Call))


@dataclass(frozen=True, slots=True)
class UserTurn:
    """Results first, then what the user wrote."""

    results: tuple[Result, ...]
    content: tuple[ContentPart, ...]


Turn = AssistantTurn | UserTurn


@dataclass(slots=True)
class _Ledger:
    """Which result belongs to which call; calls are known by position (message, part)."""

    by_id: Mapping[str, list[tuple[int, int]]]
    results: dict[tuple[int, int], ToolResultPart] = field(
        default_factory=dict[tuple[int, int], ToolResultPart]
    )

    def take(self, message: int, result: ToolResultPart) -> bool:
        """Give ``result`` to the call it answers; tell whether there is one before it.

        Of several calls with one id the newest message counts, in it the first that still waits; a
        second result of the same call replaces the first.
        """
        before = [place for place in self.by_id.get(result.tool_use_id, []) if place[0] < message]
        if not before:
            return False
        newest = [place for place in before if place[0] == before[-1][0]]
        waiting = [place for place in newest if place not in self.results]
        self.results[waiting[0] if waiting else newest[-1]] = result
        return True


def pair(messages: Sequence[Message]) -> list[Turn]:
    """Return alternating-enough turns: each turn with calls is followed by one with results."""
    calls = list(_calls(messages))
    by_id: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, call in calls:
        by_id[call.id].append(place)
    wire_ids = dict(
        zip((place for place, _ in calls), unique_ids(call.id for _, call in calls), strict=True)
    )
    ledger = _Ledger(by_id)
    contents = [_content(index, message, ledger) for index, message in enumerate(messages)]
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        if message.role is Role.USER:
            _add_user(turns, UserTurn((), contents[index]))
            continue
        turn = AssistantTurn(tuple(_assistant_parts(index, message, wire_ids)))
        turns.append(turn)
        places = [
            (index, at) for at, part in enumerate(message.parts) if isinstance(part, ToolUsePart)
        ]
        if places:
            results = tuple(_result(wire_ids[place], ledger.results.get(place)) for place in places)
            turns.append(UserTurn(results, ()))
    return turns


def _calls(messages: Sequence[Message]) -> Iterable[tuple[tuple[int, int], ToolUsePart]]:
    for index, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            for at, part in enumerate(message.parts):
                if isinstance(part, ToolUsePart):
                    yield (index, at), part


def _content(index: int, message: Message, ledger: _Ledger) -> tuple[ContentPart, ...]:
    """Return what the user wrote; results go to the ledger, those without a call become text."""
    if message.role is not Role.USER:
        return ()
    content: list[ContentPart] = []
    for part in message.parts:
        match part:
            case ToolResultPart():
                if not ledger.take(index, part):
                    content += _orphan(part)
            case ThinkingPart() | ToolUsePart():
                continue
            case _:
                content.append(part)
    return tuple(content)


def _orphan(result: ToolResultPart) -> list[ContentPart]:
    head = f"Result of tool call {result.tool_use_id}, which is no longer in the conversation:\n"
    return [TextPart(head), *result.content]


def _assistant_parts(
    index: int, message: Message, wire_ids: Mapping[tuple[int, int], str]
) -> Iterable[TextPart | ThinkingPart | Call]:
    for at, part in enumerate(message.parts):
        match part:
            case ToolUsePart():
                yield Call(part, wire_ids[index, at])
            case TextPart() | ThinkingPart():
                yield part
            case _:
                # The API takes attachments from the user only.
                yield TextPart(f"[{_name(part)}]")


def _name(part: Part) -> str:
    return getattr(part, "name", "attachment")


def _result(wire_id: str, result: ToolResultPart | None) -> Result:
    if result is None:
        return Result(wire_id, (TextPart(NO_RESULT),), is_error=True)
    return Result(wire_id, result.content, result.is_error)


def _add_user(turns: list[Turn], turn: UserTurn) -> None:
    last = turns[-1] if turns else None
    if isinstance(last, UserTurn):
        turns[-1] = UserTurn(last.results + turn.results, last.content + turn.content)
    else:
        turns.append(turn)

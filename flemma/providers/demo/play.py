"""Which turn of a script answers a request: decided by the conversation alone.

So a replay goes on after a restart, and editing the chat changes what comes next.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from flemma.providers.demo.script import Script, ToolCall, Turn, When
from flemma.providers.names import internal_name

_REJECTED = re.compile(
    r"This tool has been rejected by the user\.|User feedback: (?P<reason>.+)", re.S
)
_DENIED = "denied by a policy"
_ABORTED = ("User aborted tool execution.", "Response interrupted by the user.")
_NUMBER = re.compile(r"_\d+$")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one call. ``id`` is the call's id in the script."""

    id: str
    tool: str
    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Situation:
    """What a script can react to."""

    answers: int
    """Answers of the model so far."""
    outcomes: tuple[Outcome, ...]
    """Results of the last calls that were made."""
    since: int
    """Answers since then."""
    said: str
    """Text of the last user message."""


def situation(body: Mapping[str, Any]) -> Situation:
    """Read the situation off a request body."""
    messages = cast("Sequence[Mapping[str, Any]]", body.get("messages", []))
    answers = sum(message["role"] == "assistant" for message in messages)
    outcomes: tuple[Outcome, ...] = ()
    since = 0
    calls: dict[str, str] = {}
    for message in messages:
        if message["role"] == "assistant":
            since += 1
        for block in message["content"]:
            if block["type"] == "tool_use":
                calls[block["id"]] = internal_name(block["name"])
        found = tuple(
            _outcome(block, calls) for block in message["content"] if block["type"] == "tool_result"
        )
        if found:
            outcomes, since = found, 0
    said = _text(messages[-1]["content"]) if messages else ""
    return Situation(answers, outcomes, since, said)


def _outcome(block: Mapping[str, Any], calls: Mapping[str, str]) -> Outcome:
    identifier = str(block["tool_use_id"])
    content = block.get("content", "")
    text = (
        content if isinstance(content, str) else _text(cast("Sequence[Mapping[str, Any]]", content))
    )
    status = _status(text) if block.get("is_error") else "ok"
    return Outcome(_NUMBER.sub("", identifier), calls.get(identifier, ""), status, text)


def _status(text: str) -> str:
    if _REJECTED.match(text):
        return "rejected"
    if _DENIED in text:
        return "denied"
    return "aborted" if text.startswith(_ABORTED) else "error"


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def choose_turn(script: Script, now: Situation) -> Turn:
    """Return the first turn whose conditions hold, else what the script says otherwise."""
    return next((turn for turn in script.turns if _holds(turn.when, now)), script.otherwise)


def _holds(when: When, now: Situation) -> bool:
    if when.turn is not None and when.turn != now.answers:
        return False
    if when.says is not None and when.says.lower() not in now.said.lower():
        return False
    if not (when.after or when.result or when.contains):
        return True
    return now.since == when.since and any(_fits(when, outcome) for outcome in now.outcomes)


def _fits(when: When, outcome: Outcome) -> bool:
    if when.after and outcome.id not in when.after and outcome.tool not in when.after:
        return False
    if when.result and outcome.status not in when.result:
        return False
    return when.contains is None or when.contains in outcome.text


def fill_in(turn: Turn, now: Situation, places: Mapping[str, str]) -> Turn:
    """Return ``turn`` with its placeholders replaced and its call ids numbered.

    ``places`` gives `{directory}` and `{scratch}`; the conversation gives `{result}` (first line),
    `{reason}` (of a rejection) and `{said}`. Ids get the number of the answer behind them, so that
    they stay unique in the chat.
    """
    result = now.outcomes[0].text if now.outcomes else ""
    rejection = _REJECTED.match(result)
    values = {
        **places,
        "result": result.strip().partition("\n")[0],
        "reason": ((rejection["reason"] or "") if rejection else "").strip(),
        "said": now.said.strip(),
    }

    def put(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)

    tools = tuple(
        ToolCall(f"{tool.id}_{now.answers + 1}", tool.name, _put_in(tool.input, put))
        for tool in turn.tools
    )
    return replace(turn, text=put(turn.text), thinking=put(turn.thinking), tools=tools)


def _put_in(value: Any, put: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return put(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _put_in(item, put) for key, item in items}
    if isinstance(value, list):
        return [_put_in(item, put) for item in cast("list[Any]", value)]
    return value

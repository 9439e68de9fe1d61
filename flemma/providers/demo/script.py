"""Scripts for the demo model: what it says when (format: `scripts/README.md` beside this file)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from flemma.errors import ConfigError
from flemma.text.suggest import closest

RESULTS = ("ok", "error", "rejected", "denied", "aborted")


@dataclass(frozen=True, slots=True)
class Pace:
    """Pieces of ``chunk`` characters, ``delay`` seconds before each."""

    chunk: int = 12
    delay: float = 0.02


@dataclass(frozen=True, slots=True)
class When:
    """Conditions of a turn; all that are given must hold. An empty tuple means any."""

    turn: int | None = None
    """Number of answers in the conversation so far."""
    after: tuple[str, ...] = ()
    """Ids (of this script) or tool names of the calls whose results came last."""
    since: int = 0
    """Answers since those results; 0 when they are what the model is to answer."""
    result: tuple[str, ...] = ()
    contains: str | None = None
    says: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to make; ``id`` is its name in the script."""

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error to inject in place of a proper end, for the first ``times`` equal requests.

    With a ``status`` nothing else is sent; without, the content comes first.
    """

    type: str
    message: str
    status: int | None = None
    retry_after: float | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer."""

    text: str = ""
    thinking: str = ""
    tools: tuple[ToolCall, ...] = ()
    when: When = field(default_factory=When)
    pace: Pace | None = None
    stop: str | None = None
    """Stop reason, else the natural one."""
    cut: bool = False
    """Whether the stream ends without its end marker."""
    fail: Failure | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A whole script: the first turn whose conditions hold is played, else ``otherwise``."""

    turns: tuple[Turn, ...]
    otherwise: Turn
    pace: Pace = field(default_factory=Pace)


OVER = Turn(text="The script has nothing to say at this point. Start a new chat to play it again.")


def parse_script(source: str, name: str) -> Script:
    """Parse a YAML script. Raises :class:`flemma.errors.ConfigError` naming turn and key."""
    try:
        data = yaml.safe_load(source)
    except yaml.YAMLError as problem:
        raise ConfigError(f"Demo script {name} is not YAML: {problem}", path=name) from problem
    reader = _Reader(name, "the script", data)
    reader.allow("title", "pace", "turns", "otherwise")
    entries = cast("list[object]", reader.get("turns", list) or [])
    turns: list[Turn] = []
    plain = 0
    for number, entry in enumerate(entries, 1):
        turn = _turn(_Reader(name, f"turn {number}", entry), plain)
        turns.append(turn)
        plain += "when" not in cast("Mapping[str, object]", entry)
    if not turns:
        raise ConfigError(f"Demo script {name} has no turns", path=name)
    otherwise = reader.get("otherwise", dict)
    last = _turn(_Reader(name, "otherwise", otherwise), 0) if otherwise is not None else OVER
    return Script(tuple(turns), last, _pace(reader) or Pace())


def _turn(reader: "_Reader", plain: int) -> Turn:
    """Read a turn; one without conditions is played after as many answers as ``plain`` says."""
    reader.allow("text", "thinking", "tools", "when", "pace", "stop", "cut", "fail")
    conditions = reader.child("when")
    return Turn(
        text=reader.get("text", str) or "",
        thinking=reader.get("thinking", str) or "",
        tools=tuple(_tool(tool, at) for at, tool in enumerate(reader.children("tools"))),
        when=_when(conditions) if conditions else When(turn=plain),
        pace=_pace(reader),
        stop=reader.get("stop", str),
        cut=bool(reader.get("cut", bool)),
        fail=_failure(reader.child("fail")),
    )


def _tool(reader: "_Reader", at: int) -> ToolCall:
    reader.allow("id", "name", "input")
    name = reader.need("name", str)
    given = cast("Mapping[str, Any]", reader.get("input", dict) or {})
    return ToolCall(reader.get("id", str) or f"{name.replace('.', '_')}_{at}", name, given)


def _when(reader: "_Reader") -> When:
    reader.allow("turn", "after", "since", "result", "contains", "says")
    results = reader.words("result")
    for result in results:
        if result not in RESULTS:
            reader.fail(f"unknown result '{result}' (known: {', '.join(RESULTS)})")
    return When(
        turn=reader.get("turn", int),
        after=reader.words("after"),
        since=reader.get("since", int) or 0,
        result=results,
        contains=reader.get("contains", str),
        says=reader.get("says", str),
    )


def _pace(reader: "_Reader") -> Pace | None:
    inner = reader.child("pace")
    if inner is None:
        return None
    inner.allow("chunk", "delay")
    usual = Pace()
    delay = inner.get("delay", int, float)
    return Pace(
        max(1, inner.get("chunk", int) or usual.chunk), usual.delay if delay is None else delay
    )


def _failure(reader: "_Reader | None") -> Failure | None:
    if reader is None:
        return None
    reader.allow("type", "message", "status", "retry_after", "times")
    times = reader.get("times", int)
    return Failure(
        type=reader.need("type", str),
        message=reader.get("message", str) or "Injected by the script",
        status=reader.get("status", int),
        retry_after=reader.get("retry_after", int, float),
        times=1 if times is None else times,
    )


class _Reader:
    """Reads one mapping of a script and says exactly where something is wrong."""

    def __init__(self, script: str, place: str, data: object) -> None:
        self._script = script
        self._place = place
        if not isinstance(data, Mapping):
            self.fail("expected a mapping")
        self._data = cast("Mapping[str, object]", data)

    def fail(self, problem: str) -> None:
        """Raise the error for ``problem`` here."""
        raise ConfigError(
            f"Demo script {self._script}, {self._place}: {problem}", path=self._script
        )

    def allow(self, *keys: str) -> None:
        """Refuse keys that are not among ``keys``."""
        for key in self._data:
            if key not in keys:
                near = closest(str(key), keys)
                self.fail(f"unknown key '{key}'" + (f", did you mean '{near}'?" if near else ""))

    def get(self, key: str, *kinds: type[Any]) -> Any:
        """Return the value of ``key``, None when absent; it must be one of ``kinds``."""
        value = self._data.get(key)
        wrong = isinstance(value, bool) and bool not in kinds
        if value is not None and (wrong or not isinstance(value, kinds)):
            self.fail(f"'{key}' must be {' or '.join(kind.__name__ for kind in kinds)}")
        return value

    def need(self, key: str, kind: type[Any]) -> Any:
        """Return the value of ``key``, which must be there."""
        value = self.get(key, kind)
        if value is None:
            self.fail(f"'{key}' is missing")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """Return a string or a list of strings as a tuple."""
        value = self.get(key, str, list)
        if value is None:
            return ()
        items = [value] if isinstance(value, str) else cast("Sequence[object]", value)
        return tuple(str(item) for item in items)

    def child(self, key: str) -> "_Reader | None":
        """Return a reader of the mapping under ``key``."""
        value = self.get(key, dict)
        return None if value is None else _Reader(self._script, f"{self._place}, {key}", value)

    def children(self, key: str) -> list["_Reader"]:
        """Return readers of the mappings in the list under ``key``."""
        items = cast("list[object]", self.get(key, list) or [])
        return [
            _Reader(self._script, f"{self._place}, {key} {number}", item)
            for number, item in enumerate(items, 1)
        ]

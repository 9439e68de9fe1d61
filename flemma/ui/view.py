"""The difference between what is drawn and what should be, message by message.

Messages that did not change are the same objects in the new document, so an edit costs a comparison
of identities and the drawing of one message, however long the chat is (case V-09). What a message
shows also depends on a few things outside of it: whether it is the last one, and the state of the
tool calls it mentions. Messages concerned by a change of those are drawn again as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count, islice
from operator import is_not

from flemma.chat.document import Document
from flemma.chat.headers import ASSISTANT
from flemma.chat.message import Message
from flemma.chat.turns import turns
from flemma.ui.folds import frontmatter_fold, inner_rows, message_folds
from flemma.ui.indicators import touched_ids
from flemma.ui.marks import message_marks
from flemma.ui.payloads import View, ViewMessage
from flemma.ui.scene import Scene
from flemma.ui.spans import background
from flemma.ui.state import PreviewOf, RunState, ViewOptions

FRONTMATTER_KEY = 1
"""The settings block is drawn under a key of its own; messages have higher ones."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    scene: Scene | None
    keys: tuple[int, ...]
    next_key: int
    turns: tuple[tuple[int, int, bool], ...]
    """Indices of the first and last message, and whether the turn is complete."""
    missing: tuple[int, ...] = ()
    """Keys of messages that were not drawn yet, from the top."""


_NOTHING = _Drawn(None, (), FRONTMATTER_KEY + 1, ())

PORTION = 150
"""Messages drawn at once when a chat is opened; more would hold the editor for a moment."""


class ViewDiff:
    """Remembers what one buffer shows.

    :meth:`difference` computes a view; only when the editor has drawn it, :meth:`accept` makes it
    the one to compare with. :meth:`reset` forgets everything, for a buffer that was read again.
    """

    def __init__(
        self, bufnr: int, preview_of: PreviewOf, options: ViewOptions | None = None
    ) -> None:
        self._bufnr = bufnr
        self._preview_of = preview_of
        self._options = options or ViewOptions()
        self._drawn = _NOTHING
        self._pending = _NOTHING

    @property
    def is_unfinished(self) -> bool:
        """Whether older messages of a long chat still wait to be drawn by further views."""
        return bool(self._drawn.missing)

    def reset(self, options: ViewOptions | None = None) -> None:
        """Forget what is drawn; the next view starts with an empty screen."""
        self._options = options or self._options
        self._drawn = _NOTHING

    def accept(self) -> None:
        """The view computed last was drawn."""
        self._drawn = self._pending

    def difference(self, document: Document, run: RunState, tick: int) -> View | None:
        """Return what to draw for ``document``, or None when nothing changed.

        ``tick`` is the buffer's changedtick that the document belongs to.
        """
        scene = Scene(document, run, self._options, self._preview_of)
        before = self._drawn
        if before.scene is None:
            return self._everything(scene, tick)
        change = _Change.between(before.scene.document, document)
        keys, fresh, removed = _assign_keys(before, change)
        next_key = before.next_key + fresh
        missing, due = _portion(before.missing, keys, removed)
        redrawn = sorted({*change.new, *_concerned(before.scene, scene, change), *due})
        view: View = {
            "bufnr": self._bufnr,
            "tick": tick,
            "remove": removed,
            "set": [_view_message(scene, index, keys[index]) for index in redrawn],
        }
        self._frontmatter(before.scene.document, scene, view)
        new_turns = before.turns
        finished = bool(before.missing) and not missing
        if finished or change.alters_turns(before.scene.document, document):
            new_turns = _turns(document, len(missing))
        if new_turns is not before.turns or keys != before.keys:
            found = _turn_keys(new_turns, keys)
            if found != _turn_keys(before.turns, before.keys):
                view["turns"] = found
        self._pending = replace(
            before, scene=scene, keys=keys, next_key=next_key, turns=new_turns, missing=missing
        )
        if view["set"] or view["remove"] or "turns" in view:
            return view
        self._drawn = self._pending
        return None

    def _everything(self, scene: Scene, tick: int) -> View:
        total = len(scene.document.messages)
        first = _NOTHING.next_key
        keys = tuple(range(first, first + total))
        shown = range(max(0, total - PORTION), total)
        # What is drawn needs no turns above it; finding those means to parse the whole chat.
        found = _turns(scene.document, shown.start)
        self._pending = _Drawn(scene, keys, first + total, found, keys[: shown.start])
        view: View = {
            "bufnr": self._bufnr,
            "tick": tick,
            "reset": True,
            "remove": [],
            "set": [_view_message(scene, index, keys[index]) for index in shown],
            "turns": _turn_keys(found, keys),
        }
        self._frontmatter(None, scene, view)
        return view

    def _frontmatter(self, before: Document | None, scene: Scene, view: View) -> None:
        new = scene.document.frontmatter
        old = before.frontmatter if before is not None else None
        if new is old or new == old:
            return
        if new is None:
            view["remove"].append(FRONTMATTER_KEY)
            return
        last = new.line_count - 1
        view["set"].append(
            {
                "key": FRONTMATTER_KEY,
                "start": 0,
                "length": new.line_count,
                "role": "frontmatter",
                "marks": [background(0, last, "FlemmaLineFrontmatter")],
                "folds": [frontmatter_fold(new, scene.options.close_frontmatter)],
            }
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """Messages ``old`` of the old document became messages ``new`` of the new one."""

    old: range
    new: range

    @classmethod
    def between(cls, before: Document, after: Document) -> "_Change":
        head, tail = _common_ends(before.messages, after.messages)
        return cls(
            range(head, len(before.messages) - tail), range(head, len(after.messages) - tail)
        )

    def alters_turns(self, before: Document, after: Document) -> bool:
        """Whether roles or the presence of tool uses changed."""
        return len(self.old) != len(self.new) or any(
            _turn_part(before.messages[old]) != _turn_part(after.messages[new])
            for old, new in zip(self.old, self.new, strict=True)
        )


def _common_ends(old: Sequence[Message], new: Sequence[Message]) -> tuple[int, int]:
    """Return how many messages at the start and at the end are the same objects."""
    shorter = min(len(old), len(new))
    head = _equal_start(old, new, shorter)
    tail = _equal_start(reversed(old), reversed(new), shorter - head)
    return head, tail


def _equal_start(old: Iterable[Message], new: Iterable[Message], limit: int) -> int:
    # A loop in C that ends at the first difference: this runs over all messages with every key.
    return next(compress(count(), map(is_not, islice(old, limit), new)), limit)


def _assign_keys(before: _Drawn, change: _Change) -> tuple[tuple[int, ...], int, list[int]]:
    """Return the keys of the new messages, how many are new, and those that are gone.

    A message that was edited keeps its key, so that nothing else has to be told of it.
    """
    head, tail = before.keys[: change.old.start], before.keys[change.old.stop :]
    middle = before.keys[change.old.start : change.old.stop]
    kept = middle[: len(change.new)]
    fresh = len(change.new) - len(kept)
    added = tuple(range(before.next_key, before.next_key + fresh))
    return (*head, *kept, *added, *tail), fresh, list(middle[len(kept) :])


def _portion(
    missing: tuple[int, ...], keys: tuple[int, ...], removed: list[int]
) -> tuple[tuple[int, ...], list[int]]:
    """Return what stays missing, and the indices of the messages whose turn it is now."""
    if not missing:
        return (), []
    left = [key for key in missing if key not in removed]
    due = set(left[-PORTION:])
    return tuple(left[:-PORTION]), [index for index, key in enumerate(keys) if key in due]


def _concerned(before: Scene, after: Scene, change: _Change) -> Iterator[int]:
    """Yield unchanged messages that look different all the same."""
    shift = len(change.new) - len(change.old)
    last_before = len(before.document.messages) - 1
    if last_before in change.old or not before.document.messages:
        moved = None
    else:
        moved = last_before + (shift if last_before >= change.old.stop else 0)
    if moved is not None and not after.is_last(moved):
        yield moved
    if after.document.messages and moved != len(after.document.messages) - 1:
        yield len(after.document.messages) - 1
    touched = touched_ids(before.run, after.run) | _changed_calls(before, after, change)
    if touched:
        for index, message in enumerate(after.document.messages):
            if not touched.isdisjoint(_mentioned(message)):
                yield index


def _changed_calls(before: Scene, after: Scene, change: _Change) -> frozenset[str]:
    """Return the ids of calls that the changed messages now tell something else about."""
    old = {fact for index in change.old for fact in _call_facts(before.message(index))}
    new = {fact for index in change.new for fact in _call_facts(after.message(index))}
    return frozenset(fact[0] for fact in old ^ new)


def _call_facts(message: Message) -> Iterator[tuple[str, str, object]]:
    for _, use in message.tools.uses:
        yield use.id, "use", use.name
    for _, result in message.tools.results:
        yield result.tool_use_id, "result", (result.status, bool(result.content), result.job_id)
    for _, job in message.tools.jobs:
        yield job.job_id, "job", None


def _mentioned(message: Message) -> Iterator[str]:
    for _, use in message.tools.uses:
        yield use.id
    for _, result in message.tools.results:
        yield result.tool_use_id
        if result.job_id is not None:
            yield result.job_id
    for _, job in message.tools.jobs:
        yield job.job_id


def _turn_part(message: Message) -> tuple[str, bool]:
    return message.role, message.role == ASSISTANT and bool(message.tools.uses)


def _turns(document: Document, start: int) -> tuple[tuple[int, int, bool], ...]:
    return tuple((turn.first, turn.last, turn.complete) for turn in turns(document, start))


def _turn_keys(found: tuple[tuple[int, int, bool], ...], keys: tuple[int, ...]) -> list[list[int]]:
    return [[keys[first], keys[last], int(complete)] for first, last, complete in found]


def _view_message(scene: Scene, index: int, key: int) -> ViewMessage:
    message = scene.message(index)
    drawn: ViewMessage = {
        "key": key,
        "start": scene.document.start_of(index),
        "length": message.line_count,
        "role": message.role,
        "marks": message_marks(scene, index),
        "folds": message_folds(scene, index),
    }
    inner = inner_rows(message, message.segments)
    if inner is not None:
        drawn["inner"] = inner
    return drawn

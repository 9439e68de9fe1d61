"""What is drawn, as plain data: the payloads of `view` and `bar` (:mod:`flemma.host.protocol`)."""

from typing import NotRequired, TypedDict


class Mark(TypedDict):
    """Something drawn at a line. ``row`` counts from the first line of its message.

    ``kind``:

    - `line` background of rows ``row`` to ``end_row`` in ``group``
    - `text` highlight of columns ``column`` to ``end_column`` (bytes; -1 is the line end)
    - `ruler` a role marker as a ruler: the name from ``column`` to ``end_column`` in ``group``
    - `status` indicator at the end of a header: ``text``, ``group``; ``spinner`` animates it;
      ``expires`` takes it away after so many seconds or with the user's next edit
    - `preview` a virtual line below ``row``: ``name``, ``detail``, ``label``, ``block`` (lines of
      the multi-line form), ``language``; Lua fits it to the window width
    """

    kind: str
    row: int
    end_row: NotRequired[int]
    column: NotRequired[int]
    end_column: NotRequired[int]
    group: NotRequired[str]
    text: NotRequired[str]
    spinner: NotRequired[bool]
    started: NotRequired[float]
    expires: NotRequired[float]
    name: NotRequired[str]
    detail: NotRequired[str]
    label: NotRequired[str]
    block: NotRequired[list[str]]
    language: NotRequired[str]


class Fold(TypedDict):
    """A fold of a message. Rows count from its first line, ``end_row`` is inclusive.

    The fold text is ``head``, then as many ``entries`` as fit the window, then ``tail`` and the
    number of lines; each is a list of ``[text, highlight group]``.
    """

    id: str
    row: int
    end_row: int
    level: int
    close: bool
    """Close it when it appears or first becomes closable; what the user opens stays open."""
    head: list[list[str]]
    entries: list[list[list[str]]]
    tail: list[list[str]]


class ViewMessage(TypedDict):
    """All that is drawn of one message, in place of what was drawn under its ``key`` before.

    The frontmatter is drawn as a message of role `frontmatter`.
    """

    key: int
    start: int
    """Absolute 0-based line of the message at changedtick ``tick`` of the view."""
    length: int
    """Lines of the message, trailing blank ones included."""
    role: str
    inner: NotRequired[list[int]]
    """First and last row of the content without thinking blocks and blank lines around."""
    marks: list[Mark]
    folds: list[Fold]


class View(TypedDict):
    """Difference to the view drawn before; refused by Lua when ``tick`` is not the buffer's."""

    bufnr: int
    tick: int
    reset: NotRequired[bool]
    """Forget all that is drawn first."""
    remove: list[int]
    set: list[ViewMessage]
    turns: NotRequired[list[list[int]]]
    """All turns, when they changed: keys of the first and last message, and 1 if complete."""


class Bar(TypedDict):
    """A one-line float at an edge of the windows of a buffer (spec: behaviour 12.8)."""

    bufnr: int
    name: str
    position: str
    group: NotRequired[str]
    icon: NotRequired[str]
    timeout: NotRequired[int]
    """Milliseconds until it goes away; 0 or absent keeps it."""
    segments: NotRequired[list["BarSegment"]]


class BarItem(TypedDict):
    """One item of a bar; those of low priority are left out first when space is short."""

    text: str
    priority: int
    group: NotRequired[str]
    spinner: NotRequired[bool]
    """Whether an animated sign stands before the text."""
    deadline: NotRequired[float]
    """Unix seconds: the time left until then stands behind the text."""


class BarSegment(TypedDict):
    """Items between two separators."""

    label: NotRequired[str]
    items: list[BarItem]

"""The wire between Lua and the host: method names and payloads, declared once.

Both directions are notifications over the channel that started the host, except where said.

Lua to Python, ``vim.rpcnotify(channel, "flemma", method, payload)``:

=====================  ===========================================================================
`start`                handshake, first message: :class:`Start`
`setup`                options changed after start: ``{options}``
`buffer:opened`        a chat buffer was loaded (or reloaded): :class:`BufferOpened`
`buffer:entered`       ``{bufnr}``
`buffer:closed`        the buffer is being wiped or unloaded: ``{bufnr}``
`insert:entered`       ``{bufnr}``
`insert:left`          ``{bufnr}``
`text:changed`         text changed in normal mode, debounced: ``{bufnr}``
`command`              a `:Flemma` command or a key: :class:`Command`
`rejection`            the popup was submitted: ``{bufnr, tool_use_id, message}``
`choice`               answer of a picker: ``{id, index}`` (0-based, null when cancelled)
`register`             something was registered in Lua: :class:`Register`
`unregister`           ``{kind, name}``
`reply`                answer to `call`: ``{id, ok, value}`` (value is the error text when not ok)
`source:tool`          an async tool source registers a tool: ``{source, name, definition}``
`source:done`          an async tool source is complete: ``{source, error?}``
`lsp`                  a language-server request: ``{id, method, bufnr, line, column}``
`resized`              ``{bufnr, width}`` columns of the text area
=====================  ===========================================================================

Lua to Python, blocking requests ``vim.rpcrequest(channel, method, payload)``, for these only:

=====================  ===========================================================================
`flemma:ping`          health check: returns ``{version, python, pid}``
`flemma:complete`      completion fall-back: ``{line, position}`` returns a list of strings
`flemma:context`       a running Lua tool uses its context: ``{tool_call, function, arguments}``
                       returns ``{ok, value}``; safe because the host waits for that tool
`flemma:shutdown`      end all process groups; returns at once
=====================  ===========================================================================

Python to Lua, ``require("flemma.rpc").handle(method, payload)``; those marked * return a value:

=====================  ===========================================================================
`ready`                handshake answer: :class:`Ready`
`apply` *              :class:`Apply` returns ``{ok, tick}``; not ok: the tick differed
`lock`                 ``{bufnr, locked}``
`cursor`               ``{bufnr, line, force}``
`view`                 :class:`View`
`progress`             ``{bufnr, phase, characters, tool?, message?}``, phase null ends it
`notify`               ``{message, level, once}``
`event`                ``{name, data}``: fires the `User` autocommand and the hooks
`save` *               ``{bufnr}`` writes the buffer without prompts, returns ``{ok, error?}``
`popup:reject`         ``{bufnr, tool_use_id, line, end_line, text}``
`choose`               ``{id, prompt, items}``: a picker
`show`                 a scratch buffer: ``{name, filetype, lines, marks, position}``
`commands`             the command tree for completion: ``{commands}``
`call`                 call a Lua function: :class:`Call`; answered by `reply`
`buffer:read` *        ``{path}`` returns a loaded buffer's text or nil
`buffer:replace` *     ``{path, first, last, lines}`` one undo step
`buffer:save` *        ``{path}``
`buffer:reload` *      ``{path}``
`lsp`                  ``{id, result}`` or ``{id, error}``
`diagnostics`          ``{bufnr, items: [{line, column, severity, message}]}`` shown as vim.diagnostic
`config`               merged values Lua needs (keymaps, highlights, editing): ``{options}``
=====================  ===========================================================================

A Lua function inside a payload is sent as ``{"__flemma_function": n}``; Lua keeps function ``n``.
"""

from typing import Any, NotRequired, TypedDict

VERSION = 1
"""Version of this wire; both ends refuse another one."""


class Start(TypedDict):
    """First message of Lua."""

    version: int
    plugin_version: str
    pid: int
    options: dict[str, Any]
    cwd: str
    columns: int
    log_path: str
    state_path: str
    cache_path: str


class Ready(TypedDict):
    """Answer to `start`."""

    version: int
    plugin_version: str
    channel: int
    pid: int


class BufferOpened(TypedDict):
    """A chat buffer was loaded."""

    bufnr: int
    path: str
    width: int
    """Columns of the text area of its window (80 when hidden)."""


class Command(TypedDict):
    """A `:Flemma` command, or a key bound to one. ``line`` is the cursor, 0-based."""

    bufnr: int
    name: str
    arguments: str
    line: int
    column: int
    insert: bool
    """Whether it was pressed in insert mode."""


class Register(TypedDict):
    """Something registered from Lua. ``kind`` is `tool`, `tool_source`, `resolver`, `sandbox`,
    `frontmatter`, `backup`. Functions in ``definition`` are function references."""

    kind: str
    name: str
    definition: dict[str, Any]


class Call(TypedDict):
    """Call Lua function ``function``; ``cancel`` calls what the earlier call ``id`` returned.

    ``mode`` is `plain` (the value is the reply), `tool` (arguments are input and context; the
    reply is the result, sync or by callback).
    """

    id: int
    function: int
    mode: str
    arguments: list[Any]
    cancel: NotRequired[bool]


class Apply(TypedDict):
    """Edits for a buffer, computed at changedtick ``tick``. Applied bottom up.

    Each edit is ``["replace", first, last, lines]`` or ``["append", line, text]`` (0-based).
    ``undo_group`` equal to the one before, with no change in between, joins the undo block.
    """

    bufnr: int
    tick: int
    edits: list[list[Any]]
    undo_group: str | None


class Mark(TypedDict):
    """Something drawn at a line. ``row`` counts from the first line of its message.

    ``kind``:

    - `line` background of rows ``row`` to ``end_row`` in ``group``
    - `text` highlight of columns ``column`` to ``end_column`` (bytes; -1 is the line end)
    - `status` indicator at the end of a header: ``text``, ``group``; ``spinner`` animates it
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
    name: NotRequired[str]
    detail: NotRequired[str]
    label: NotRequired[str]
    block: NotRequired[list[str]]
    language: NotRequired[str]


class ViewMessage(TypedDict):
    """All marks of one message. ``key`` is stable while the message does not change."""

    key: int
    start: int
    """Absolute 0-based line of the message at changedtick ``tick`` of the view."""
    marks: list[Mark]


class View(TypedDict):
    """Difference to the view drawn before; dropped by Lua when ``tick`` is not the buffer's."""

    bufnr: int
    tick: int
    remove: list[int]
    set: list[ViewMessage]
    folds: NotRequired[list[list[int]]]

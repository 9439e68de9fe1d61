"""The wire between Lua and the host: method names and payloads, declared once.

Both directions are notifications over the channel that started the host, except where said.

Lua to Python, ``vim.rpcnotify(channel, "flemma", method, payload)``:

=====================  ===========================================================================
`start`                handshake, first message: :class:`Start`
`setup`                options changed after start: ``{options, lua_modules}``
`buffer:opened`        a chat buffer was loaded (or reloaded): :class:`BufferOpened`
`buffer:entered`       ``{bufnr}``
`buffer:closed`        the buffer is being wiped or unloaded: ``{bufnr}``
`insert:entered`       ``{bufnr}``
`insert:left`          ``{bufnr}``
`text:changed`         text changed in normal mode, debounced: ``{bufnr}``
`command`              a `:Flemma` command or a key: :class:`Command`
`rejection`            the popup was submitted: ``{bufnr, tool_use_id, message}``
`shutdown`             the editor quits: end all process groups, then the process; ``{}``
`choice`               answer of a picker: ``{id, index}`` (0-based, null when cancelled)
`register`             something was registered in Lua: :class:`Register`
`unregister`           ``{kind, name}``
`reply`                answer to `call`: ``{id, ok, value}`` (value is the error text when not ok);
                       ``interrupted`` when the user pressed Ctrl-C while the function waited
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
`flemma:shutdown`      end all process groups; returns at once (Lua sends `shutdown` instead, which
                       cannot delay `:qa`)
=====================  ===========================================================================

Python to Lua, ``require("flemma.rpc").handle(method, payload)``; those marked * return a value:

=====================  ===========================================================================
`ready`                handshake answer: :class:`Ready`
`attach` *             ``{channel}``: a host that Lua did not start (manifest) offers itself;
                       returns ``{ok, error?}``, and `start` follows over that channel when ok
`apply` *              :class:`Apply` returns ``{ok, tick, busy?, gone?, error?}``. Not ok: the tick
                       differed (``tick`` is the present one); ``busy``: the editor holds a text
                       lock, try the same again in a moment; ``gone``: there is no such buffer
`lock`                 ``{bufnr, locked}``
`cursor`               ``{bufnr, line, force}``; line -1 is the last line when the move happens
`view` *               :class:`View` returns ``{ok}``; not ok: nothing was drawn, the tick was not
                       the buffer's; the next difference is again to the view drawn last
`progress`             ``{bufnr, phase, characters, tool?, message?, timeout?}``, null ends it;
                       phases are `waiting`, `thinking`, `streaming`, `buffering`; ``message``
                       replaces the words of the phase; ``timeout`` in seconds
`bar`                  :class:`Bar`; without ``segments`` the bar of that name goes away
`notify`               ``{message, level, once}``
`event`                ``{name, data}``: fires the `User` autocommand and the hooks
`save` *               ``{bufnr}`` writes the buffer without prompts, returns ``{ok, error?}``
`ex`                   ``{bufnr, command}`` runs an Ex command the user gave to `:Flemma send`
`insert`               ``{bufnr, resume}``: a send from insert mode is over; type on, or not
`popup:reject`         ``{bufnr, tool_use_id, line, end_line, text}``
`choose`               ``{id, prompt, items}``: a picker
`show` *               a scratch buffer: ``{name, filetype, lines, marks, position}``; a mark is
                       ``[line, column, end_column, group]``, position the 0-based line to jump to;
                       with ``update`` only a page on the screen is renewed; returns ``{shown}``
`commands`             the commands for completion: ``{commands: [CommandCompletion]}``
`call`                 call a Lua function: :class:`Call`; answered by `reply`
`buffer:read` *        ``{path}`` returns a loaded buffer's text or nil
`buffer:replace` *     ``{path, revision, first, last, lines, final_newline}`` one undo step;
                       returns ``{ok, changed?, busy?, error?}``; ``changed``: another revision
`buffer:save` *        ``{path}``
`buffer:reload` *      ``{path}``
`open`                 ``{path}``: shows a file in a split
`lsp`                  ``{id, result}`` or ``{id, error}``
`diagnostics`          ``{bufnr, items: [{line, column, severity, message}]}`` (vim.diagnostic)
`config`               merged values Lua needs (keymaps, highlights, editing): ``{options}``
=====================  ===========================================================================

A Lua function inside a payload is sent as ``{"__flemma_function": n}``; Lua keeps function ``n``.
"""

from typing import Any, NotRequired, TypedDict

from flemma.ui.payloads import Bar, BarItem, BarSegment, Fold, Mark, View, ViewMessage

__all__ = [
    "VERSION",
    "Apply",
    "Bar",
    "BarItem",
    "BarSegment",
    "BufferOpened",
    "Call",
    "Command",
    "CommandCompletion",
    "Fold",
    "Mark",
    "Ready",
    "Register",
    "Start",
    "View",
    "ViewMessage",
]

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
    lua_modules: list[str]
    """Names in ``tools.modules`` that are Lua modules; Lua registers what they hold."""


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
    restarted: bool
    """Whether an earlier host had it open and broke off: tools that ran then are aborted."""
    broken_off: bool
    """Whether a request of that host was under way."""
    empty: bool
    """Whether there was no text yet; what the user typed since is his first message."""


class Command(TypedDict):
    """A `:Flemma` command, or a key bound to one. ``line`` is the cursor, 0-based."""

    bufnr: int
    name: str
    arguments: str
    line: int
    column: int
    insert: bool
    """Whether it was pressed in insert mode."""
    key: bool
    """Whether a key was pressed. `send` by key does the next step, by command it sends at once;
    `tool:reject` by key asks for the reason in a popup."""
    tick: int
    """The buffer's changedtick then: what appeared later was not meant (case A-14)."""


class CommandCompletion(TypedDict):
    """Completion of one `:Flemma` command: candidates for each argument position."""

    name: str
    arguments: list[list[str]]
    dynamic: NotRequired[bool]
    """Ask `flemma:complete` for the arguments."""


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

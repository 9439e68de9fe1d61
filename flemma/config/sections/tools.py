# ruff: noqa: FBT003 - the first argument of `option` is the default
"""`tools.*`: which tools there are, what they may do without asking, and how they run."""

from collections.abc import Mapping
from typing import Literal

from flemma.config.options import (
    PolicyFunction,
    Tables,
    declared,
    discovered,
    option,
    section,
    table,
)

BUFFER_PATH = "urn:flemma:buffer:path"
"""The directory of the chat file."""

EXCLUDED = (".git", "node_modules", "__pycache__", ".venv", "target", "dist", "build", "vendor")

UNNAMED_STORE = (
    "${TMPDIR:-/tmp}/flemma/unnamed/{{ flemma.pid }}/{{ bufnr }}/"
    "{{ source }}_{{ name }}_{{ id }}.txt"
)


@declared
class Autopilot:
    """`tools.autopilot`."""

    enabled: bool = option(True, "Run approved tools and send their results without a key press.")
    max_turns: int = option(100, "Requests in a row before autopilot stops and asks.", minimum=1)
    resume_delay: int = option(
        2000, "Milliseconds to wait before an idle chat goes on after a job ended.", minimum=0
    )


@declared
class StorePreview:
    """`tools.store.preview`."""

    lines: int = option(10, "Lines shown of a redirected output; 0 shows none.", minimum=0)
    bytes: int = option(2048, "Bytes shown of a redirected output.", minimum=0)


@declared
class Store:
    """`tools.store`: files that hold whole outputs."""

    path_format: str = option(
        "$chat",
        "Where outputs go: `$chat` (beside the file), `$state` (state directory) or a template.",
        example='"{{ __dirname }}/out/{{ name }}_{{ id }}.txt"',
    )
    unnamed_path_format: str = option(
        UNNAMED_STORE, "Where outputs of buffers without a file go; a template."
    )
    materialize: bool = option(False, "Write every result to the store, not only long ones.")
    preview: StorePreview = section(StorePreview(), "What a redirected output shows in the chat.")
    backup: str | Literal[False] = option(
        "version",
        "Before overwriting: `version` renames the old file, false overwrites it, anything else "
        "is a module with a `backup(path)` function.",
    )


@declared
class Bash:
    """`tools.bash`."""

    shell: str | None = option(
        None, "Shell to run; nil is bash from the PATH.", example='"/bin/zsh"'
    )
    cwd: str = option(BUFFER_PATH, "Working directory of commands.")
    env: Mapping[str, str] = table(
        "Extra environment variables of commands.", example='{ CI = "1" }'
    )
    allow: tuple[str, ...] = option(
        (),
        "Commands that need no approval, as patterns with `*`. A line is approved only when every "
        "command in it is, also behind pipes, `&&`, substitutions and wrappers; one that is listed "
        "word for word is approved as a whole.",
        example='{ "git status", "git log *", "make test" }',
    )
    ask: tuple[str, ...] = option(
        (), "Commands that always need approval; wins over `allow`.", example='{ "git push *" }'
    )
    deny: tuple[str, ...] = option(
        (), "Commands that never run; wins over `ask` and `allow`.", example='{ "rm -rf *" }'
    )


@declared
class Search:
    """`tools.grep` and `tools.find`."""

    cwd: str = option(BUFFER_PATH, "Directory that relative paths start from.")
    exclude: tuple[str, ...] = option(EXCLUDED, "Names that are never searched.")


@declared
class Listing:
    """`tools.ls`."""

    cwd: str = option(BUFFER_PATH, "Directory that relative paths start from.")


@declared
class Tools:
    """`tools`."""

    names: tuple[str, ...] | None = option(
        None,
        "Tools offered to the model, by name or glob; assigned to `tools` itself.",
        own_list=True,
        default_note="all enabled tools",
        example='{ "bash", "read", "slack.*" }',
    )
    require_approval: bool = option(
        True, "false approves every call that no other rule denies or holds back."
    )
    auto_approve: tuple[str, ...] | PolicyFunction | None = option(
        ("$standard",),
        "Calls that need no approval: names, globs, `$presets`, or a function of "
        '`(tool_name, input, context)` that returns true, false, "deny" or nil.',
        example='{ "$standard", "bash" }',
    )
    auto_approve_sandboxed: bool = option(True, "Approve commands that run inside the sandbox.")
    autopilot: Autopilot = section(Autopilot(), "Going on without a key press.")
    max_concurrent: int = option(2, "Tools that run at once in one chat; 0 is no limit.", minimum=0)
    default_timeout: float = option(
        30, "Seconds a tool, or the loading of tool definitions, may take.", minimum=1
    )
    show_spinner: bool = option(True, "Animate the header of a running tool.")
    cursor_after_result: Literal["result", "stay", "next"] = option(
        "result", "Where the cursor goes after a result: onto it, nowhere, or to the next prompt."
    )
    modules: tuple[str, ...] = option(
        (),
        "Modules with further tools: Lua module names, Python module names, or `.py` files.",
        example='{ "my_plugin.tools" }',
    )
    store: Store = section(Store(), "Files that hold whole outputs.")
    bash: Bash = section(Bash(), "The bash tool.")
    grep: Search = section(Search(), "The grep tool.")
    find: Search = section(Search(), "The find tool.")
    ls: Listing = section(Listing(), "The ls tool.")
    registered: Tables = discovered("`tools.<tool>` of tools that are registered.")

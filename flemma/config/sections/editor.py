# ruff: noqa: FBT003 - the first argument of `option` is the default
"""`editing`, `keymaps`, `turns`, `ruler`: how a chat buffer behaves under the hands."""

from typing import Literal, TypeAlias

from flemma.config.options import declared, option, section

Key: TypeAlias = str | Literal[False]


@declared
class AutoClose:
    """`editing.auto_close`."""

    thinking: bool = option(True, "Fold thinking once the answer is complete.")
    tool_use: bool = option(True, "Fold a tool call once its result is there.")
    tool_result: bool = option(True, "Fold a result once it is there.")
    frontmatter: bool = option(False, "Fold the settings block when a file is opened.")


@declared
class Editing:
    """`editing`."""

    auto_prompt: bool = option(True, "Put `@You:` into an empty chat.")
    disable_textwidth: bool = option(True, "Do not break lines while typing.")
    auto_write: bool = option(False, "Save the file after each response and result.")
    manage_updatetime: bool = option(True, "Use an `updatetime` of 100 ms in chats.")
    manage_viewoptions: bool = option(True, "Keep folds of chats out of saved views.")
    foldlevel: int = option(1, "Fold level of a chat when it is opened.", minimum=0, maximum=99)
    conceal: str | Literal[False] = option(
        "2nv",
        "Conceal level and the modes it holds in on the cursor line; false leaves it alone.",
        pattern=r"^[0-3][nvic]*$",
    )
    compact_headers: bool = option(True, "No blank line between a tool header and its block.")
    auto_close: AutoClose = section(AutoClose(), "What folds by itself.")


@declared
class NormalKeys:
    """`keymaps.normal`."""

    send: Key = option("<C-]>", "Do the next step: decide, run, or send.")
    cancel: Key = option("<C-c>", "Stop the request or the running tools.")
    tool_execute: Key = option("<M-CR>", "Run or settle the tool under the cursor.")
    tool_approve: Key = option("<M-a>", "Approve the tool under the cursor.")
    tool_approve_all: Key = option("<M-A>", "Approve all pending tools.")
    tool_reject: Key = option("<M-r>", "Reject the tool under the cursor, with a reason.")
    tool_background: Key = option("<M-b>", "Move the running tool to the background.")
    message_next: Key = option("]m", "Go to the next message.")
    message_prev: Key = option("[m", "Go to the previous message.")
    fold_toggle: Key = option("<Space>", "Open or close the message; skipped if it is a leader.")
    fold_turn: Key = option("zy", "Fold the middle of the current turn.")
    fold_turns: Key = option("zY", "Fold the middle of all turns.")
    conceal_toggle: Key = option("yoe", "Toggle concealing.")
    conceal_enable: Key = option("]oe", "Turn concealing on.")
    conceal_disable: Key = option("[oe", "Turn concealing off.")


@declared
class InsertKeys:
    """`keymaps.insert`."""

    send: Key = option("<C-]>", "Do the next step without leaving insert mode first.")


@declared
class Keymaps:
    """`keymaps`; false turns a single key off."""

    enabled: bool = option(True, "Map keys in chat buffers.")
    normal: NormalKeys = section(NormalKeys(), "Keys of normal mode.")
    insert: InsertKeys = section(InsertKeys(), "Keys of insert mode.")
    text_object: Key = option("m", "Letter of the message text object (`im`, `am`).")


@declared
class Ruler:
    """`ruler`."""

    enabled: bool = option(True, "Draw a line across the window at each message.")
    char: str = option("─", "Character the line is made of.")


@declared
class Padding:
    """`turns.padding`; a number n is n columns on the left, a pair is left and right."""

    left: int = option(0, "Columns left of the turn line.", minimum=0, maximum=8)
    right: int = option(1, "Columns right of the turn line.", minimum=0, maximum=8)


@declared
class Turns:
    """`turns`."""

    enabled: bool = option(True, "Draw a line beside the messages of one turn.")
    padding: Padding = section(Padding(), "Space around the line.")
    hl: str = option("FlemmaTurn", "Highlight group of the line.")

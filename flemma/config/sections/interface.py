# ruff: noqa: FBT003 - the first argument of `option` is the default
"""`ui`, `highlights`, `line_highlights`: what is drawn."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from flemma.config.options import PolicyFunction, declared, option, section

Position = Literal["top", "bottom", "top left", "top right", "bottom left", "bottom right"]

STATUSLINE = (
    "{{ model.name }}"
    "{% if thinking.enabled %} ({{ thinking.level }}){% endif %}"
    "{% if session.requests %} ╱ Σ{{ session.requests }} {{ format.money(session.cost) }}"
    "{% endif %}"
    "{% if buffer.tokens.input and model.max_input_tokens %} ╱ "
    "{{ format.percent(buffer.tokens.input / model.max_input_tokens) }}{% endif %}"
    "{% if booting %} ⧖{% endif %}"
)

Highlight: TypeAlias = str | Mapping[str, Any] | Literal[False]
"""A group name (link), a `#RRGGBB` colour, a table of attributes, or false to leave it alone."""


@declared
class Usage:
    """`ui.usage`: the bar with tokens and cost after a response."""

    enabled: bool = option(True, "Show tokens and cost after a response.")
    timeout: int = option(10000, "Milliseconds until the bar goes; 0 keeps it.", minimum=0)
    position: Position = option("top", "Edge or corner of the window.")
    highlight: str = option("@text.note,PmenuSel", "Group, or groups tried in order.")


@declared
class Progress:
    """`ui.progress`: the bar while a response arrives out of sight."""

    position: Position = option("bottom left", "Edge or corner of the window.")
    highlight: str = option("StatusLine", "Group, or groups tried in order.")


@declared
class Pricing:
    """`ui.pricing`."""

    enabled: bool = option(True, "Show what requests cost.")
    high_cost_threshold: float = option(
        30, "Warn on switching to a model whose input and output price sum is above.", minimum=0
    )


@declared
class Statusline:
    """`ui.statusline`."""

    format: str | PolicyFunction = option(
        STATUSLINE, "Template, or a function, of the status line component."
    )


@declared
class ApprovalDisplay:
    """`ui.approval`."""

    syntax_highlighting: bool = option(True, "Colour the previews of pending tools.")


@declared
class Rejection:
    """`ui.rejection`: the popup that asks for a reason."""

    enabled: bool = option(True, "Ask for a reason when a tool is rejected by key.")
    winblend: int | None = option(None, "Transparency of the popup.", minimum=0, maximum=100)


@declared
class JobsDisplay:
    """`ui.jobs`."""

    position: Position | None = option(
        None, "Edge or corner of the bar of background jobs; nil shows none."
    )


@declared
class Ui:
    """`ui`."""

    usage: Usage = section(Usage(), "Tokens and cost after a response.")
    progress: Progress = section(Progress(), "Progress of a response out of sight.")
    pricing: Pricing = section(Pricing(), "Costs.")
    statusline: Statusline = section(Statusline(), "Status line component.")
    approval: ApprovalDisplay = section(ApprovalDisplay(), "Pending tools.")
    rejection: Rejection = section(Rejection(), "The rejection popup.")
    jobs: JobsDisplay = section(JobsDisplay(), "Background jobs.")


@declared
class Highlights:
    """`highlights`: group `Flemma` + the key in camel case (`tool_name` is `FlemmaToolName`)."""

    system: Highlight = option("Special", "Text of system messages.")
    user: Highlight = option("Normal", "Text of your messages.")
    assistant: Highlight = option("Normal", "Text of the model's messages.")
    role_system: Highlight = option("Special", "`@System:`")
    role_user: Highlight = option("Title", "`@You:`")
    role_assistant: Highlight = option("Function", "`@Assistant:`")
    role_name: Highlight = option({"bold": True}, "Laid over the role's name.")
    ruler: Highlight = option("Comment", "Line across the window.")
    turn: Highlight = option("Comment", "Line beside a turn.")
    lua_expression: Highlight = option("PreProc", "`{{ expression }}`")
    lua_code_block: Highlight = option("PreProc", "`{% statement %}`")
    lua_delimiter: Highlight = option("Delimiter", "Delimiters of both.")
    user_file_reference: Highlight = option("Include", "`@./file`")
    thinking_tag: Highlight = option("Comment", "`<thinking>` tags.")
    thinking_block: Highlight = option("Comment", "Thinking text.")
    thinking_fold_preview: Highlight = option("Comment", "Folded thinking.")
    fold_preview: Highlight = option("Comment", "Text of a fold.")
    fold_meta: Highlight = option("NonText", "Line count of a fold.")
    tool_icon: Highlight = option("Function", "Icon of a tool header.")
    tool_name: Highlight = option("Function", "Name of a tool.")
    tool_use_title: Highlight = option("Function", "`**Tool Use:**`")
    tool_result_title: Highlight = option("Function", "`**Tool Result:**`")
    tool_result_error: Highlight = option("DiagnosticError", "`(error)`")
    tool_result_pending: Highlight = option("DiagnosticWarn", "`(pending)`")
    tool_result_approved: Highlight = option("DiagnosticOk", "`(approved)`")
    tool_result_rejected: Highlight = option("DiagnosticError", "`(rejected)`")
    tool_result_denied: Highlight = option("DiagnosticError", "`(denied)`")
    tool_result_aborted: Highlight = option("DiagnosticWarn", "`(aborted)`")
    tool_preview: Highlight = option("Comment", "Preview of a pending tool.")
    tool_label: Highlight = option({"italic": True}, "Intent, laid over `tool_preview`.")
    tool_detail: Highlight = option("Comment", "Detail in folded previews.")
    tool_pending: Highlight = option("DiagnosticWarn", "Mark of a pending tool.")
    tool_executing: Highlight = option("DiagnosticInfo", "Mark of a running tool.")
    tool_success: Highlight = option("DiagnosticOk", "Mark of a finished tool.")
    tool_error: Highlight = option("DiagnosticError", "Mark of a failed tool.")
    assistant_spinner: Highlight = option("DiagnosticInfo", "Spinner of a response.")
    busy: Highlight = option("DiagnosticWarn", "Busy icon of the buffer tab.")
    usage_bar: Highlight = option("PmenuSel", "Usage bar.")
    usage_bar_secondary: Highlight = option("Pmenu", "Session part of the usage bar.")
    usage_bar_muted: Highlight = option("Comment", "Separators of the usage bar.")
    usage_bar_cache_good: Highlight = option("DiagnosticOk", "Cache share above one half.")
    usage_bar_cache_bad: Highlight = option("DiagnosticWarn", "Cache share below one half.")
    progress_bar: Highlight = option("StatusLine", "Progress bar.")
    progress_bar_accent: Highlight = option("DiagnosticWarn", "Progress near the time limit.")
    status_text_muted: Highlight = option("Comment", "Secondary text of the status page.")


@declared
class LineHighlights:
    """`line_highlights`: background of whole messages."""

    enabled: bool = option(True, "Tint the lines of messages.")
    frontmatter: Highlight = option({"tint": "Special", "amount": 0.06}, "Settings block.")
    system: Highlight = option({"tint": "Special", "amount": 0.06}, "System messages.")
    user: Highlight = option({"tint": "Normal", "amount": 0.04}, "Your messages.")
    assistant: Highlight = option(False, "The model's messages.")

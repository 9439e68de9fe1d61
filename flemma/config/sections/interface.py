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


GROUPS = {
    "expression": "FlemmaLuaExpression",
    "code_block": "FlemmaLuaCodeBlock",
    "delimiter": "FlemmaLuaDelimiter",
    "file_reference": "FlemmaUserFileReference",
}
"""Groups that are not called like their option."""


def group_of(key: str) -> str:
    """Return the highlight group that `highlights.<key>` sets (`tool_name`: `FlemmaToolName`)."""
    return GROUPS.get(key) or "Flemma" + "".join(word.capitalize() for word in key.split("_"))


@declared
class Highlights:
    """`highlights`: a group to link to, a `#RRGGBB` colour, attributes, or false to keep off."""

    system: Highlight = option("Special", "Text of system messages.")
    user: Highlight = option("Normal", "Text of your messages.")
    assistant: Highlight = option("Normal", "Text of the model's messages.")
    role_system: Highlight = option("Special", "`@System:`")
    role_user: Highlight = option("Function", "`@You:`")
    role_assistant: Highlight = option("Identifier", "`@Assistant:`")
    role_name: Highlight = option({"bold": True}, "Laid over the role's own group.")
    ruler: Highlight = option("WinSeparator", "Line across the window.")
    turn: Highlight = option("WinSeparator", "Line beside a turn.")
    expression: Highlight = option("PreProc", "`{{ expression }}`")
    code_block: Highlight = option("PreProc", "`{% statement %}`")
    delimiter: Highlight = option("Delimiter", "Delimiters of both.")
    file_reference: Highlight = option("Include", "`@./file`")
    thinking_tag: Highlight = option("Comment", "`<thinking>` tags.")
    thinking_block: Highlight | None = option(
        None, "Background of thinking.", default_note="a light tint"
    )
    thinking_fold_preview: Highlight = option("Comment", "Folded thinking.")
    tool_icon: Highlight = option("Function", "Icon of a tool header.")
    tool_name: Highlight = option("Function", "Name of a tool.")
    tool_use_title: Highlight = option("Function", "`**Tool Use:**`")
    tool_result_title: Highlight = option("Function", "`**Tool Result:**`")
    tool_result_error: Highlight = option("DiagnosticError", "`(error)`")
    tool_result_pending: Highlight = option("DiagnosticInfo", "`(pending)`")
    tool_result_approved: Highlight = option("DiagnosticOk", "`(approved)`")
    tool_result_rejected: Highlight = option("DiagnosticWarn", "`(rejected)`")
    tool_result_denied: Highlight = option("DiagnosticError", "`(denied)`")
    tool_result_aborted: Highlight = option("DiagnosticError", "`(aborted)`")
    tool_preview: Highlight = option("Comment", "Preview of a pending tool.")
    tool_label: Highlight = option({"italic": True}, "Intent, laid over `tool_preview`.")
    tool_detail: Highlight = option("Comment", "Detail in folded previews.")
    tool_pending: Highlight = option("DiagnosticInfo", "Mark of a pending tool.")
    tool_executing: Highlight = option("DiagnosticInfo", "Mark of a running tool.")
    tool_success: Highlight = option("DiagnosticOk", "Mark of a finished tool.")
    tool_error: Highlight = option("DiagnosticError", "Mark of a failed tool.")
    tool_icon_pending: Highlight = option("DiagnosticInfo", "Icon of a pending tool.")
    tool_icon_executing: Highlight = option("DiagnosticInfo", "Icon of a running tool.")
    tool_icon_success: Highlight = option("DiagnosticOk", "Icon of a finished tool.")
    tool_icon_error: Highlight = option("DiagnosticError", "Icon of a failed tool.")
    fold_preview: Highlight = option("Comment", "Text of a fold.")
    fold_meta: Highlight = option("Comment", "Line count of a fold.")
    assistant_spinner: Highlight = option("DiagnosticInfo", "Spinner of a response.")
    usage_bar: Highlight = option("PmenuSel", "Usage bar.")
    usage_bar_secondary: Highlight = option("PmenuSel", "Session part of the usage bar.")
    usage_bar_muted: Highlight = option("Comment", "Separators of the usage bar.")
    usage_bar_cache_good: Highlight = option("DiagnosticOk", "Cache share above one half.")
    usage_bar_cache_bad: Highlight = option("DiagnosticWarn", "Cache share below one half.")
    progress_bar: Highlight = option("StatusLine", "Progress bar.")
    progress_bar_accent: Highlight = option("DiagnosticInfo", "Spinner of the progress bar.")
    progress_bar_warning: Highlight = option("DiagnosticWarn", "Progress near the time limit.")
    progress_bar_error: Highlight = option("DiagnosticError", "Progress close to the time limit.")
    rejection_input: Highlight = option("NormalFloat", "Text of the rejection popup.")
    rejection_border: Highlight = option("DiagnosticWarn", "Border of the rejection popup.")
    busy: Highlight = option("DiagnosticInfo", "Busy icon of the buffer tab.")
    status_title: Highlight = option("Title", "Title of the status page.")
    status_section: Highlight = option("Statement", "Section of the status page.")
    status_key: Highlight = option("Identifier", "Name on the status page.")
    status_value: Highlight = option("String", "Value on the status page.")
    status_source: Highlight = option("Comment", "Layer letter on the status page.")
    status_good: Highlight = option("DiagnosticOk", "Approved, available.")
    status_bad: Highlight = option("DiagnosticError", "Denied, failed.")
    status_text_muted: Highlight = option("Comment", "Secondary text of the status page.")


@declared
class LineHighlights:
    """`line_highlights`: background of whole messages."""

    enabled: bool = option(True, "Tint the lines of messages.")
    frontmatter: Highlight | None = option(None, "Settings block.", default_note="a light tint")
    system: Highlight | None = option(None, "System messages.", default_note="a light tint")
    user: Highlight | None = option(None, "Your messages.", default_note="a light tint")
    assistant: Highlight | None = option(None, "The model's messages.", default_note="a light tint")

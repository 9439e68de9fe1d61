"""The root of all options: :class:`Config`, frozen, with every default (spec: behaviour 9.9)."""

from collections.abc import Mapping

from flemma.config.options import declared, option, section, table
from flemma.config.sections.editor import Editing, Keymaps, Ruler, Turns
from flemma.config.sections.environment import (
    Diagnostics,
    Integrations,
    Logging,
    Lsp,
    PresetValue,
    Providers,
    Sandbox,
    Secrets,
    Templating,
)
from flemma.config.sections.interface import Highlights, LineHighlights, Ui
from flemma.config.sections.parameters import Parameters
from flemma.config.sections.tools import Tools


@declared
class Config:
    """All options of one buffer: what the layers resolve to. ``Config()`` is the defaults."""

    provider: str = option(
        "anthropic",
        "Whose model to talk to: `anthropic`, or the scripted `demo`.",
        example='"demo"',
    )
    model: str | None = option(
        None,
        "Which model; a `$preset` sets provider, model and parameters at once.",
        default_note="the provider's default",
    )
    parameters: Parameters = section(Parameters(), "What is sent along with a request.")
    providers: Providers = section(Providers(), "Further providers.")
    presets: Mapping[str, PresetValue] = table(
        "Named choices of provider, model, parameters, tools and approval.",
        example='{ ["$fast"] = "anthropic claude-haiku-4-5 thinking=low" }',
    )
    tools: Tools = section(Tools(), "Tools of the model.")
    sandbox: Sandbox = section(Sandbox(), "Confinement of commands.")
    templating: Templating = section(Templating(), "Templates in messages.")
    editing: Editing = section(Editing(), "Behaviour of chat buffers.")
    keymaps: Keymaps = section(Keymaps(), "Keys of chat buffers.")
    ui: Ui = section(Ui(), "Bars, popups and the status line.")
    highlights: Highlights = section(Highlights(), "Colours.")
    line_highlights: LineHighlights = section(LineHighlights(), "Background of messages.")
    ruler: Ruler = section(Ruler(), "Line across the window at each message.")
    turns: Turns = section(Turns(), "Line beside the messages of a turn.")
    lsp: Lsp = section(Lsp(), "Language server of chats.")
    logging: Logging = section(Logging(), "Log file.")
    diagnostics: Diagnostics = section(Diagnostics(), "Checks of what is sent.")
    integrations: Integrations = section(Integrations(), "Other plugins.")
    secrets: Secrets = section(Secrets(), "Where keys are looked for.")
    python: str | None = option(
        None,
        "Python interpreter of the host.",
        example='"~/.venvs/flemma/bin/python"',
        default_note="the plugin's own `.venv`, else a private one in the data directory, else "
        "`g:python3_host_prog`",
    )

"""The status page: a chat's settings, and which layer says so (spec: behaviour 12.10). Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from flemma.app.sandboxes import SandboxStatus
from flemma.app.settings import BufferSettings
from flemma.app.turn import TurnState
from flemma.approval.decision import Decision, Outlook, Verdict
from flemma.config.layers import Layer, dump_layer
from flemma.config.resolve import letters
from flemma.models.catalogue import Model
from flemma.models.formats import format_number
from flemma.ports.editor import Page
from flemma.providers.protocol import Parameters
from flemma.schema import to_json_schema
from flemma.tools.definition import ToolDefinition

NAME = "flemma://status"
FILETYPE = "flemma-status"

_LAYERS = {"D": "Ⓓ", "S": "Ⓢ", "R": "Ⓡ", "F": "Ⓕ"}
_SANDBOX = "⊡"
_LEGEND = "Ⓓ default  Ⓢ setup  Ⓡ runtime  Ⓕ frontmatter  ⊡ sandbox"
_VERDICTS = {
    Verdict.APPROVE: "✓ auto-approve",
    Verdict.DENY: "✗ deny",
    Verdict.REQUIRE_APPROVAL: "⋯ require approval",
}
_ASKED = "ƒ asked with the call"
_SOURCE_COLUMN = 36
"""Where the layers stand: on the screen also in half of a terminal of 80 columns."""
_TEXT_WIDTH = 84


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Everything the page tells."""

    settings: BufferSettings
    provider: str
    model: str
    parameters: Parameters | None
    parameters_error: str | None
    known: Model | None
    """What is known about the model."""
    state: TurnState | None
    """None outside a chat."""
    sandbox: SandboxStatus
    tools: Sequence[ToolDefinition]
    """Tools offered to the model."""
    disabled: Sequence[str]
    outlooks: Sequence[tuple[str, Outlook]]
    """What is known about calls of each offered tool before one is made."""
    loading: bool
    verbose: bool


@dataclass(slots=True)
class _Writer:
    lines: list[str] = field(default_factory=list[str])
    marks: list[tuple[int, int, int, str]] = field(default_factory=list[tuple[int, int, int, str]])
    sections: dict[str, int] = field(default_factory=dict[str, int])

    def section(self, title: str) -> None:
        if self.lines:
            self.lines.append("")
        self.sections[title.lower()] = len(self.lines)
        self._add(title, "FlemmaStatusSection")

    def entry(self, name: str, value: object, source: str = "", group: str = "") -> None:
        text = f"  {name}: {_shown(value)}"
        if source:
            text = f"{text:<{_SOURCE_COLUMN}} {source}"
        self._add(text, group)

    def item(self, text: str, source: str = "", group: str = "") -> None:
        line = f"  {text}"
        self._add(f"{line:<{_SOURCE_COLUMN}} {source}" if source else line, group)

    def title(self, text: str) -> None:
        self._add(text, "FlemmaStatusTitle")

    def _add(self, text: str, group: str) -> None:
        if group:
            self.marks.append((len(self.lines), 0, len(text.encode()), group))
        self.lines.append(text.rstrip())


def status_page(facts: StatusFacts, section: str | None = None) -> Page:
    """Return the page; the cursor goes to ``section`` if it is named."""
    writer = _Writer()
    writer.title("Flemma Status")
    writer.item(_LEGEND, group="FlemmaStatusTextMuted")
    for part in (_problems, _provider, _parameters, _autopilot, _sandbox, _tools, _approval):
        part(writer, facts)
    if facts.verbose:
        _verbose(writer, facts)
    position = writer.sections.get(section) if section else None
    return Page(NAME, FILETYPE, tuple(writer.lines), tuple(writer.marks), position)


def _source(facts: StatusFacts) -> Callable[..., str]:
    def source(*path: str) -> str:
        found = letters(facts.settings.resolved.origin(path))
        return "".join(_LAYERS[letter] for letter in found)

    return source


def _problems(writer: _Writer, facts: StatusFacts) -> None:
    if not facts.settings.diagnostics:
        return
    writer.section("Problems")
    for problem in facts.settings.diagnostics:
        icon = "⊘" if problem.severity == "error" else "⚠"
        writer.item(f"{icon} line {problem.line + 1}: {problem.message}", group="DiagnosticWarn")


def _provider(writer: _Writer, facts: StatusFacts) -> None:
    source = _source(facts)
    writer.section("Provider")
    writer.entry("name", facts.provider, source("provider"))
    writer.entry("model", facts.model, source("model"))


def _parameters(writer: _Writer, facts: StatusFacts) -> None:
    source = _source(facts)
    writer.section("Parameters")
    if facts.parameters is None:
        writer.item(f"⚠ {facts.parameters_error}", group="DiagnosticWarn")
        return
    general = facts.settings.config.parameters
    sent = facts.parameters
    writer.entry(
        "max_tokens",
        f"{general.max_tokens} → {sent.max_tokens}"
        if general.max_tokens != sent.max_tokens
        else sent.max_tokens,
        source("parameters", "max_tokens"),
    )
    writer.entry(
        "thinking",
        "off" if sent.thinking is None else sent.thinking,
        source("parameters", "thinking", "level"),
    )
    writer.entry("temperature", sent.temperature, source("parameters", "temperature"))
    writer.entry("cache_retention", sent.cache_retention, source("parameters", "cache_retention"))
    writer.entry("timeout", f"{sent.timeout:g}s", source("parameters", "timeout"))
    for key, value in sorted(sent.specific.items()):
        writer.entry(f"{facts.provider}.{key}", value, source("parameters", facts.provider, key))


def _autopilot(writer: _Writer, facts: StatusFacts) -> None:
    source = _source(facts)
    options = facts.settings.config.tools.autopilot
    writer.section("Autopilot")
    writer.entry(
        "status",
        "enabled" if options.enabled else "disabled",
        source("tools", "autopilot", "enabled"),
    )
    if facts.state is not None:
        phase = facts.state.phase
        writer.entry("state", facts.state.loop if phase == "idle" else phase)
        writer.entry("turns", f"{facts.state.turns} of {options.max_turns}")


def _sandbox(writer: _Writer, facts: StatusFacts) -> None:
    source = _source(facts)
    status = facts.sandbox
    writer.section("Sandbox")
    active = status.resolution.active
    enabled = (
        "active" if active else "on, but not available" if status.resolution.enabled else "off"
    )
    writer.entry("status", enabled, source("sandbox", "enabled"))
    if status.resolution.enabled and not active:
        writer.item(f"⚠ {status.resolution.reason}", group="DiagnosticWarn")
    writer.entry("setting", "enabled" if facts.settings.config.sandbox.enabled else "disabled")
    if status.override is not None:
        writer.entry("runtime override", "enabled" if status.override else "disabled", "Ⓡ")
    writer.entry("backend", status.configured, source("sandbox", "backend"))
    for name, priority, reason in status.backends:
        writer.item(f"  {name} ({priority}): {reason or 'available'}")
    policy = status.policy
    writer.entry("network", "allowed" if policy.network else "blocked")
    writer.entry("privileged", "allowed" if policy.allow_privileged else "dropped")
    writer.entry("rw_paths", "", source("sandbox", "policy", "rw_paths"))
    for path in policy.rw_paths:
        writer.item(f"  {path}")


def _tools(writer: _Writer, facts: StatusFacts) -> None:
    source = _source(facts)
    writer.section("Tools")
    if facts.loading:
        writer.item("⧖ loading async tool sources…")
    else:
        writer.item("✔ finished loading tool sources", group="FlemmaStatusTextMuted")
    writer.item(f"{len(facts.tools)} enabled, {len(facts.disabled)} disabled", source("tools"))
    writer.entry(
        "max_concurrent",
        facts.settings.config.tools.max_concurrent,
        source("tools", "max_concurrent"),
    )
    for tool in facts.tools:
        writer.item(f"● {tool.name}")
        if facts.verbose:
            _describe(writer, tool)
    for name in facts.disabled:
        writer.item(f"○ {name}", group="FlemmaStatusTextMuted")


def _approval(writer: _Writer, facts: StatusFacts) -> None:
    source = _source(facts)
    writer.section("Approval")
    if not facts.outlooks:
        writer.item("(no tools registered)")
        return
    tools = facts.settings.config.tools
    if not tools.require_approval:
        writer.item("all tools auto-approved (require_approval = false)")
    writer.entry("auto_approve", "", source("tools", "auto_approve"))
    for line in _policy_lines(facts):
        writer.item(f"  {line}")
    for name, outlook in facts.outlooks:
        decision = outlook.decision
        sandboxed = _SANDBOX if decision.resolver.endswith(":sandbox") else ""
        for asked in outlook.asked:
            writer.item(f"{_ASKED:<20} {name} — {asked}")
        lead = "  else " if outlook.asked else ""
        verdict = f"{lead}{_VERDICTS[decision.verdict]}"
        writer.item(f"{verdict:<20} {name} — {_why(decision)}", sandboxed)


def _policy_lines(facts: StatusFacts) -> list[str]:
    """Return the list in force: the entries, those of a preset behind its name."""
    value = facts.settings.config.tools.auto_approve
    if callable(value):
        return ["a function"]
    members: dict[str | None, list[str]] = {}
    for entry, preset in facts.settings.policy.entries():
        members.setdefault(preset, []).append(entry)
    lines = [f"{preset or 'by name'}: {', '.join(names)}" for preset, names in members.items()]
    return lines or ["nothing"]


def _why(decision: Decision) -> str:
    return decision.rule or decision.reason


def _describe(writer: _Writer, tool: ToolDefinition) -> None:
    muted = "FlemmaStatusTextMuted"
    for line in wrap(tool.description, _TEXT_WIDTH):
        writer.item(f"    {line}", group=muted)
    parameters: Mapping[str, Any] = to_json_schema(tool.input_schema).get("properties") or {}
    if parameters:
        writer.item(f"    parameters: {', '.join(sorted(parameters))}", group=muted)


def _model(writer: _Writer, model: Model) -> None:
    writer.section("Model Info")
    for name, tokens in (("context", model.context), ("max_output", model.max_output)):
        writer.entry(name, "unknown" if tokens is None else f"{format_number(tokens)} tokens")
    prices = model.prices
    writer.entry(
        "price",
        "unknown"
        if prices is None
        else f"${prices.input:g} input / ${prices.output:g} output per MTok",
    )
    writer.entry("thinking", ", ".join(model.thinking_forms) or "no")
    writer.entry("efforts", ", ".join(model.efforts) or "none")
    writer.entry("temperature", "accepted" if model.sampling else "not accepted")


def _verbose(writer: _Writer, facts: StatusFacts) -> None:
    if facts.known is not None:
        _model(writer, facts.known)
    writer.section("Layer Ops")
    for layer in Layer:
        for line in dump_layer(facts.settings.resolved.layers, layer):
            writer.item(f"{_LAYERS[layer.letter]} {line}")
    writer.section("Resolved Config")
    resolved = facts.settings.resolved
    for path in sorted(resolved.origins):
        writer.entry(".".join(path), resolved.value(path), _source(facts)(*path))


def _shown(value: Any) -> str:
    match value:
        case None:
            return "–"
        case True | False:
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(_shown(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return ", ".join(f"{key}={_shown(item)}" for key, item in value.items())  # pyright: ignore[reportUnknownVariableType]
        case _:
            return str(value)

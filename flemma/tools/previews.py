"""One-line summaries of tool calls: the text only, not how it is drawn.

``name: detail — label`` (spec: tools, "Tool previews"; behaviour 12.4). Tools with an own
`format_preview` decide on detail and label; the others get a YAML-style rendering of their input.
Colours, newline collapsing and the real window width belong to whoever draws; :func:`fit` serves
front ends without an editor and is the rule that drawing follows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from flemma.chat.nodes import JsonValue
from flemma.tools.definition import ToolDefinition, ToolInput, ToolPreview
from flemma.tools.display_width import ELLIPSIS, Measure, columns, shorten
from flemma.tools.harness import strip

SEPARATOR = " — "
NEWLINE = "↵"
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PLAIN_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True)
class PreviewText:
    """The preview of one call.

    ``block`` holds the lines of a mapping, for when ``inline`` does not fit; it is empty when the
    tool has its own format. ``highlight`` is the treesitter language of detail and block.
    ``problem`` says why the tool's own format could not be used, for the log.
    """

    name: str
    detail: str | None = None
    label: str | None = None
    block: tuple[str, ...] = ()
    highlight: str | None = None
    problem: str | None = None

    @property
    def inline(self) -> str:
        """The whole preview as one line."""
        return compose(self.name, self.detail, self.label)


def preview(definition: ToolDefinition | None, name: str, tool_input: ToolInput) -> PreviewText:
    """Summarise a call. Harness keys never show; an unknown tool gets the generic form."""
    values, _ = strip(tool_input)
    if definition is None or definition.format_preview is None:
        return _generic(name, values)
    try:
        own = definition.format_preview(values)
    except Exception as error:  # noqa: BLE001 - code of whoever wrote the tool; a preview must not fail
        problem = f"format_preview of tool '{name}' failed: {error!r}"
        return _generic(name, values, problem)
    return own_preview(name, own)


def own_preview(name: str, own: ToolPreview | str) -> PreviewText:
    """Return what a tool's own format gave; a string is the detail."""
    if isinstance(own, str):
        return PreviewText(name, detail=own or None)
    return PreviewText(name, _joined(own), own.label or None, highlight=own.highlight)


def compose(name: str, detail: str | None, label: str | None) -> str:
    """Return ``name: detail — label`` with what there is of it."""
    parts = SEPARATOR.join(part for part in (detail, label) if part)
    return f"{name}: {parts}" if parts else name


def fit(
    name: str, detail: str | None, label: str | None, width: int, measure: Measure | None = None
) -> str:
    """Return the preview in at most ``width`` columns, newlines collapsed.

    The detail is shortened first; the label only when no detail is left to shorten.
    """
    measure = measure or columns
    detail, label = _on_one_line(detail), _on_one_line(label)
    whole = compose(name, detail, label)
    if measure(whole) <= width:
        return whole
    if detail:
        around = measure(compose(name, "x", label)) - measure("x")
        # Below two columns nothing but the ellipsis would be left.
        if width - around > measure(ELLIPSIS):
            return compose(name, shorten(detail, width - around, measure), label)
        if label:
            return fit(name, None, label, width, measure)
    return shorten(whole, width, measure)


def _on_one_line(text: str | None) -> str | None:
    return re.sub(r"\r\n|\r|\n", NEWLINE, text) if text else None


def _joined(own: ToolPreview) -> str | None:
    if own.detail is None or isinstance(own.detail, str):
        return own.detail or None
    return "  ".join(part for part in own.detail if part) or None


def _generic(name: str, values: Mapping[str, JsonValue], problem: str | None = None) -> PreviewText:
    label = values.get("label")
    if not isinstance(label, str) or not label:
        label = None
    body = {key: value for key, value in values.items() if key != "label" or label is None}
    if not body:
        return PreviewText(name, label=label, problem=problem)
    pairs = ", ".join(f"{_key(key)}: {_json(value)}" for key, value in body.items())
    block = tuple(line for key, value in body.items() for line in _block_lines(key, value))
    return PreviewText(name, f"{{{pairs}}}", label, block, "yaml", problem)


def _block_lines(key: str, value: JsonValue) -> list[str]:
    """Text of several lines becomes a literal block scalar, which reads better than escapes."""
    if not isinstance(value, str) or not _fits_literal(value):
        return [f"{_key(key)}: {_json(value)}"]
    head = f"{_key(key)}: |" if value.endswith("\n") else f"{_key(key)}: |-"
    lines = value.removesuffix("\n").split("\n")
    return [head, *(f"  {line}" if line else "" for line in lines)]


def _fits_literal(value: str) -> bool:
    inner = value.removesuffix("\n")
    if "\n" not in inner or inner[0] in " \n" or inner.endswith("\n"):
        return False
    return all(character in "\n\t" or character.isprintable() for character in value)


def _key(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _PLAIN_WORDS:
        return key
    return json.dumps(key, ensure_ascii=False)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)

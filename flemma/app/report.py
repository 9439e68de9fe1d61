"""The notification about what is wrong with a chat before it is sent (spec: behaviour 2.5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from flemma.chat.document import Document
from flemma.chat.nodes import Diagnostic, Severity

SHOWN = 10
BLOCKED = "Request blocked — fix errors to send."
_ICONS = {Severity.ERROR: "⊘", Severity.WARNING: "⚠"}
_CUSTOM = "custom:"


@dataclass(frozen=True, slots=True)
class Report:
    """The text, and whether an error forbids to send."""

    text: str
    blocked: bool


def diagnostics_report(
    problems: Sequence[Diagnostic], document: Document, path: str | None
) -> Report | None:
    """Describe ``problems`` (errors first, absolute 0-based lines); None when there are none."""
    if not problems:
        return None
    blocked = any(problem.severity is Severity.ERROR for problem in problems)
    entries = ["\n".join(_entry(problem, document, path)) for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        entries.append(f"…and {len(problems) - SHOWN} more")
    if blocked:
        entries.append(BLOCKED)
    return Report("\n" + "\n\n".join(entries), blocked)


def _entry(problem: Diagnostic, document: Document, path: str | None) -> list[str]:
    lines = [f"{_ICONS[problem.severity]} {_heading(problem)}: {problem.message}"]
    place = _place(problem, document, path)
    if place:
        lines.append(f"  {place}")
    lines.extend(f"  ↓ {included}" for included in problem.stack)
    if problem.stack and problem.reference:
        lines.append(f"  → {problem.reference}")
    return lines


def _heading(problem: Diagnostic) -> str:
    if problem.type.startswith(_CUSTOM):
        return problem.type.removeprefix(_CUSTOM)
    if problem.type == "file" and problem.reference:
        return problem.reference
    return problem.type


def _place(problem: Diagnostic, document: Document, path: str | None) -> str:
    position = f":{problem.line + 1}"
    if problem.column is not None:
        position += f":{problem.column + 1}"
    parts = [f"{PurePosixPath(path).name if path else 'chat'}{position}"]
    found = document.message_at(problem.line)
    if found is not None:
        parts.append(f"in {found[1].marker.strip().rstrip(':')}")
    if problem.type == "expression" and problem.reference:
        parts.append(problem.reference)
    return " · ".join(parts)

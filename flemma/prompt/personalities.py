"""Personalities: system prompts that describe where the model works and with which tools.

A chat asks for one with ``include('urn:flemma:personality:NAME')`` (spec: behaviour 13.7).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

PROJECT_FILES = (
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
)
"""Files with instructions of a project, looked for in the chat's directory, else in the working
directory."""

NAMES = ("coding-assistant",)
"""The personalities there are; tools address them in their ``personalities``."""


@dataclass(frozen=True, slots=True)
class ToolNote:
    """What a tool says about itself to one personality."""

    name: str
    snippet: str | None = None
    guidelines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """Instructions of the project. ``path`` is shown as the heading."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a chat takes place.

    ``now`` is taken once per buffer and kept: a time that moves would end the prompt cache
    (case S-23).
    """

    now: datetime
    directory: str
    file: str | None = None
    filetype: str = "chat"
    branch: str | None = None
    project_files: tuple[ProjectFile, ...] = ()


def personalities(
    surroundings: Surroundings, tool_notes: Callable[[str], Sequence[ToolNote]]
) -> Mapping[str, Callable[[], str]]:
    """Return every personality by name, rendered when it is called.

    ``tool_notes`` gives the notes of the tools that the chat may use, for a personality.
    """
    return {name: partial(_render, name, surroundings, tool_notes) for name in NAMES}


def _render(
    name: str, surroundings: Surroundings, tool_notes: Callable[[str], Sequence[ToolNote]]
) -> str:
    tools = sorted(tool_notes(name), key=lambda tool: tool.name)
    guidelines = dict.fromkeys(line for tool in tools for line in tool.guidelines)
    text = _template(name).render(
        tools=tools,
        guidelines=list(guidelines),
        date=_date(surroundings.now),
        directory=surroundings.directory,
        file=surroundings.file,
        filetype=surroundings.filetype,
        branch=surroundings.branch,
        project_files=_distinct(surroundings.project_files),
    )
    return text.rstrip()


def _distinct(project_files: Sequence[ProjectFile]) -> list[ProjectFile]:
    """Keep the first of files with equal text: they are often links to one another."""
    by_text: dict[str, ProjectFile] = {}
    for known in project_files:
        text = known.text.strip()
        if text:
            by_text.setdefault(text, ProjectFile(known.path, text))
    return list(by_text.values())


def _date(now: datetime) -> str:
    return f"{now:%A, %B} {now.day}, {now:%Y %I:%M %p}"


@cache
def _template(name: str) -> "Template":
    from jinja2 import Environment, StrictUndefined

    # Markdown, not HTML: escaping would spoil the text.
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
    return environment.from_string(files("flemma.prompt").joinpath(f"{name}.md").read_text("utf-8"))

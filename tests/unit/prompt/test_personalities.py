"""The built-in personality."""

from collections.abc import Sequence
from datetime import UTC, datetime

from flemma.prompt.personalities import ProjectFile, Surroundings, ToolNote, personalities

NOW = datetime(2026, 1, 2, 15, 4, tzinfo=UTC)

READ = ToolNote("read", "Read files", ("Read before you edit.", "Shared."))
BASH = ToolNote("bash", "Run commands", ("Prefer other tools.", "Shared."))
BARE = ToolNote("mine.tool")


def rendered(surroundings: Surroundings, tools: Sequence[ToolNote] = ()) -> str:
    return personalities(surroundings, lambda name: tools)["coding-assistant"]()


def test_everything_that_is_known_is_told_in_order():
    surroundings = Surroundings(
        NOW,
        "/work/project",
        "notes/a.chat",
        branch="main",
        project_files=(
            ProjectFile("AGENTS.md", "Be kind & <brief>.\n{{ not_a_template }}\n"),
            ProjectFile("CLAUDE.md", "Be kind & <brief>.\n{{ not_a_template }}"),
            ProjectFile(".cursorrules", "  \n"),
            ProjectFile(".claude/CLAUDE.md", "Other"),
        ),
    )
    first, _, rest = rendered(surroundings, (READ, BARE, BASH)).partition("\n")
    assert first.startswith("You are a")
    assert (
        rest
        == """
## Available tools

- bash: Run commands
- mine.tool
- read: Read files

## Guidelines

- Prefer other tools.
- Shared.
- Read before you edit.

## Environment

- Current date: Friday, January 2, 2026 03:04 PM
- Working directory: /work/project
- Current file: notes/a.chat (chat)
- Git branch: main

## Project Context

### AGENTS.md

Be kind & <brief>.
{{ not_a_template }}

### .claude/CLAUDE.md

Other"""
    )


def test_what_is_not_known_has_no_section():
    text = rendered(Surroundings(NOW, "/w"))
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["## Environment"]
    assert "Current file" not in text
    assert "Git branch" not in text


def test_the_prompt_is_the_same_each_time_and_whatever_the_order_of_tools():
    """S-23."""
    surroundings = Surroundings(NOW, "/w")
    assert rendered(surroundings, (READ, BASH)) == rendered(surroundings, (BASH, READ))


def test_tools_are_asked_for_their_notes_on_this_personality():
    asked: list[str] = []

    def notes(name: str) -> Sequence[ToolNote]:
        asked.append(name)
        return ()

    known = personalities(Surroundings(NOW, "/w"), notes)
    assert asked == []
    known["coding-assistant"]()
    assert asked == ["coding-assistant"]

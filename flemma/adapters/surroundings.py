"""What personalities tell about where a chat takes place (spec: behaviour 13.7)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from flemma.conversation.references import Place
from flemma.ports.clock import Clock
from flemma.prompt.personalities import (
    PROJECT_FILES,
    ProjectFile,
    Surroundings,
    ToolNote,
    personalities,
)
from flemma.templating.files import Personalities
from flemma.tools.registry import ToolRegistry

LIMIT = 256 << 10
"""Bytes of a project file that are read."""


class PersonalitySource:
    """Looks around a chat when a personality is asked for."""

    def __init__(self, clock: Clock, tools: ToolRegistry) -> None:
        self._clock = clock
        self._tools = tools
        self._surroundings: dict[int, Surroundings] = {}

    def personalities(
        self, place: Place, buffer_id: int, tool_names: Sequence[str]
    ) -> Personalities:
        """Return the personalities of a chat. Date and time stay as they were the first time."""
        known = self._surroundings.get(buffer_id)
        now = known.now if known else self._clock.now()
        surroundings = Surroundings(
            now=now,
            directory=place.directory,
            file=None if place.filename is None else Path(place.filename).name,
            branch=_branch(Path(place.directory)),
            project_files=tuple(_project_files(Path(place.directory))),
        )
        self._surroundings[buffer_id] = surroundings
        return personalities(surroundings, lambda name: self._notes(name, tool_names))

    def _notes(self, personality: str, tool_names: Sequence[str]) -> list[ToolNote]:
        notes: list[ToolNote] = []
        for definition in self._tools.selected(tool_names):
            own: Mapping[str, object] = definition.personalities.get(personality) or {}
            guidelines = own.get("guidelines") or ()
            snippet = own.get("snippet")
            notes.append(
                ToolNote(
                    definition.name,
                    str(snippet) if snippet else None,
                    tuple(map(str, guidelines)) if isinstance(guidelines, list | tuple) else (),  # pyright: ignore[reportUnknownArgumentType]
                )
            )
        return notes


def _project_files(directory: Path) -> list[ProjectFile]:
    found: list[ProjectFile] = []
    seen: set[bytes] = set()
    for name in PROJECT_FILES:
        path = directory / name
        if not path.is_file() or path.stat().st_size > LIMIT:
            continue
        data = path.read_bytes()
        if data not in seen:
            seen.add(data)
            found.append(ProjectFile(name, data.decode("utf-8", "replace")))
    return found


def _branch(directory: Path) -> str | None:
    """Return the checked-out branch, read from `.git/HEAD`; no program is started for it."""
    for parent in (directory, *directory.parents):
        head = parent / ".git" / "HEAD"
        if head.is_file():
            text = head.read_text(encoding="utf-8", errors="replace").strip()
            return text.removeprefix("ref: refs/heads/") if text.startswith("ref:") else text[:12]
    return None

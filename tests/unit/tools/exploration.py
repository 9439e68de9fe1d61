"""What the tests of the exploration tools share: a small project, and a choice of programs."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from flemma.adapters.processes import SystemProcesses
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolDefinition, ToolInput, ToolResult


class Programs(SystemProcesses):
    """Real programs, of which only those listed can be found."""

    def __init__(self, found: Mapping[str, str]) -> None:
        super().__init__()
        self._found = found

    def which(self, program: str) -> str | None:
        """Return the path given for the program."""
        return self._found.get(program)


def installed(*names: str) -> dict[str, str]:
    """Return the paths of programs, or skip the test when one is missing."""
    found: dict[str, str] = {}
    for name in names:
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"{name} is not installed")
        found[name] = path
    return found


async def call(definition: ToolDefinition, context: ToolContext, tool_input: ToolInput) -> str:
    """Run a tool that must succeed, and return its output."""
    result = await outcome(definition, context, tool_input)
    assert result.success, result.error
    assert isinstance(result.output, str)
    return result.output


async def outcome(
    definition: ToolDefinition, context: ToolContext, tool_input: ToolInput
) -> ToolResult:
    """Run a tool."""
    result = definition.execute(tool_input, context)
    return result if isinstance(result, ToolResult) else await result


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files below ``root``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(root: Path, *arguments: str) -> None:
    """Run git in ``root``, apart from the settings of whoever runs the tests."""
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
    )

"""The programs that `find` can list files with.

Each lists all visible files below its working directory, NUL separated; names are matched here and
not by the program, so that a pattern means the same whichever program there is.
Preference: fd, git inside a work tree, find (spec: tools, "Backend detection").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from flemma.ports.processes import ProcessSpec
from flemma.tools.context import ToolContext

_PROBE_TIMEOUT = 10.0
_SIMPLE_NAME = re.compile(r"[\w.*?-]+")


class FindDialect(StrEnum):
    """How a program is called."""

    FD = "fd"
    GIT = "git"
    FIND = "find"


@dataclass(frozen=True, slots=True)
class FindBackend:
    """A program found on this machine."""

    program: str
    dialect: FindDialect

    @property
    def filters(self) -> bool:
        """Whether hidden, ignored and excluded files are left out by the program."""
        return self.dialect is FindDialect.FD

    def argv(self, excludes: Sequence[str]) -> list[str]:
        """Return the command that lists the files below the working directory."""
        match self.dialect:
            case FindDialect.FD:
                skipped = [part for name in excludes for part in ("--exclude", name)]
                return [self.program, "--type", "f", "--color", "never", "--print0", *skipped]
            case FindDialect.GIT:
                listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
                return [self.program, *listing, "--", "."]
            case FindDialect.FIND:
                pruned = ["-name", ".?*"]
                for name in excludes:
                    if _SIMPLE_NAME.fullmatch(name):
                        pruned += ["-o", "-name", name]
                return [self.program, ".", "(", *pruned, ")", "-prune", "-o", *_PRINT]


_PRINT = ("-type", "f", "-print0")


class FindBackends:
    """Looks for the programs once; whether git serves depends on the directory."""

    def __init__(self) -> None:
        self._found: tuple[FindBackend, ...] = ()

    async def choose(self, context: ToolContext, directory: str) -> FindBackend | None:
        """Return the best program for ``directory``, None when there is none at all."""
        self._found = self._found or await _detect(context)
        for backend in self._found:
            if backend.dialect is not FindDialect.GIT:
                return backend
            if await _git_lists(context, backend.program, directory):
                return backend
        return None


async def _detect(context: ToolContext) -> tuple[FindBackend, ...]:
    found: list[FindBackend] = []
    for name in ("fd", "fdfind"):
        program = context.processes.which(name)
        # Another program, a file manager, is called fd as well.
        if program and (await _answer(context, (program, "--version")))[1].startswith(b"fd"):
            found.append(FindBackend(program, FindDialect.FD))
            break
    for name, dialect in (("git", FindDialect.GIT), ("find", FindDialect.FIND)):
        if program := context.processes.which(name):
            found.append(FindBackend(program, dialect))
    return tuple(found)


async def _git_lists(context: ToolContext, git: str, directory: str) -> bool:
    """Whether git knows what is in ``directory``: it is in a work tree and not ignored itself."""
    inside = (git, "-C", directory, "rev-parse", "--is-inside-work-tree")
    ignored = (git, "-C", directory, "check-ignore", "--quiet", ".")
    if (await _answer(context, inside)) != (0, b"true\n"):
        return False
    return (await _answer(context, ignored))[0] != 0


async def _answer(context: ToolContext, argv: Sequence[str]) -> tuple[int | None, bytes]:
    output = bytearray()
    # Confined like the search itself: git obeys the settings of a work tree that may be anyone's.
    wrapped = await context.sandbox.wrap_command(argv)
    spec = ProcessSpec(wrapped, cwd=context.cwd, timeout=_PROBE_TIMEOUT, output_limit=1 << 16)
    outcome = await context.processes.run(spec, output.extend, _ignore_errors)
    return outcome.exit_code, bytes(output)


def _ignore_errors(_: bytes) -> None:
    """A probe tells by its exit code."""

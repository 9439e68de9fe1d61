"""The programs that `grep` can search with, and what each is told.

All are made to print ``path NUL line:text``, so that one reader serves them and odd file names
survive. Preference: ripgrep, GNU grep with Perl expressions, POSIX extended expressions
(spec: tools, "Backend detection").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from flemma.ports.processes import ProcessSpec
from flemma.tools.context import ToolContext

_PROBE_TIMEOUT = 10.0
_CLASSES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": "[:space:]"}


class GrepDialect(StrEnum):
    """How a program is called."""

    RIPGREP = "rg"
    PERL = "grep -P"
    EXTENDED = "grep -E"


@dataclass(frozen=True, slots=True)
class GrepBackend:
    """A program found on this machine. ``filters``: it honours globs and ignore files itself."""

    program: str
    dialect: GrepDialect

    @property
    def filters(self) -> bool:
        """Whether hidden, ignored and excluded files are left out by the program."""
        return self.dialect is GrepDialect.RIPGREP

    def argv(self, pattern: str, glob: str, excludes: Sequence[str], target: str) -> list[str]:
        """Return the command that searches ``target``, relative to the working directory."""
        if self.dialect is GrepDialect.RIPGREP:
            return self._ripgrep(pattern, glob, excludes, target)
        perl = self.dialect is GrepDialect.PERL
        # grep would skip even the directory it is asked to search.
        target_name = target.rpartition("/")[2]
        excludes = [name for name in excludes if not fnmatchcase(target_name, name)]
        return [
            *(self.program, "-rnHs", "--null", "--color=never", "--binary-files=without-match"),
            *("-P" if perl else "-E", "-e", pattern if perl else to_extended(pattern)),
            *(f"--exclude-dir={name}" for name in excludes),
            *(f"--exclude={name}" for name in excludes),
            *("--", target),
        ]

    def _ripgrep(self, pattern: str, glob: str, excludes: Sequence[str], target: str) -> list[str]:
        globs = [glob] if glob else []
        return [
            *(self.program, "--no-config", "--no-messages", "--no-heading", "--with-filename"),
            *("--line-number", "--null", "--color=never", "--engine=auto", "-e", pattern),
            *(f"--glob={one}" for one in (*globs, *(f"!{name}" for name in excludes))),
            *("--", target),
        ]


async def detect_grep(context: ToolContext) -> GrepBackend | None:
    """Find the best program there is."""
    if program := context.processes.which("rg"):
        return GrepBackend(program, GrepDialect.RIPGREP)
    program = context.processes.which("grep")
    if program is None:
        return None
    command = await context.sandbox.wrap_command((program, "-P", "", "/dev/null"))
    probe = ProcessSpec(command, cwd=context.cwd, timeout=_PROBE_TIMEOUT)
    outcome = await context.processes.run(probe, _ignore_output)
    perl = outcome.exit_code in (0, 1)
    return GrepBackend(program, GrepDialect.PERL if perl else GrepDialect.EXTENDED)


def to_extended(pattern: str) -> str:
    """Translate ``\\d \\w \\s``, and their negations, for `grep -E`; in brackets too."""
    parts: list[str] = []
    position, in_brackets = 0, False
    while position < len(pattern):
        character = pattern[position]
        following = pattern[position + 1 : position + 2]
        if character == "\\" and following:
            parts.append(_escape(following, in_brackets=in_brackets))
            position += 2
            continue
        if character == "[" and not in_brackets:
            opening = _bracket_opening(pattern, position)
            parts.append(opening)
            position += len(opening)
            in_brackets = True
            continue
        if character == "]":
            in_brackets = False
        parts.append(character)
        position += 1
    return "".join(parts)


def _escape(character: str, *, in_brackets: bool) -> str:
    members = _CLASSES.get(character.lower())
    if members is None:
        return f"\\{character}"
    if in_brackets and character.islower():
        return members
    return f"[{'^' if character.isupper() else ''}{members}]"


def _bracket_opening(pattern: str, position: int) -> str:
    """Return the bracket with what may follow it unescaped: ``[^]`` or ``[]``."""
    end = position + 1
    if pattern[end : end + 1] == "^":
        end += 1
    if pattern[end : end + 1] == "]":
        end += 1
    return pattern[position:end]


def _ignore_output(_: bytes) -> None:
    """A probe tells by its exit code."""

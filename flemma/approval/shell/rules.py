"""Judges a shell line by the patterns in `tools.bash.allow`, `.ask` and `.deny`.

Deny wins over ask, ask over allow (case A-07). A line is allowed only when every command in it is,
in its raw form and, behind a wrapper such as `timeout` or `sudo`, in its unwrapped form as well
(case A-03); it is denied as soon as one form of one command is. A line that `allow` holds word for
word is allowed as a whole: that grants this line, and no other one (cases A-05, A-06).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flemma.approval.decision import Verdict
from flemma.approval.resolvers import Opinion
from flemma.approval.shell.line import UNKNOWN, ShellCommand, ShellLine, read_line
from flemma.text.globs import matches

WRAPPERS = frozenset(
    {
        "builtin", "chroot", "command", "doas", "env", "exec", "find", "flock", "ionice", "nice",
        "nohup", "parallel", "setsid", "ssh", "stdbuf", "strace", "sudo", "time", "timeout",
        "watch", "xargs",
    }
)  # fmt: skip
"""Commands that run another one given among their arguments."""


@dataclass(frozen=True, slots=True)
class ShellRules:
    """The patterns: words separated by blanks, `*` for anything. ``git log *`` also means
    ``git log`` alone."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.allow or self.ask or self.deny)


def judge(rules: ShellRules, source: str) -> Opinion:
    """Return the opinion about a shell line; it passes when no pattern has anything to say."""
    line = read_line(source)
    for command in line.commands:
        pattern = _first(rules.deny, _forms(command))
        if pattern is not None:
            return Opinion(Verdict.DENY, f"`{command.text}` is denied", f"deny '{pattern}'")
    for command in line.commands:
        pattern = _first(rules.ask, _forms(command))
        if pattern is not None:
            reason = f"`{command.text}` needs your word"
            return Opinion(Verdict.REQUIRE_APPROVAL, reason, f"ask '{pattern}'")
    if source.strip() in {entry.strip() for entry in rules.allow}:
        return Opinion(Verdict.APPROVE, "this very line is allowed", f"allow '{source.strip()}'")
    unclear = line.unclear or _hidden_words(rules.deny, line)
    if unclear is not None and rules.deny:
        reason = f"the command cannot be judged from its text: {unclear}"
        return Opinion(Verdict.REQUIRE_APPROVAL, reason, "tools.bash.deny")
    return _allowed(rules, line)


def _hidden_words(patterns: Sequence[str], line: ShellLine) -> str | None:
    """Say when a program that patterns deny gets words that are only known at run time."""
    programs = {pattern.split()[0] for pattern in patterns if pattern.split()}
    for command in line.commands:
        for form in _forms(command):
            if UNKNOWN in form and form.split()[0] in programs:
                return f"some words of `{command.text}` are only known at run time"
    return None


def _allowed(rules: ShellRules, line: ShellLine) -> Opinion:
    if not rules.allow:
        return Opinion(None, "no pattern of tools.bash fits")
    if line.unclear is not None:
        return Opinion(None, f"tools.bash.allow does not cover it: {line.unclear}")
    used: list[str] = []
    for command in line.commands:
        pattern = _allowing(rules.allow, command)
        if pattern is None:
            return Opinion(None, f"`{command.text}` is not in tools.bash.allow")
        used.append(pattern)
    if not used:
        return Opinion(None, "there is no command in it")
    listed = ", ".join(f"'{pattern}'" for pattern in dict.fromkeys(used))
    return Opinion(Verdict.APPROVE, "every command in it is allowed", f"allow {listed}")


def _allowing(patterns: Sequence[str], command: ShellCommand) -> str | None:
    pattern = _first(patterns, (" ".join(command.words),))
    if pattern is None or not _wraps(command):
        return pattern
    inner = (" ".join(words) for words in _inner_words(command))
    return pattern if _first(patterns, inner) is not None else None


def _forms(command: ShellCommand) -> Iterator[str]:
    """Yield every form that a deny or ask pattern is compared with: as written, without quotes,
    without the directory of the program, and what a wrapper would run."""
    yield command.text
    for words in (command.words, *_inner_words(command)):
        yield " ".join(words)
        yield " ".join((words[0].rpartition("/")[2], *words[1:]))


def _inner_words(command: ShellCommand) -> Iterator[tuple[str, ...]]:
    if _wraps(command):
        for start in range(1, len(command.words)):
            yield command.words[start:]


def _wraps(command: ShellCommand) -> bool:
    return command.words[0].rpartition("/")[2] in WRAPPERS


def _first(patterns: Sequence[str], forms: Iterator[str] | Sequence[str]) -> str | None:
    candidates = tuple(forms)
    for pattern in patterns:
        if any(_fits(pattern, form) for form in candidates):
            return pattern
    return None


def _fits(pattern: str, form: str) -> bool:
    pattern = " ".join(pattern.split())
    if matches(pattern, form):
        return True
    return pattern.endswith(" *") and matches(pattern.removesuffix(" *"), form)

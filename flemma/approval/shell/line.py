"""Reads a shell line into the commands it would run (cases A-01 to A-03).

The grammar is tree-sitter's for bash, so that `&&`, pipes, loops, substitutions and here-documents
are seen as what they are. What cannot be told from the text alone is called unclear, with a reason.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

UNKNOWN = "\0"
"""Stands for text that is only known when the command runs: a variable, a substitution."""

_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_DEEPEST = 8
"""Levels of `bash -c "bash -c …"` that are followed."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command: its words without quotes, and its text as written, blanks collapsed."""

    words: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ShellLine:
    """All commands of a line, those inside substitutions included."""

    commands: tuple[ShellCommand, ...]
    unclear: str | None = None
    """Why the commands alone do not tell what the line does, None when they do."""


def read_line(source: str, depth: int = 0) -> ShellLine:
    """Read a line of shell. Never raises: what is no valid shell is unclear."""
    if depth > _DEEPEST:
        return ShellLine((), "it nests shells too deeply")
    data = source.encode("utf-8", "replace")
    root = _parser().parse(data).root_node
    reading = _Reading(depth)
    reading.visit(root)
    unclear = "it is not valid shell" if root.has_error else reading.unclear
    return ShellLine(tuple(reading.commands), unclear)


@cache
def _parser() -> "Parser":
    # Loaded with the first rule that is asked; most users have none.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class _Reading:
    """One walk over the tree."""

    def __init__(self, depth: int) -> None:
        self.commands: list[ShellCommand] = []
        self.unclear: str | None = None
        self._depth = depth

    def visit(self, node: "Node") -> None:
        match node.type:
            case "command":
                self._command(node)
            case "declaration_command" | "unset_command":
                self._take(_raw_words(node), node)
            case "variable_assignment" if node.parent is None or node.parent.type != "command":
                self._note(f"it sets {_text(node).partition('=')[0]}")
            case "function_definition":
                self._note("it defines a function")
            case "file_redirect":
                self._redirect(node)
            case _:
                pass
        for child in node.children:
            self.visit(child)

    def _command(self, node: "Node") -> None:
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        if assigned:
            self._note(f"it sets {_text(assigned[0]).partition('=')[0]} for a command")
        parts = [
            child
            for child in node.children
            if child.type not in ("variable_assignment", "file_redirect", "herestring_redirect")
        ]
        words = tuple(_word(child) for child in parts if child.is_named)
        self._take(words, node)
        self._nested(words)

    def _take(self, words: tuple[str, ...], node: "Node") -> None:
        if not words:
            return
        if UNKNOWN in words[0]:
            self._note("the program is only known at run time")
        self.commands.append(ShellCommand(words, " ".join(_text(node).split())))

    def _nested(self, words: tuple[str, ...]) -> None:
        """Follow `bash -c '…'` and `eval '…'` into their text."""
        for position, word in enumerate(words):
            name = word.rpartition("/")[2]
            rest = words[position + 1 :]
            if name == "eval":
                self._inner(" ".join(rest))
            elif name in _SHELLS and any(_is_c_option(option) for option in rest):
                index = next(i for i, option in enumerate(rest) if _is_c_option(option))
                self._inner(rest[index + 1] if index + 1 < len(rest) else UNKNOWN)
            elif name in ("source", ".") and position == 0:
                self._note("it runs a script")

    def _inner(self, source: str) -> None:
        if UNKNOWN in source:
            self._note("it runs text that is only known at run time")
            return
        inner = read_line(source, self._depth + 1)
        self.commands.extend(inner.commands)
        if inner.unclear is not None:
            self._note(inner.unclear)

    def _redirect(self, node: "Node") -> None:
        operator = next((child.type for child in node.children if child.type in _WRITING), None)
        target = node.child_by_field_name("destination")
        if operator is None or target is None or target.type == "number":
            return
        name = _word(target)
        if name not in _HARMLESS_TARGETS:
            self._note(f"it writes to {name.replace(UNKNOWN, '…')}")

    def _note(self, reason: str) -> None:
        self.unclear = self.unclear or reason


def _is_c_option(word: str) -> bool:
    return re.fullmatch(r"-[a-z]*c[a-z]*", word) is not None


def _raw_words(node: "Node") -> tuple[str, ...]:
    return tuple(_word(child) for child in node.children)


def _word(node: "Node") -> str:
    """Return a word as the program would get it; what is not known yet is :data:`UNKNOWN`."""
    return "".join(_pieces(node))


def _pieces(node: "Node") -> Iterator[str]:
    match node.type:
        case "word" | "number" | "extglob_pattern" | "regex" | "test_operator":
            if any(child.is_named for child in node.children):
                yield UNKNOWN
            else:
                yield _ESCAPE.sub(r"\1", _text(node))
        case "raw_string":
            yield _text(node)[1:-1]
        case "string" | "concatenation" | "command_name" | "string_content":
            yield from _joined(node)
        case "variable_assignment":
            yield _text(node)
        case _:
            yield UNKNOWN if node.is_named else _text(node)


def _joined(node: "Node") -> Iterator[str]:
    if node.type == "string_content":
        yield re.sub(r'\\(["\\$`])', r"\1", _text(node))
        return
    for child in node.children:
        if child.type != '"':
            yield from _pieces(child)


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")

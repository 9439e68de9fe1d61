"""What templates need from outside: files and personalities."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that could not be read; ``reason`` is the system's own text."""

    reason: str
    missing: bool = False


class TemplateFiles(Protocol):
    """The files that templates include.

    What a template includes is only known while it renders, so reading is synchronous; whoever
    provides this reads regular files only and at most a few megabytes, or answers from files read
    before.
    """

    def read(self, path: str) -> bytes | Unreadable:
        """Return the content of an absolute path."""
        ...


Personalities: TypeAlias = Mapping[str, Callable[[], str]]
"""What ``include('urn:flemma:personality:NAME')`` yields, by name."""

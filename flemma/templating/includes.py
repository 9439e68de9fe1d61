"""`include()`: files, attachments and personalities inside templates (spec: behaviour 10.4)."""

import hashlib
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, cast

from flemma.chat.inline import parse_inline
from flemma.chat.nodes import FileReference, Segment, Text
from flemma.conversation.references import resolve_path
from flemma.errors import TemplateError
from flemma.templating.attachments import Attachment, attachment, decoded, is_text, mime_type
from flemma.templating.files import Personalities, TemplateFiles, Unreadable
from flemma.templating.library import BINARY, MIME
from flemma.text.suggest import closest

PERSONALITY = "urn:flemma:personality:"


class IncludeError(TemplateError):
    """An include that failed; ``stack`` is the chain of files from the chat to the culprit."""

    def __init__(
        self, message: str, *, kind: str = "file", reference: str, stack: Sequence[str]
    ) -> None:
        super().__init__(message, kind=kind)
        self.reference = reference
        self.stack = tuple(stack)


class IncludedFiles:
    """Reads each file once per evaluation and remembers what it read."""

    def __init__(self, files: TemplateFiles, personalities: Personalities, home: str) -> None:
        self._files = files
        self._personalities = personalities
        self._home = home
        self._contents: dict[str, bytes] = {}
        self.used: dict[str, str] = {}
        """Absolute path to SHA-256 of every file that was read."""

    def resolve(self, path: str, directory: str) -> str:
        """Return the absolute path of a reference."""
        return resolve_path(path, directory, self._home)

    def read(self, path: str, reference: str, stack: Sequence[str]) -> bytes:
        """Return the content of an absolute path. Raises :class:`IncludeError`."""
        known = self._contents.get(path)
        if known is not None:
            return known
        match self._files.read(path):
            case Unreadable(missing=True):
                message = f"File not found: {path}"
            case Unreadable(reason=reason):
                message = f"Failed to open file: {reason}"
            case data:
                self.used[path] = hashlib.sha256(data).hexdigest()
                self._contents[path] = data
                return data
        raise IncludeError(message, reference=reference, stack=stack)

    def attach(
        self, path: str, mime: str | None, reference: str, stack: Sequence[str]
    ) -> Attachment:
        """Return the part that an absolute path becomes. Raises :class:`IncludeError`."""
        data = self.read(path, reference, stack)
        kind = mime or mime_type(path, data)
        if kind is None:
            raise IncludeError(
                f"Could not determine MIME type for: {path}", reference=reference, stack=stack
            )
        return attachment(path, data, kind)

    def text(self, path: str, reference: str, stack: Sequence[str]) -> str:
        """Return a file to be rendered as a template. Raises :class:`IncludeError`."""
        data = self.read(path, reference, stack)
        if not is_text(data):
            raise IncludeError(
                f"Not a text file: {path}; attach it with symbols.BINARY",
                reference=reference,
                stack=stack,
            )
        return decoded(data)

    def personality(self, name: str) -> str:
        """Return a personality. Raises :class:`flemma.errors.TemplateError`."""
        render = self._personalities.get(name)
        if render is not None:
            return render()
        known = closest(name, self._personalities)
        hint = f" — did you mean '{known}'?" if known else ""
        raise TemplateError(f"Unknown personality: '{name}'{hint}")


def template_segments(text: str) -> tuple[Segment, ...]:
    """Return the parts of an included file, in which file references are plain text."""
    return tuple(
        Text(segment.raw, segment.start, segment.end)
        if isinstance(segment, FileReference)
        else segment
        for segment in parse_inline(text, 1, 1 + text.count("\n"))
    )


def options_of(
    options: object, variables: Mapping[str, Any]
) -> tuple[bool, str | None, dict[str, Any]]:
    """Split the options of an include: whether to attach it, as what, and its variables.

    Raises :class:`flemma.errors.TemplateError`.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TemplateError(
            f"include() expects its options in a mapping, got {type(options).__name__}"
        )
    given = dict(cast("Mapping[Any, Any]", options or {}))
    binary, mime = bool(given.pop(BINARY, False)), given.pop(MIME, None)
    return binary, mime, {str(name): value for name, value in given.items()} | dict(variables)


def directory_of(path: str) -> str:
    """Return the directory that includes of ``path`` start at."""
    return posixpath.dirname(path)

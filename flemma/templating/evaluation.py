"""One evaluation of a chat: its messages as templates with shared names.

Jinja2 is loaded when the first expression or statement is met; a chat without any costs nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from flemma.chat.nodes import Code, Diagnostic, Expression, FileReference, Segment, Severity
from flemma.conversation.messages import DocumentPart, ImagePart, TextPart
from flemma.conversation.references import Place
from flemma.conversation.templates import Rendered, as_written
from flemma.errors import TemplateError
from flemma.templating.attachments import Attachment, Unsupported
from flemma.templating.files import Personalities, TemplateFiles
from flemma.templating.fragments import Fragments, flattened
from flemma.templating.includes import (
    PERSONALITY,
    IncludedFiles,
    IncludeError,
    directory_of,
    options_of,
    template_segments,
)
from flemma.templating.library import Populator, library
from flemma.templating.limits import ATTACHMENT_DISCOUNT, BudgetSpentError, Meter
from flemma.templating.pieces import Literal, Passed, Piece, Tag, pieces_of
from flemma.templating.values import plain_variables

if TYPE_CHECKING:
    from flemma.templating.engine import Engine


@dataclass(frozen=True, slots=True)
class TemplateSetting:
    """What the templates of a chat know and may read."""

    place: Place
    files: TemplateFiles
    now: datetime
    variables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Variables of the frontmatter, and further ones such as `bufnr`."""
    personalities: Personalities = field(default_factory=dict[str, Any])
    populators: Sequence[Populator] = ()
    pid: int = 0


class Evaluation:
    """Evaluates the messages of one document in order (:class:`Templates` of the conversation)."""

    def __init__(self, setting: TemplateSetting, meter: Meter | None = None) -> None:
        self._setting = setting
        self._meter = meter or Meter()
        self._files = IncludedFiles(setting.files, setting.personalities, setting.place.home)
        self._assigned: dict[str, Any] = {}

    @property
    def used_files(self) -> Mapping[str, str]:
        """Absolute path to SHA-256 of each file included so far."""
        return self._files.used

    def render(self, segments: Sequence[Segment], *, in_tool_result: bool = False) -> Rendered:
        """Evaluate segments as one template (see :class:`Templates`).

        Inside a tool result, what cannot be evaluated stays as it is and is not reported: a model
        that reads a file with braces in it must neither block the chat (design.md, decision 5) nor
        cause a warning with every request.
        """
        pieces = pieces_of(segments)
        report = _Report(in_tool_result=in_tool_result)
        if any(isinstance(piece, Tag) for piece in pieces):
            try:
                output = self._run(pieces, report, in_tool_result=in_tool_result)
            except TemplateError as error:
                return report.failed(segments, error)
        else:
            output = [
                piece.value if isinstance(piece, Passed) else _text(piece) for piece in pieces
            ]
        items = flattened(self._resolved(item, report) for item in output)
        return Rendered(tuple(items), tuple(report.diagnostics))

    def _run(
        self, pieces: Sequence[Piece], report: "_Report", *, in_tool_result: bool
    ) -> Sequence[object]:
        from flemma.templating.engine import Hooks

        place = self._setting.place
        stack = (place.filename,) if place.filename else ()
        engine = self._result_engine if in_tool_result else self._engine
        context = _Origin(engine, place.directory, stack)
        variables = self._variables | self._assigned
        variables |= self._local_names(place.filename, place.dirname, context)
        hooks = Hooks(report.expression_failed, place=report.placed)
        output = engine.run(pieces, variables, hooks)
        if not in_tool_result:
            self._assigned.update(output.assigned)
        return [item.value if isinstance(item, Passed) else item for item in output.items]

    def _resolved(self, item: Any, report: "_Report") -> object:
        """Attach a file reference; anything else stays."""
        if not isinstance(item, FileReference):
            return item
        place = self._setting.place
        stack = (place.filename,) if place.filename else ()
        path = self._files.resolve(item.path, place.directory)
        try:
            part = self._files.attach(path, item.mime, item.raw, stack)
        except IncludeError as error:
            report.add(error.kind, error, item.start, item.column, item.raw)
            return item.raw
        return report.placed(part, item.start)

    @cached_property
    def _engine(self) -> "Engine":
        from flemma.templating.engine import Engine

        return Engine(self._meter)

    @cached_property
    def _result_engine(self) -> "Engine":
        """What the model reads has a budget of its own: it must not use up that of the user."""
        from flemma.templating.engine import Engine

        return Engine(Meter())

    @cached_property
    def _library(self) -> dict[str, Any]:
        return library(self._setting.populators, self._setting.now, self._setting.pid)

    @cached_property
    def _variables(self) -> dict[str, Any]:
        return self._library | plain_variables(self._setting.variables)

    def _local_names(
        self, filename: str | None, dirname: str | None, origin: "_Origin"
    ) -> dict[str, Any]:
        return {
            "__filename": filename,
            "__dirname": dirname,
            "include": partial(self._include, origin),
        }

    def _include(
        self,
        origin: "_Origin",
        path: object,
        options: object = None,
        /,
        **variables: object,
    ) -> object:
        if not isinstance(path, str):
            raise TemplateError(f"include() expects a string path, got {type(path).__name__}")
        if path.startswith(PERSONALITY):
            return self._files.personality(path.removeprefix(PERSONALITY))
        binary, mime, names = options_of(options, variables)
        target, stack = self._files.resolve(path, origin.directory), origin.stack
        if binary:
            part = self._files.attach(target, mime, path, (*stack, target))
            origin.engine.meter.spend(_weight(part))
            return Fragments((part,))
        if target in stack:
            requester = stack[-1]
            raise IncludeError(
                f"Circular include detected (requested by '{requester}')",
                reference=path,
                stack=(*stack, target),
            )
        inner = _Origin(origin.engine, directory_of(target), (*stack, target))
        return self._include_text(target, path, inner, names)

    def _include_text(
        self, target: str, reference: str, origin: "_Origin", names: Mapping[str, Any]
    ) -> object:
        from flemma.templating.engine import Hooks
        from flemma.templating.fragments import joined

        pieces = pieces_of(template_segments(self._files.text(target, reference, origin.stack)))
        if not any(isinstance(piece, Tag) for piece in pieces):
            return "".join(_text(piece) for piece in pieces)
        variables = {**self._library, **names}
        variables |= self._local_names(target, origin.directory, origin)
        try:
            output = origin.engine.run(pieces, variables, Hooks(_give_up))
        except (IncludeError, BudgetSpentError):
            raise
        except TemplateError as error:
            position = f"{target}:{error.line}" if error.line else target
            raise IncludeError(
                error.message,
                kind="expression",
                reference=reference,
                stack=(*origin.stack[:-1], position),
            ) from error
        return joined(output.items)


@dataclass(frozen=True, slots=True)
class _Origin:
    """The file that includes something: its directory and the files that led to it."""

    engine: "Engine"
    directory: str
    stack: tuple[str, ...]


def _give_up(_piece: Piece, line: int, error: Exception) -> object:
    from flemma.templating.engine import as_template_error

    failure = as_template_error(error, line)
    if failure is error:
        raise failure
    raise failure from error


def _weight(part: Attachment) -> int:
    match part:
        case ImagePart(data=data) | DocumentPart(data=data):
            return len(data) // ATTACHMENT_DISCOUNT
        case TextPart(text=text):
            return len(text) // ATTACHMENT_DISCOUNT
        case Unsupported():
            return 1


def _text(piece: Piece) -> str:
    return piece.text if isinstance(piece, Literal) else ""


class _Report:
    """Collects what went wrong while one message is rendered."""

    def __init__(self, *, in_tool_result: bool) -> None:
        self._in_tool_result = in_tool_result
        self._seen: set[Diagnostic] = set()
        self.diagnostics: list[Diagnostic] = []

    def add(
        self,
        kind: str,
        error: Exception,
        line: int,
        column: int | None,
        reference: str | None,
        severity: Severity = Severity.WARNING,
    ) -> None:
        """Note a problem, once; in tool results those of files only."""
        if self._in_tool_result and kind != "file":
            return
        stack = error.stack if isinstance(error, IncludeError) else ()
        message = error.message if isinstance(error, TemplateError) else str(error)
        diagnostic = Diagnostic(
            kind, severity, message, line, column, reference=reference, stack=stack
        )
        if diagnostic not in self._seen:
            self._seen.add(diagnostic)
            self.diagnostics.append(diagnostic)

    def expression_failed(self, piece: Piece, line: int, error: Exception) -> str:
        """Warn, and keep the text of the expression (spec: behaviour 10.3)."""
        from flemma.templating.engine import as_template_error

        assert isinstance(piece, Tag)
        failure = as_template_error(error)
        reference = piece.raw
        if isinstance(failure, IncludeError) and failure.kind == "file":
            reference = failure.reference
        kind = "file" if failure.kind == "file" else "expression"
        self.add(kind, failure, line, piece.column, reference)
        return piece.raw

    def placed(self, item: object, line: int) -> object:
        """Return the text that stands for a file no model reads; anything else stays."""
        if not isinstance(item, Unsupported):
            return item
        error = TemplateError(f"Unsupported MIME type: {item.mime}")
        self.add("file", error, line, None, item.name)
        return f"[binary file: {item.name}]" if self._in_tool_result else f"@{item.name}"

    def failed(self, segments: Sequence[Segment], error: TemplateError) -> Rendered:
        """Return what is left of a message whose template failed."""
        in_result = self._in_tool_result
        reference = getattr(error, "reference", None)
        first = next((s.start for s in segments if isinstance(s, Expression | Code)), 0)
        line = first if error.line is None else error.line
        self.add("template", error, line, None, reference, Severity.ERROR)
        items = tuple(flattened(map(as_written, segments))) if in_result else ()
        return Rendered(items, tuple(self.diagnostics), failed=not in_result)

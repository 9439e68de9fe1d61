"""Running compiled templates. The only module that needs Jinja2 loaded; imported on first use."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeAlias, cast

from jinja2 import Template
from jinja2.runtime import Context

from flemma.errors import TemplateError
from flemma.templating.compiler import TEMPLATE_NAME, Program, compile_pieces, expression_problem
from flemma.templating.environment import TemplateEnvironment
from flemma.templating.fragments import Fragments, flattened
from flemma.templating.limits import BudgetSpentError, Meter
from flemma.templating.operations import join_text
from flemma.templating.pieces import Literal, Passed, Piece, Tag
from flemma.templating.printing import printed

Recover: TypeAlias = Callable[[Piece, int, Exception], object]
"""Called with the piece whose expression failed, the line and the error; returns what to put in its
place, or raises."""


class Engine:
    """A sandbox and what its templates share: the meter and the functions they may call."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self._environment = TemplateEnvironment(meter)

    def run(
        self,
        pieces: Sequence[Piece],
        variables: Mapping[str, Any],
        hooks: "Hooks",
    ) -> "Output":
        """Render ``pieces`` as one template.

        Raises :class:`flemma.errors.TemplateError` for a failing statement, its line relative to
        the message; failing expressions go to ``hooks.recover`` instead.
        """
        self.meter.read(sum(isinstance(piece, Tag) for piece in pieces))
        checked = tuple(_checked(piece, hooks) for piece in pieces)
        program = replace(_compiled(checked), pieces=checked)
        assert program.code is not None
        names: dict[str, Any] = {**self._environment.globals, **variables}
        template = Template.from_code(self._environment, program.code, names)
        context = template.new_context()
        context.run = TemplateRun(self.meter, program, hooks)  # pyright: ignore[reportAttributeAccessIssue]
        try:
            with self.meter:
                outputs = self._collect(template, context)
        except Exception as error:
            line = _failed_line(template, program, error)
            failure = as_template_error(error, line)
            if failure is error:
                raise
            raise failure from error
        return Output(flattened(outputs), dict(context.vars))

    def _collect(self, template: Template, context: Context) -> list[object]:
        outputs: list[object] = []
        weight = 0
        for output in cast("Iterable[object]", template.root_render_func(context)):
            outputs.append(output)
            weight += len(output) if isinstance(output, str) else 1
            self.meter.allow(weight)
        return outputs


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the user of the engine decides."""

    recover: Recover
    transform: Callable[[str], str] | None = None
    """Changes the text of every expression, e.g. to double ``%`` for a status line."""
    place: Callable[[object, int], object] | None = None
    """Gets each part an expression emits, with its line; returns what goes out in its place."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a template made: its output, and the names it set at top level."""

    items: Sequence[Any]
    assigned: Mapping[str, Any]


class TemplateRun:
    """One rendering; compiled code calls it for every output."""

    def __init__(self, meter: Meter, program: Program, hooks: Hooks) -> None:
        self.meter = meter
        self._program = program
        self._hooks = hooks

    def emit(self, line: int, value: object) -> object:
        """Return what goes into the output for the value of an expression."""
        if isinstance(value, Fragments):
            place = self._hooks.place
            chat_line = self._program.piece_at(line)[1]
            return Fragments(place(item, chat_line) for item in value) if place else value
        try:
            text = printed(self.meter, value)
        except TypeError as error:
            raise TemplateError(f"Error during emit: {error}") from error
        self.meter.spend(len(text))
        return self._hooks.transform(text) if self._hooks.transform else text

    def passed(self, index: int) -> Passed:
        """Return piece ``index``, which the template carries along."""
        piece = self._program.pieces[index]
        assert isinstance(piece, Passed)
        return piece

    def recover(self, line: int, error: Exception) -> object:
        """Return what stands in for an expression that failed, or raise."""
        if isinstance(error, BudgetSpentError):
            raise error
        piece, chat_line = self._program.piece_at(line)
        return self._hooks.recover(piece, chat_line, error)

    def join(self, values: Iterable[object]) -> str:
        """Join the operands of ``~``, weighing first."""
        return join_text(self.meter, values)


@functools.lru_cache(maxsize=1024)
def _compiled(pieces: tuple[Piece, ...]) -> Program:
    """Compile once what every send renders again. What pieces carry is not part of the code."""
    return compile_pieces(_compiling_environment(), pieces)


@functools.lru_cache(maxsize=4096)
def _problem(tag: Tag) -> str | None:
    return expression_problem(_compiling_environment(), tag)


@functools.cache
def _compiling_environment() -> TemplateEnvironment:
    return TemplateEnvironment(Meter())


def _checked(piece: Piece, hooks: Hooks) -> Piece:
    """Replace an expression that cannot be compiled; statements fail when all is compiled."""
    if not isinstance(piece, Tag) or piece.is_statement:
        return piece
    problem = _problem(piece)
    if problem is None:
        return piece
    error = TemplateError(problem, line=piece.line)
    return Literal(str(hooks.recover(piece, piece.line, error)), piece.line)


def as_template_error(error: Exception, line: int | None = None) -> TemplateError:
    """Return ``error`` as a template error; one that is one already keeps its own line."""
    if isinstance(error, TemplateError):
        error.line = error.line if error.line is not None else line
        return error
    if isinstance(error, RecursionError):
        return TemplateError("The template calls itself too deeply", line=line)
    return TemplateError(str(error) or type(error).__name__, line=line)


def _failed_line(template: Template, program: Program, error: Exception) -> int | None:
    """Return the line, relative to the message, where the template was when ``error`` came."""
    found: int | None = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TEMPLATE_NAME:
            found = trace.tb_lineno
        trace = trace.tb_next
    if found is None:
        return None
    return program.piece_at(template.get_corresponding_lineno(found))[1]

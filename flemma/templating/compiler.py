"""From pieces to a compiled Jinja2 template.

The pieces come from the parser of the chat, which decided already what is text and what is code, so
the text never passes through the lexer of Jinja2: ``{#``, unclosed delimiters and line endings stay
as they are. Each piece gets lines of its own in the token stream; a line that Jinja2 reports leads
back to the piece, and from there to the line in the chat.
"""

import contextlib
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import NoReturn

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, generate
from jinja2.environment import Environment
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.exceptions import TemplateSyntaxError
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

from flemma.errors import TemplateError
from flemma.templating.limits import CODE_LIMIT, DEPTH_LIMIT, TAG_LIMIT
from flemma.templating.pieces import Literal, Passed, Piece, Tag

TEMPLATE_NAME = "<template>"
"""File name of compiled templates in tracebacks."""

PACED_FILTER = "_paced"
"""Name of the filter that keeps time in loops which may skip every turn."""

_FORBIDDEN = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block)


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled template and the way from its lines to the pieces."""

    code: CodeType | None
    pieces: tuple[Piece, ...]
    first_lines: tuple[int, ...]

    def piece_at(self, line: int) -> tuple[Piece, int]:
        """Return the piece that line ``line`` (1-based) of the token stream belongs to, and the
        line relative to the message."""
        index = max(0, bisect_right(self.first_lines, line) - 1)
        piece = self.pieces[index]
        return piece, piece.line + line - self.first_lines[index]


def compile_pieces(environment: Environment, pieces: Sequence[Piece]) -> Program:
    """Compile ``pieces``. Raises :class:`flemma.errors.TemplateError` whose line is relative to the
    message."""
    numbered = Program(None, tuple(pieces), _first_lines(pieces))
    sizes = [len(piece.code) for piece in pieces if isinstance(piece, Tag)]
    if sum(sizes) > CODE_LIMIT or len(sizes) > TAG_LIMIT:
        raise TemplateError(
            f"More than {TAG_LIMIT:,} expressions or {CODE_LIMIT:,} characters of template code"
        )
    try:
        tree = _parse(environment, _tokens(environment, numbered))
        source = generate(tree, environment, None, None, optimized=False)
        code = compile(source or "", TEMPLATE_NAME, "exec")
    except TemplateSyntaxError as error:
        _, line = numbered.piece_at(error.lineno)
        raise TemplateError(error.message or "Syntax error", line=line) from error
    except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
        raise TemplateError("The template is nested too deeply or has a gigantic number") from error
    except JinjaError as error:
        raise TemplateError(error.message or "Syntax error") from error
    return Program(code, numbered.pieces, numbered.first_lines)


def expression_problem(environment: Environment, tag: Tag) -> str | None:
    """Return why an expression cannot be compiled, or None when it can."""
    try:
        tree = _parse(environment, _tokens(environment, Program(None, (tag,), (1,))))
    except TemplateSyntaxError as error:
        return error.message or "Syntax error"
    except (RecursionError, ValueError):
        return "The expression cannot be parsed: too deep, or a gigantic number"
    if _depth(tree) > DEPTH_LIMIT:
        return "The expression is nested too deeply"
    for node in tree.find_all((nodes.Filter, nodes.Test)):
        known = environment.filters if isinstance(node, nodes.Filter) else environment.tests
        if node.name not in known:
            return f"No {type(node).__name__.lower()} named '{node.name}'"
    return None


def _first_lines(pieces: Sequence[Piece]) -> tuple[int, ...]:
    lines: list[int] = []
    following = 1
    for piece in pieces:
        lines.append(following)
        following += 1 + (piece.code.count("\n") if isinstance(piece, Tag) else 0)
    return tuple(lines)


def _tokens(environment: Environment, program: Program) -> Iterator[Token]:
    for index, (piece, line) in enumerate(zip(program.pieces, program.first_lines, strict=True)):
        match piece:
            case Literal(text=text):
                yield Token(line, "data", text)
            case Passed():
                yield Token(line, "data", _PassedMark(index))
            case Tag():
                kind = "block" if piece.is_statement else "variable"
                yield Token(line, f"{kind}_begin", piece.raw[:2])
                yield from _lexed(environment, piece.code, line, kind)
                yield Token(line + piece.code.count("\n"), f"{kind}_end", piece.raw[-2:])


def _lexed(environment: Environment, code: str, line: int, state: str) -> Iterator[Token]:
    lexer = environment.lexer
    try:
        for token in lexer.wrap(lexer.tokeniter(code, None, None, state)):
            if token.type in ("data", "variable_end", "block_end"):
                _fail("unexpected end of the code", token.lineno)
            yield Token(token.lineno + line - 1, token.type, token.value)
    except TemplateSyntaxError as error:
        error.lineno += line - 1
        raise


def _fail(message: str, line: int) -> NoReturn:
    raise TemplateSyntaxError(message, line)


def _parse(environment: Environment, tokens: Iterator[Token]) -> nodes.Template:
    parser = Parser(environment, "")
    parser.stream = TokenStream(tokens, None, None)
    tree = parser.parse()
    for node in tree.find_all(_FORBIDDEN):
        name = type(node).__name__.lower()
        raise TemplateSyntaxError(
            f"'{name}' statements are not available; use {{{{ include('path') }}}}", node.lineno
        )
    for loop in tree.find_all(nodes.For):
        if loop.test is not None:
            loop.iter = nodes.Filter(loop.iter, PACED_FILTER, [], [], None, None)
    return tree


def _depth(tree: nodes.Node) -> int:
    deepest = 0
    waiting: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((child, depth + 1) for child in node.iter_child_nodes())
    return deepest


class _PassedMark(str):
    """Stands in the token stream for the piece whose index it writes."""

    __slots__ = ()


class MeteredCodeGenerator(CodeGenerator):
    """Writes code that keeps time in every block, weighs the containers it builds, and hands every
    output and every failure of one to the run instead of joining strings."""

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:  # noqa: N802 - visitor
        """Emit each child on its own, so that one that fails does not take the others along."""
        for child in node.nodes:
            if isinstance(child, nodes.TemplateData):
                is_mark = isinstance(child.data, _PassedMark)
                code = f"context.run.passed({child.data})" if is_mark else repr(child.data)
                self._write_output(code, child, frame)
                continue
            result, error = self.temporary_identifier(), self.temporary_identifier()
            self.writeline("try:", child)
            self.indent()
            self.writeline(f"{result} = context.run.emit({child.lineno}, ")
            self.visit(child, frame)
            self.write(")")
            self.outdent()
            self.writeline(f"except Exception as {error}:")
            self.indent()
            self.writeline(f"{result} = context.run.recover({child.lineno}, {error})")
            self.outdent()
            self._write_output(result, child, frame)

    def _write_output(self, code: str, node: nodes.Node, frame: Frame) -> None:
        self.start_write(frame, node)
        self.write(code)
        self.end_write(frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """Keep time at the beginning of every block: loops and macros have one each."""
        self.writeline("context.run.meter.tick()")
        super().blockvisit(nodes, frame)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        """Weigh a list that is built."""
        with self._weighed():
            super().visit_List(node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        """Weigh a mapping that is built."""
        with self._weighed():
            super().visit_Dict(node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        """Weigh a tuple that is built (not one that names are assigned to)."""
        with self._weighed() if node.ctx == "load" else contextlib.nullcontext():
            super().visit_Tuple(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        """Join with ``~``, weighing first."""
        self.write("context.run.join((")
        for argument in node.nodes:
            self.visit(argument, frame)
            self.write(", ")
        self.write("))")

    @contextlib.contextmanager
    def _weighed(self) -> Generator[None]:
        self.write("context.run.meter.charge(")
        yield
        self.write(")")

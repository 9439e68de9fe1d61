"""The sandbox: what a template may read, call and compute.

Jinja2's own sandbox hides dangerous attributes; this one shows known ones only, so that nothing new
in Python or in a variable opens a way out.
"""

import contextlib
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, cast

from jinja2.runtime import Context, LoopContext, Macro, StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter, safe_range
from jinja2.utils import Cycler, Joiner, Namespace, missing

from flemma.templating.compiler import MeteredCodeGenerator
from flemma.templating.filters import filters, tests
from flemma.templating.fragments import Fragments, joined
from flemma.templating.limits import ITEM_WEIGHT, Meter
from flemma.templating.operations import ARITHMETIC, apply_operator, check_format_spec
from flemma.templating.text_methods import TEXT_METHODS

_ATTRIBUTES: tuple[tuple[type, frozenset[str]], ...] = (
    (
        LoopContext,
        frozenset(
            {
                *("index", "index0", "revindex", "revindex0", "first", "last", "length"),
                *("depth", "depth0", "previtem", "nextitem", "cycle", "changed"),
            }
        ),
    ),
    (Macro, frozenset({"name", "arguments", "catch_kwargs", "catch_varargs", "caller"})),
    (Cycler, frozenset({"next", "reset", "current"})),
    (tuple, frozenset({"count", "index", "grouper", "list"})),
    (list, frozenset({"count", "index"})),
    (range, frozenset({"start", "stop", "step", "count", "index"})),
    (Mapping, frozenset({"get", "items", "keys", "values"})),
)


class NamedUndefined(StrictUndefined):
    """A name that nobody defined; every use of it but `is defined` and `default` raises."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f"Undefined variable '{self._undefined_name}'"
        return f"A {type(self._undefined_obj).__name__} has no '{self._undefined_name}'"


class QuietNamespace(Namespace):
    """A `namespace()` that does not print what it holds: that may be without end."""

    def __repr__(self) -> str:
        return "<namespace>"


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox that belongs to one evaluation and charges its meter."""

    code_generator_class = MeteredCodeGenerator
    intercepted_binops = frozenset(ARITHMETIC)

    def __init__(self, meter: Meter) -> None:
        super().__init__(undefined=NamedUndefined, keep_trailing_newline=True, optimized=False)
        self.meter = meter
        self.filters = filters(meter)
        self.tests = tests(meter)
        self.globals = {
            "range": safe_range,
            "dict": dict,
            "namespace": QuietNamespace,
            "cycler": Cycler,
            "joiner": Joiner,
        }

    def concat(self, outputs: Iterable[object]) -> str | Fragments:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Join the outputs of a macro or block, weighing first."""
        collected = list(outputs)
        weight = sum(len(item) if isinstance(item, str) else ITEM_WEIGHT for item in collected)
        self.meter.allow(weight)
        self.meter.spend(weight)
        return joined(collected)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator, weighing first."""
        for value in (left, right):
            if isinstance(value, Undefined):
                _fail(value)
        return apply_operator(self.meter, operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Read ``obj.attribute``: keys of mappings first, then what is known to be harmless."""
        match obj:
            case Undefined():
                return _fail(obj)
            case str():
                return self._text_method(obj, attribute)
            case Namespace():
                return getattr(obj, attribute, self.undefined(obj=obj, name=attribute))
            case Mapping() if attribute in obj:
                return cast("Mapping[str, Any]", obj)[attribute]
            case _:
                return self._known_attribute(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Read ``obj[argument]``."""
        if isinstance(obj, Undefined):
            _fail(obj)
        if isinstance(obj, Mapping | str | list | tuple | range):
            with contextlib.suppress(TypeError, LookupError):
                return cast("Any", obj)[argument]
        if isinstance(argument, str):
            return self.getattr(obj, argument)
        return self.undefined(obj=obj, name=argument)

    def call(self, context: Context, obj: Any, /, *arguments: Any, **options: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Call a function, charging what it returns."""
        if isinstance(obj, Undefined):
            _fail(obj)
        return self.meter.charge(context.call(obj, *arguments, **options))

    def _text_method(self, text: str, name: str) -> Any:
        if name in ("format", "format_map"):
            return functools.partial(self._format, text, name == "format_map")
        method = TEXT_METHODS.get(name)
        if method is None:
            return self.undefined(obj=text, name=name)
        return functools.partial(method, self.meter, text)

    def _format(self, text: str, is_map: bool, /, *arguments: Any, **options: Any) -> str:
        values = arguments[0] if is_map else options
        return MeteredFormatter(self).vformat(text, () if is_map else arguments, values)

    def _known_attribute(self, obj: object, name: str) -> Any:
        for kind, names in _ATTRIBUTES:
            if isinstance(obj, kind) and name in names and hasattr(obj, name):
                return getattr(obj, name)
        return self.undefined(obj=obj, name=name)


class MeteredFormatter(SandboxedFormatter):
    """`str.format` without gigantic widths, and with every field charged."""

    def __init__(self, environment: TemplateEnvironment) -> None:
        super().__init__(environment)
        self._meter = environment.meter

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Look a field up; an undefined one raises."""
        value = super().get_value(key, args, kwargs)
        if isinstance(value, Undefined):
            _fail(value)
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format one field."""
        check_format_spec(self._meter, format_spec)
        return self._meter.charge(super().format_field(value, format_spec))


def _fail(value: Undefined) -> NoReturn:
    raise value._undefined_exception(value._undefined_message)  # pyright: ignore[reportPrivateUsage]

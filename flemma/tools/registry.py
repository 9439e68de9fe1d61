"""All tools that are known, whoever registered them."""

from collections.abc import Callable, Mapping, Sequence

from flemma.schema import schema_problem, to_json_schema
from flemma.tools.definition import ToolDefinition

Listener = Callable[[], None]


class ToolRegistry:
    """Tools by name. Order of registration never shows: listings are sorted by name, so that the
    prompt stays the same (spec: behaviour 8.4)."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolDefinition] = {}
        self._late: dict[str, Callable[[], ToolDefinition]] = {}
        self._problems: dict[str, str] = {}
        self._listeners: list[Listener] = []

    def register(self, definition: ToolDefinition) -> tuple[str, ...]:
        """Add or replace a tool; return warnings for the user.

        A tool whose schema would make services refuse every request is known but never sent
        (case B-18). Raises :class:`flemma.errors.ConfigError` for a malformed schema node.
        """
        name = definition.name
        warnings: list[str] = []
        problem = _problem(definition)
        if self._forget(name):
            warnings.append(f"tool '{name}' redefined (previously registered, now overwritten)")
        self._tools[name] = definition
        if problem:
            self._problems[name] = problem
            warnings.append(f"tool '{name}' ({definition.origin}) is disabled: {problem}")
        self._changed()
        return tuple(warnings)

    def register_late(self, makers: Mapping[str, Callable[[], ToolDefinition]]) -> None:
        """Add tools of which only the names are known until somebody asks for more.

        Their schemas are taken to be valid: they are ours.
        """
        self._late |= makers
        self._changed()

    def unregister(self, name: str) -> bool:
        """Remove a tool; tell whether it was there."""
        if not self._forget(name):
            return False
        self._changed()
        return True

    def get(self, name: str) -> ToolDefinition | None:
        """Return a tool by its internal name."""
        make = self._late.pop(name, None)
        if make is not None:
            self._tools[name] = make()
        return self._tools.get(name)

    def names(self) -> tuple[str, ...]:
        """Return the names of all tools, disabled ones included."""
        return tuple(sorted({*self._tools, *self._late}))

    def enabled_names(self) -> tuple[str, ...]:
        """Return the names of the tools that are sent when a buffer selects nothing."""
        return tuple(definition.name for definition in self.selected(None))

    def selected(self, names: Sequence[str] | None) -> tuple[ToolDefinition, ...]:
        """Return the tools to send: the enabled ones for None, else those named (none for an empty
        list). Unknown names are left out, and so are tools with an invalid schema."""
        wanted = sorted(set(self.names() if names is None else names) - self._problems.keys())
        found = (definition for name in wanted if (definition := self.get(name)) is not None)
        return tuple(definition for definition in found if definition.enabled or names is not None)

    def has_capability(self, name: str, capability: str) -> bool:
        """Tell whether a tool declares a tag; false for an unknown tool."""
        definition = self.get(name)
        return definition is not None and capability in definition.capabilities

    def problems(self) -> Mapping[str, str]:
        """Return why tools cannot be sent, by name."""
        return dict(self._problems)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change; return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _forget(self, name: str) -> bool:
        self._problems.pop(name, None)
        was_late = self._late.pop(name, None) is not None
        return self._tools.pop(name, None) is not None or was_late

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def _problem(definition: ToolDefinition) -> str | None:
    if not definition.name.strip():
        return "it has no name"
    return schema_problem(to_json_schema(definition.input_schema))

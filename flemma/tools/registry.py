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
        self._problems: dict[str, str] = {}
        self._listeners: list[Listener] = []

    def register(self, definition: ToolDefinition) -> tuple[str, ...]:
        """Add or replace a tool; return warnings for the user.

        A tool whose schema would make services refuse every request is known but never sent
        (case B-18). Raises :class:`flemma.errors.ConfigError` for a malformed schema node.
        """
        name = definition.name
        warnings: list[str] = []
        if name in self._tools:
            warnings.append(f"tool '{name}' redefined (previously registered, now overwritten)")
        problem = _problem(definition)
        self._tools[name] = definition
        self._problems.pop(name, None)
        if problem:
            self._problems[name] = problem
            warnings.append(f"tool '{name}' ({definition.origin}) is disabled: {problem}")
        self._changed()
        return tuple(warnings)

    def unregister(self, name: str) -> bool:
        """Remove a tool; tell whether it was there."""
        if self._tools.pop(name, None) is None:
            return False
        self._problems.pop(name, None)
        self._changed()
        return True

    def get(self, name: str) -> ToolDefinition | None:
        """Return a tool by its internal name."""
        return self._tools.get(name)

    def names(self) -> tuple[str, ...]:
        """Return the names of all tools, disabled ones included."""
        return tuple(sorted(self._tools))

    def enabled_names(self) -> tuple[str, ...]:
        """Return the names of the tools that are sent when a buffer selects nothing."""
        return tuple(definition.name for definition in self.selected(None))

    def selected(self, names: Sequence[str] | None) -> tuple[ToolDefinition, ...]:
        """Return the tools to send: the enabled ones for None, else those named (none for an empty
        list). Unknown names are left out, and so are tools with an invalid schema."""
        if names is None:
            chosen = {name for name, definition in self._tools.items() if definition.enabled}
        else:
            chosen = set(names) & self._tools.keys()
        return tuple(self._tools[name] for name in sorted(chosen - self._problems.keys()))

    def has_capability(self, name: str, capability: str) -> bool:
        """Tell whether a tool declares a tag; false for an unknown tool."""
        definition = self._tools.get(name)
        return definition is not None and capability in definition.capabilities

    def problems(self) -> Mapping[str, str]:
        """Return why tools cannot be sent, by name."""
        return dict(self._problems)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change; return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def _problem(definition: ToolDefinition) -> str | None:
    if not definition.name.strip():
        return "it has no name"
    return schema_problem(to_json_schema(definition.input_schema))

"""What `tools.auto_approve` says about a tool, and which line of which layer says it.

The list is not flattened first: the operations are asked from the last to the first, and the first
that mentions the tool decides. For plain names this is what replaying the list gives; for members
of presets and globs it means that `:remove("write")` after `{ "$standard" }` takes write out
although the list only holds the name of the preset (spec: tools, "Per-buffer approval"). Globs are
never expanded or validated: a typo approves nothing (spec: behaviour 3.2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from flemma.config.catalogue import catalogue
from flemma.config.layers import Layer, Layers, Op, layer_has_set
from flemma.config.options import Path, PolicyFunction
from flemma.config.presets import Presets, expand
from flemma.config.resolve import Resolved
from flemma.config.shapes import items_of
from flemma.text.globs import matches

PATH: Path = ("tools", "auto_approve")


@dataclass(frozen=True, slots=True)
class Rule:
    """The entry that decides, and where it was written. ``entry`` is empty for a function."""

    entry: str
    preset: str | None
    op: Op
    layer: Layer
    line: int | None = None

    def __str__(self) -> str:
        """Say it the way an explanation shows it."""
        what = f"'{self.entry}'" if self.entry else "a function"
        through = f" (through {self.preset})" if self.preset else ""
        place = f", frontmatter line {self.line}" if self.line else ""
        return f"{self.op} {what}{through} in {self.layer.name}{place}"


@dataclass(frozen=True, slots=True)
class Listed:
    """The tool is on the list."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class Removed:
    """The tool was taken off the list."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class Asked:
    """A function decides."""

    function: PolicyFunction
    rule: Rule


Answer = Listed | Removed | Asked | None


@dataclass(frozen=True, slots=True)
class _Step:
    op: Op
    members: tuple[tuple[str, str | None], ...]
    function: PolicyFunction | None
    layer: Layer
    line: int | None

    def rule(self, entry: str = "", preset: str | None = None) -> Rule:
        return Rule(entry, preset, self.op, self.layer, self.line)

    def match(self, tool: str) -> Rule | None:
        for entry, preset in self.members:
            if matches(entry, tool):
                return self.rule(entry, preset)
        return None


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """`tools.auto_approve` of one buffer."""

    steps: tuple[_Step, ...]
    frontmatter_decides: bool
    """Whether the frontmatter sets the list: the user took over (spec: behaviour 3.4)."""

    def judge(self, tool: str) -> Answer:
        """Return what the policy says about ``tool``; None when it says nothing."""
        for step in reversed(self.steps):
            if step.function is not None:
                return Asked(step.function, step.rule())
            rule = step.match(tool)
            if rule is not None:
                return Removed(rule) if step.op is Op.REMOVE else Listed(rule)
            if step.op is Op.SET:
                return None
        return None

    def removed_in_frontmatter(self, tool: str) -> Rule | None:
        """Return the `remove` of the frontmatter that names ``tool``, if there is one."""
        for step in self.steps:
            if step.op is Op.REMOVE and step.layer is Layer.FRONTMATTER:
                rule = step.match(tool)
                if rule is not None:
                    return rule
        return None

    def entries(self) -> list[tuple[str, str | None]]:
        """Return the entries in force with the preset each is from, for the status page."""
        found: dict[str, str | None] = {}
        for step in self.steps:
            if step.op is Op.SET:
                found.clear()
            for entry, preset in step.members:
                found.pop(entry, None)
                if step.op is not Op.REMOVE:
                    found[entry] = preset
        return [
            (entry, preset)
            for entry, preset in found.items()
            if "*" in entry or isinstance(self.judge(entry), Listed)
        ]


def approval_policy(resolved: Resolved) -> ApprovalPolicy:
    """Return the policy that the layers of ``resolved`` come to."""
    layers = resolved.layers
    return ApprovalPolicy(
        tuple(_steps(layers, resolved.presets)),
        layer_has_set(layers, Layer.FRONTMATTER, PATH),
    )


def _steps(layers: Layers, presets: Presets) -> Iterator[_Step]:
    default = catalogue().items[PATH].default
    yield _Step(Op.SET, tuple(expand(default, presets)), None, Layer.DEFAULTS, None)
    for entry in layers.entries_at(PATH):
        operation = entry.operation
        value: Any = operation.value
        function = cast("PolicyFunction", value) if callable(value) else None
        items = items_of(value) if operation.op is Op.SET else (value,)
        members = tuple(expand(items or (), presets))
        yield _Step(operation.op, members, function, entry.layer, operation.line)

"""The index of all options: what a path names, which short forms lead to it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import Any, cast

from flemma.config.options import Declaration, Path
from flemma.config.schema import Config
from flemma.config.shapes import Shape, shape_of
from flemma.text.suggest import closest, edit_distance

GENERAL = ("timeout", "thinking", "max_tokens", "temperature", "cache_retention")
"""Top-level short forms of `parameters.<same>` (spec: behaviour 9.6)."""


class Kind(Enum):
    """What a path names."""

    SECTION = "section"
    SCALAR = "scalar"
    LIST = "list"
    TABLE = "table"
    DISCOVERED = "discovered"
    """Inside the subtree of something registered; anything goes."""


@dataclass(frozen=True, slots=True)
class Item:
    """A section or an option. ``default`` of a section is its instance."""

    path: Path
    kind: Kind
    shape: Shape
    default: Any
    declaration: Declaration
    children: tuple[str, ...] = ()
    own_list: "Item | None" = None
    """The list that lives at the path of this section."""
    discovers: bool = False
    """Whether unknown children are subtrees of registered things."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All options, and the names of what was registered so far."""

    items: Mapping[Path, Item]
    registered: Mapping[Path, frozenset[str]] = field(default_factory=dict[Path, frozenset[str]])

    def with_registered(self, path: Path, names: Iterable[str]) -> "Catalogue":
        """Return a catalogue that also knows ``names`` below the section ``path``."""
        known = self.registered.get(path, frozenset()) | frozenset(names)
        return replace(self, registered={**self.registered, path: known})

    def canonical(self, path: Path) -> Path:
        """Follow the short forms: `thinking`, `anthropic.…`, `tools.approve` and the like."""
        if path[:2] == ("tools", "approve"):
            return ("tools", "auto_approve", *path[2:])
        if (
            path
            and path[0] not in self.items[()].children
            and (path[0] in GENERAL or path[0] in self.providers())
        ):
            return ("parameters", *path)
        return path

    def providers(self) -> frozenset[str]:
        """Names that have a subtree of parameters."""
        own = {
            name
            for name in self.items[("parameters",)].children
            if name != "thinking" and self.items[("parameters", name)].kind is Kind.SECTION
        }
        return self.registered.get(("parameters",), frozenset()) | own

    def find(self, path: Path) -> Item | None:
        """Return what the canonical ``path`` names, or None for an unknown key.

        A path inside an open table, or inside the subtree of something registered, gives an item
        made for it.
        """
        if path in self.items:
            return self.items[path]
        for length in range(len(path) - 1, -1, -1):
            parent = self.items.get(path[:length])
            if parent is not None:
                return _inside(parent, path)
        return None

    def suggestion(self, path: Path) -> str | None:
        """Return the key closest to the unknown last part of ``path``, if one is close."""
        for length in range(len(path) - 1, -1, -1):
            parent = self.items.get(path[:length])
            if parent is not None and parent.kind is Kind.SECTION:
                names = {*parent.children, *self.registered.get(parent.path, ())}
                if length == 0:
                    names |= {*GENERAL, *self.providers()}
                return _close(path[length], names)
        return None


def _close(name: str, names: Iterable[str]) -> str | None:
    """Return the closest of ``names``, unless more than half of a short name would change."""
    found = closest(name, names)
    if found is None or edit_distance(name, found, len(name)) > max(1, len(name) // 2):
        return None
    return found


def _inside(parent: Item, path: Path) -> Item | None:
    if parent.discovers:
        anything = Shape(anything=True)
        return Item(path, Kind.DISCOVERED, anything, None, Declaration("Defined by its owner."))
    if parent.kind is Kind.TABLE and len(path) == len(parent.path) + 1:
        shape = parent.shape.value or Shape(anything=True)
        return Item(path, Kind.SCALAR, replace(shape, nullable=True), None, parent.declaration)
    return None


@cache
def catalogue() -> Catalogue:
    """Return the catalogue of what is built in; made on first use."""
    root = Item((), Kind.SECTION, Shape(), Config(), Declaration("All options."))
    return Catalogue({item.path: item for item in _walk(root)})


def _walk(section: Item) -> Iterator[Item]:
    below: list[Item] = []
    own_list: Item | None = None
    children: list[str] = []
    discovers = False
    for declared in fields(section.default):
        declaration = cast("Declaration", declared.metadata["option"])
        default: Any = getattr(section.default, declared.name)
        if declaration.discover:
            discovers = True
            continue
        path = section.path if declaration.own_list else (*section.path, declared.name)
        item = _item(path, declared.type, default, declaration)
        if declaration.own_list:
            own_list = item
            continue
        children.append(declared.name)
        below.extend(_walk(item) if item.kind is Kind.SECTION else (item,))
    yield replace(section, children=tuple(children), own_list=own_list, discovers=discovers)
    yield from below


def _item(path: Path, annotation: object, default: object, declaration: Declaration) -> Item:
    if hasattr(annotation, "__dataclass_fields__"):
        return Item(path, Kind.SECTION, Shape(), default, declaration)
    shape = shape_of(annotation)
    kind = Kind.SCALAR
    if shape.is_list:
        kind = Kind.LIST
    elif shape.value is not None and not shape.scalars:
        kind = Kind.TABLE
    return Item(path, kind, shape, default, declaration)

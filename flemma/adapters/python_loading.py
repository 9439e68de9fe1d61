"""Imports Python code of users: modules, `.py` files, entry points. Runs in threads."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from flemma import extensions
from flemma.errors import ConfigError
from flemma.tools.registration import register_source, register_tools

GROUP = "flemma.tools"
"""Entry-point group."""


def is_file(name: str) -> bool:
    """Tell whether an entry of `tools.modules` names a file."""
    return name.endswith(".py") or "/" in name


def load_module(name: str, directory: str) -> None:
    """Import a module, or a file (relative to ``directory``), and register what it exports.

    Raises whatever the code raises, and :class:`ConfigError` when there is no such module.
    """
    with extensions.registering(name):
        module = _from_file(name, directory) if is_file(name) else _from_name(name)
        take_exports(name, module)


def load_entry_points() -> Mapping[str, Exception]:
    """Load what installed packages offer; return the failures by entry point.

    An entry point may name a module or anything that :func:`flemma.tools.register` takes.
    """
    if not _advertised():
        return {}
    from importlib.metadata import entry_points

    failures: dict[str, Exception] = {}
    for entry in entry_points(group=GROUP):
        try:
            with extensions.registering(entry.value):
                loaded = entry.load()
                if isinstance(loaded, ModuleType):
                    take_exports(entry.value, loaded)
                else:
                    register_tools(loaded, None, {})
        except Exception as error:  # noqa: BLE001 - one broken package must not hide the others
            failures[entry.value] = error
    return failures


def take_exports(name: str, module: ModuleType) -> None:
    """Register `definitions`, `resolve` and `approval` of a module.

    A resolver gets the name of its module (spec: tools, "Bundling a resolver").
    """
    definitions = getattr(module, "definitions", None)
    if definitions is not None:
        register_tools(list(definitions), None, {})
    resolve = getattr(module, "resolve", None)
    if resolve is not None:
        register_source(resolve, getattr(module, "timeout", None), name)
    approval = getattr(module, "approval", None)
    if approval is not None:
        _take_approval(name, approval)


def _take_approval(name: str, approval: Any) -> None:
    def field(key: str, default: Any) -> Any:
        if isinstance(approval, Mapping):
            return cast("Mapping[str, Any]", approval).get(key, default)
        return getattr(approval, key, default)

    extensions.register_resolver(
        name,
        cast("Callable[..., Any]", field("resolve", None)),
        priority=int(field("priority", None) or 50),
        description=str(field("description", "")),
    )


def _from_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise ConfigError(
            "it is neither a Lua module nor installed for Flemma's Python; name a file by its path",
            path="tools.modules",
        ) from error


def _from_file(name: str, directory: str) -> ModuleType:
    path = Path(directory, Path(name).expanduser())
    if not path.is_file():
        raise ConfigError(f"there is no file {path}", path="tools.modules")
    # Two files may have the same name; a dotted one would look like a package.
    # Slow to import, and most have no modules.
    import hashlib

    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    key = f"flemma_file_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file", path="tools.modules")
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[key]
        raise
    return module


def _advertised() -> bool:
    """Tell whether an installed package names the group, without the costly look at all of them."""
    return any(_names_group(Path(place)) for place in cast("Sequence[str]", sys.path) if place)


def _names_group(place: Path) -> bool:
    patterns = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")
    for pattern in patterns:
        for path in place.glob(pattern):
            try:
                if f"[{GROUP}]".encode() in path.read_bytes():
                    return True
            except OSError:
                # Being removed; who removes a package does not want its tools.
                continue
    return False

"""Python and its packages. Imports nothing of them at the top: they may be missing."""

import importlib
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from flemma.headless.checks import Check, good, note, problem

MINIMUM = (3, 11)

EXTRAS = {
    "keyring": "keys in the system's key store",
    "google": "tokens of Google Cloud without its command line",
    "mcp": "tools of MCP servers",
}
"""Extras a user may want, and what for; the others are for developers."""

ENTRIES = ("flemma.headless.run", "flemma.host.__main__")
"""Importing these imports everything that starting needs."""

_REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)\s*([^;]*)(?:;.*extra\s*==\s*[\"']([\w-]+)[\"'])?")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


def check_python() -> tuple[Check, ...]:
    """Check the interpreter, the packages, and that everything can be imported."""
    return (_interpreter(), *_packages(), *(_import(name) for name in ENTRIES))


def _interpreter() -> Check:
    text = f"Python {platform.python_version()} ({sys.executable})"
    if sys.version_info[:2] >= MINIMUM:
        return good(text)
    return problem(f"{text} is too old, 3.11 is needed", "make install PYTHON=/path/to/python3.11")


def _packages() -> Iterator[Check]:
    try:
        required = requires("flemma") or []
    except PackageNotFoundError:
        yield problem("The package flemma is not installed in this Python", "make install")
        return
    for line in required:
        found = _REQUIREMENT.match(line)
        if found is None:
            continue
        name, bounds, extra = found[1], found[2].strip(), found[3]
        if extra is None or extra in EXTRAS:
            yield _package(name, bounds, extra)


def _package(name: str, bounds: str, extra: str | None) -> Check:
    command = f'{sys.executable} -m pip install "{name}{bounds}"'
    report = note if extra else problem
    use = f", for {EXTRAS[extra]}" if extra else ""
    try:
        found = version(name)
    except PackageNotFoundError:
        return report(f"{name} is not installed{use}", command)
    if not is_within(found, bounds):
        return report(f"{name} {found} does not fit, {bounds} is needed{use}", command)
    return good(f"{name} {found}{use}")


def is_within(found: str, bounds: str) -> bool:
    """Tell whether a version lies within bounds such as ``>=1.2,<2``."""
    release = _release(found)
    return all(
        release >= _release(bound) if sign == ">=" else release < _release(bound)
        for sign, bound in _BOUND.findall(bounds)
    )


def _release(text: str) -> tuple[int, ...]:
    numbers = re.match(r"\d+(?:\.\d+)*", text)
    parts = [int(part) for part in numbers[0].split(".")] if numbers else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _import(name: str) -> Check:
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - a broken package may raise anything
        return problem(
            f"{name} cannot be imported: {type(error).__name__}: {error}", "make install"
        )
    return good(f"{name} can be imported")

"""Hold files and classes to a size a reader can take in: ``python -m scripts.check_sizes``.

A long file or class has more than one reason to change; ruff bounds functions, nothing bounds
these. An exception needs an entry below with its reason.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("flemma", "rplugin", "scripts", "tests", "lua", "plugin", "ftplugin", "ftdetect")
FILE_LINES = 400
CLASS_LINES = 250

EXCEPTIONS: Mapping[str, str] = {
    "lua/flemma/types.lua": "generated from flemma/config and flemma/host/protocol.py",
}
"""Path, or ``path:Class``, to the reason why it may be longer."""


def main() -> int:
    """Print what is too long; 1 when something is."""
    problems = list(too_long(ROOT))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def too_long(root: Path) -> Iterator[str]:
    """Yield a line for each file and class below ``root`` over its limit and not excepted."""
    for path in sorted(_sources(root)):
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        lines = text.count("\n")
        if lines > FILE_LINES and name not in EXCEPTIONS:
            yield f"{name}: {lines} lines, at most {FILE_LINES}: split it by reason to change"
        if path.suffix == ".py":
            yield from _long_classes(name, ast.parse(text))


def _sources(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for suffix in ("py", "lua"):
            yield from (root / folder).rglob(f"*.{suffix}")


def _long_classes(name: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > CLASS_LINES and f"{name}:{node.name}" not in EXCEPTIONS:
            yield (
                f"{name}:{node.lineno}: class {node.name} has {lines} lines, "
                f"at most {CLASS_LINES}: give parts of it away"
            )


if __name__ == "__main__":
    sys.exit(main())

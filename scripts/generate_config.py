"""Write everything that follows from the options: ``python -m scripts.generate_config``.

The declarations in flemma/config/sections are the only source of names, defaults, types and texts.
With ``--check`` nothing is written; stale files are named and the exit code is 1.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from flemma.config.catalogue import catalogue
from scripts.configuration import json_schema, lua, markdown, vimdoc

ROOT = Path(__file__).resolve().parent.parent


def generated() -> Mapping[str, str]:
    """Return the content of each generated file by its path in the repository."""
    known = catalogue()
    return {
        "docs/configuration.md": markdown.render(known),
        "doc/flemma-options.txt": vimdoc.render(known),
        "docs/config.schema.json": json_schema.render(known),
        "lua/flemma/generated/types.lua": lua.types(known),
        "lua/flemma/generated/defaults.lua": lua.defaults(known),
    }


def stale(root: Path) -> list[str]:
    """Return the generated files below ``root`` that are missing or out of date."""
    return [
        name
        for name, content in generated().items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != content
    ]


def main() -> int:
    """Write the files, or check them."""
    if "--check" in sys.argv[1:]:
        for name in (names := stale(ROOT)):
            print(f"{name} is out of date: run make docs")
        return 1 if names else 0
    for name, content in generated().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

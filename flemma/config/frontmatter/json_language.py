"""Frontmatter in JSON."""

import json
import re

from flemma.config.frontmatter.data import Lines, from_data
from flemma.config.frontmatter.result import FrontmatterContext, FrontmatterResult, failed
from flemma.config.options import Path

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


def evaluate_json(code: str, context: FrontmatterContext) -> FrontmatterResult:
    """Evaluate a JSON object (spec: behaviour 1.2, 9.5)."""
    try:
        data = json.loads(code) if code.strip() else None
    except json.JSONDecodeError as error:
        return failed(f"JSON parse error: {error.msg}", error.lineno)
    except RecursionError:
        return failed("JSON parse error: nested too deeply", 1)
    return from_data(data, context, json_lines(code))


def json_lines(code: str) -> Lines:
    """Return where each key of the JSON text ``code`` stands."""
    found: dict[Path, int] = {}
    path: list[str] = []
    containers: list[str] = []
    key: str | None = None
    line, position = 1, 0
    for token in _TOKEN.finditer(code):
        line += code.count("\n", position, token.start())
        position = token.start()
        match token[0]:
            case "{" | "[":
                containers.append(token[0])
                path.append(key or "")
                key = None
            case "}" | "]":
                containers.pop()
                path.pop()
                key = None
            case ":" | ",":
                pass
            case string if key is None and containers and containers[-1] == "{":
                key = str(json.loads(string, strict=False))
                found.setdefault((*path[1:], key), line)
                continue
            case _:
                key = None
        if token[0] == ",":
            key = None
    return found.get

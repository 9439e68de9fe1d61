"""Name patterns in which only ``*`` is special (spec: tools, "Glob patterns in tool lists")."""

import re
from functools import lru_cache


def is_glob(pattern: str) -> bool:
    """Tell whether ``pattern`` has a ``*``."""
    return "*" in pattern


def matches(pattern: str, name: str) -> bool:
    """Tell whether the whole of ``name`` fits: ``*`` is any run (dots too), the rest literal."""
    return _compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Adjacent stars mean one; left apart they make the matching exponential.
    parts = re.split(r"\*+", pattern)
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)

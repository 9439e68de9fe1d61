"""The Ids port: random, and never the same twice in one process."""

import random
import string
from collections.abc import Callable

_ALPHABET = string.ascii_lowercase + string.digits
_choose = random.SystemRandom().choice


class RandomIds:
    """Makes identifiers; ``choose`` picks one character of an alphabet."""

    def __init__(self, choose: Callable[[str], str] = _choose) -> None:
        self._choose = choose
        self._used: set[str] = set()

    def job_id(self) -> str:
        """Return ``job_`` and five lower-case alphanumerics (spec: behaviour 7.1)."""
        return self._unused("job_", 5)

    def tool_use_id(self) -> str:
        """Return ``toolu_`` and 24 lower-case alphanumerics."""
        return self._unused("toolu_", 24)

    def _unused(self, prefix: str, length: int) -> str:
        while True:
            made = prefix + "".join(self._choose(_ALPHABET) for _ in range(length))
            if made not in self._used:
                self._used.add(made)
                return made

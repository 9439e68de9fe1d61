"""Token counts of one request, in one normal form for all providers (spec: providers 5.11)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. ``input`` excludes cached tokens; ``thinking`` is part of ``output``."""

    input: int = 0
    output: int = 0
    thinking: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    """Tokens written with the one-hour lifetime (not part of ``cache_write``)."""

    @property
    def total_input(self) -> int:
        """All tokens the model read."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_long

"""Token counts as Anthropic reports them (spec: providers 1.6, "usage merging")."""

from collections.abc import Mapping
from typing import Any, cast

from flemma.conversation.usage import Usage


class UsageCounter:
    """Merges the counts of `message_start` and every `message_delta`: what is given replaces."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, usage: object) -> bool:
        """Take a `usage` object; tell whether it held any counts."""
        if not isinstance(usage, Mapping):
            return False
        found = _counts(cast("Mapping[str, Any]", usage))
        self._counts.update(found)
        return bool(found)

    @property
    def usage(self) -> Usage:
        """The counts so far."""
        written = self._counts.get("cache_creation_input_tokens", 0)
        long = self._counts.get("ephemeral_1h_input_tokens", 0)
        short = self._counts.get("ephemeral_5m_input_tokens", max(0, written - long))
        return Usage(
            input=self._counts.get("input_tokens", 0),
            output=self._counts.get("output_tokens", 0),
            thinking=self._counts.get("thinking_tokens", 0),
            cache_read=self._counts.get("cache_read_input_tokens", 0),
            # Without the split, or when it does not add up, all of it counts as short.
            cache_write=short if short + long >= written else written - long,
            cache_write_long=long,
        )


def _counts(usage: Mapping[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, value in usage.items():
        if isinstance(value, int) and not isinstance(value, bool):
            found[key] = value
        elif key in ("cache_creation", "output_tokens_details") and isinstance(value, Mapping):
            found.update(_counts(cast("Mapping[str, Any]", value)))
    return found

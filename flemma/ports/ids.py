"""Identifiers."""

from typing import Protocol


class Ids(Protocol):
    """Makes identifiers that are not used yet."""

    def job_id(self) -> str:
        """Return ``job_`` and five lower-case alphanumerics (spec: behaviour 7.1)."""
        ...

    def tool_use_id(self) -> str:
        """Return a tool use id for a call that came without one."""
        ...

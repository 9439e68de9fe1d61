"""The usage ledger: what the requests of this process cost (spec: behaviour 11.7, 13.4)."""

from dataclasses import dataclass
from datetime import datetime

from flemma.conversation.usage import Usage


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One completed request. ``cost`` is in US dollars, None when no price is known."""

    provider: str
    model: str
    usage: Usage
    cost: float | None
    path: str | None
    bufnr: int
    started: datetime
    ended: datetime


class UsageLedger:
    """All completed requests, oldest first."""

    def __init__(self) -> None:
        self._records: list[RequestRecord] = []

    def add(self, record: RequestRecord) -> None:
        """Remember a request."""
        self._records.append(record)

    @property
    def records(self) -> tuple[RequestRecord, ...]:
        """All requests."""
        return tuple(self._records)

    def latest(self, path: str | None, bufnr: int) -> RequestRecord | None:
        """Return the newest request of a file (or of an unnamed buffer)."""
        for record in reversed(self._records):
            if (record.path == path) if path else (record.bufnr == bufnr):
                return record
        return None

    @property
    def cost(self) -> float:
        """Dollars spent on requests with a known price."""
        return sum(record.cost or 0.0 for record in self._records)

"""The bar that tells of background jobs (spec: behaviour 7.4 and 12.8)."""

from dataclasses import dataclass

from flemma.text.sizes import counted
from flemma.ui.payloads import Bar, BarItem

NAME = "jobs"


@dataclass(frozen=True, slots=True)
class JobsFacts:
    """How many jobs run, and when the conversation goes on by itself, in Unix seconds."""

    running: int
    resumes_at: float | None = None


def jobs_bar(bufnr: int, facts: JobsFacts, position: str | None) -> Bar:
    """Return the bar for a chat; one without segments, which takes it away, when there is nothing
    to tell or no ``position`` for it."""
    items: list[BarItem] = []
    if facts.running:
        items.append({"text": counted(facts.running, "job"), "priority": 20, "spinner": True})
    if facts.resumes_at is not None:
        items.append({"text": "continues in", "priority": 10, "deadline": facts.resumes_at})
    bar: Bar = {"bufnr": bufnr, "name": NAME, "position": position or "top"}
    if items and position is not None:
        bar["segments"] = [{"items": [item]} for item in items]
    return bar

"""The bar that shows what the last request and the session used (spec: behaviour 12.9)."""

from dataclasses import dataclass

from flemma.conversation.usage import Usage
from flemma.models.formats import format_money, format_number
from flemma.models.pricing import cache_percent
from flemma.ui.payloads import Bar, BarItem, BarSegment

NAME = "usage"
ICON = "ℹ"
GOOD_CACHE = 50
"""Percent of the input from the cache above which it is worth praise."""


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """A request, and the session it belongs to. Costs are US dollars, None when unknown."""

    model: str
    provider: str
    usage: Usage
    cost: float | None
    session_requests: int
    session_cost: float
    session_input: int
    session_output: int
    minimum_cacheable: int = 0
    """Tokens below which the model caches nothing."""


@dataclass(frozen=True, slots=True)
class UsageBarOptions:
    """`ui.usage` and `ui.pricing`."""

    position: str = "top"
    highlight: str = "@text.note,PmenuSel"
    timeout: int = 10000
    """Milliseconds; 0 keeps the bar."""
    pricing: bool = True


def usage_bar(bufnr: int, facts: UsageFacts, options: UsageBarOptions) -> Bar:
    """Return the bar for a chat."""
    return {
        "bufnr": bufnr,
        "name": NAME,
        "position": options.position,
        "group": options.highlight,
        "icon": ICON,
        "timeout": options.timeout,
        "segments": [
            {
                "items": [
                    {"text": facts.model, "priority": 110},
                    {
                        "text": f"({facts.provider})",
                        "priority": 10,
                        "group": "FlemmaUsageBarMuted",
                    },
                ]
            },
            {"items": _request_items(facts, options)},
            _session(facts, options),
        ],
    }


def _request_items(facts: UsageFacts, options: UsageBarOptions) -> list[BarItem]:
    usage = facts.usage
    items: list[BarItem] = []
    if options.pricing and facts.cost is not None:
        items.append({"text": format_money(facts.cost), "priority": 70})
    if (cache := _cache_item(facts)) is not None:
        items.append(cache)
    items.append({"text": f"{format_number(usage.total_input)}↑", "priority": 90})
    items.append({"text": f"{format_number(usage.output)}↓", "priority": 60})
    if usage.thinking:
        items.append({"text": f"{format_number(usage.thinking)}⁂", "priority": 50})
    return items


def _cache_item(facts: UsageFacts) -> BarItem | None:
    percent = cache_percent(facts.usage)
    if percent is None:
        return None
    if percent == 0 and facts.usage.total_input < facts.minimum_cacheable:
        return None
    group = "FlemmaUsageBarCacheGood" if percent > GOOD_CACHE else "FlemmaUsageBarCacheBad"
    return {"text": f"Cache {percent}%", "priority": 80, "group": group}


def _session(facts: UsageFacts, options: UsageBarOptions) -> BarSegment:
    group = "FlemmaUsageBarSecondary"
    items: list[BarItem] = []
    if options.pricing:
        items.append({"text": format_money(facts.session_cost), "priority": 100, "group": group})
    for text in (
        f"{format_number(facts.session_input)}↑",
        f"{format_number(facts.session_output)}↓",
    ):
        items.append({"text": text, "priority": 35, "group": group})
    return {"label": f"Σ{facts.session_requests}", "items": items}

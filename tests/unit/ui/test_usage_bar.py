from dataclasses import replace

from flemma.conversation.usage import Usage
from flemma.ui.payloads import Bar, BarItem
from flemma.ui.usage_bar import UsageBarOptions, UsageFacts, usage_bar

FACTS = UsageFacts(
    model="claude",
    provider="anthropic",
    usage=Usage(input=1000, cache_read=3000, output=1234, thinking=200),
    cost=0.125,
    session_requests=3,
    session_cost=1.5,
    session_input=90_000,
    session_output=5_000,
)


def items(bar: Bar) -> list[BarItem]:
    return [item for segment in bar.get("segments", []) for item in segment["items"]]


def texts(facts: UsageFacts, *, pricing: bool = True) -> list[str]:
    bar = usage_bar(1, facts, UsageBarOptions(pricing=pricing))
    return [item["text"] for item in items(bar)]


def test_the_bar_names_request_and_session() -> None:
    # Case 104.
    assert texts(FACTS) == [
        *("claude", "(anthropic)"),
        *("$0.125", "Cache 75%", "4,000↑", "1,234↓", "200⁂"),
        *("$1.50", "90,000↑", "5,000↓"),
    ]
    bar = usage_bar(1, FACTS, UsageBarOptions())
    assert [segment.get("label") for segment in bar.get("segments", [])] == [None, None, "Σ3"]


def test_what_is_dropped_first_has_the_lowest_priority() -> None:
    bar = usage_bar(1, FACTS, UsageBarOptions())
    assert [item["priority"] for item in items(bar)] == [110, 10, 70, 80, 90, 60, 50, 100, 35, 35]


def test_costs_can_be_hidden() -> None:
    assert [text for text in texts(FACTS, pricing=False) if "$" in text] == []


def test_an_unknown_cost_is_left_out() -> None:
    assert texts(replace(FACTS, cost=None))[2] == "Cache 75%"


def cache_items(facts: UsageFacts) -> list[BarItem]:
    bar = usage_bar(1, facts, UsageBarOptions())
    return [item for item in items(bar) if item["text"].startswith("Cache")]


def test_a_good_share_of_the_cache_has_another_colour_than_a_bad_one() -> None:
    half = replace(FACTS, usage=Usage(input=100, cache_read=100))
    assert [item.get("group") for item in cache_items(FACTS)] == ["FlemmaUsageBarCacheGood"]
    assert [item.get("group") for item in cache_items(half)] == ["FlemmaUsageBarCacheBad"]


def test_no_cache_is_no_news_below_the_size_that_can_be_cached() -> None:
    cold = replace(FACTS, usage=Usage(input=500), minimum_cacheable=1024)
    assert cache_items(cold) == []
    assert [i["text"] for i in cache_items(replace(cold, usage=Usage(input=2000)))] == ["Cache 0%"]
    assert cache_items(replace(FACTS, usage=Usage())) == []

"""Async tool sources as state."""

from flemma.tools.sources import Settled, Sources, begin, expire, finish, forget, wait


def two_loading() -> Sources:
    return begin(begin(Sources(), "a", now=0.0, timeout=30.0), "b", now=5.0, timeout=10.0)


def test_sends_wait_until_all_sources_are_done_and_go_once_each() -> None:
    sources = wait(wait(wait(two_loading(), 7), 3), 7)
    first = finish(sources, "a")
    assert first == Settled(Sources({"b": 15.0}, (7, 3)))
    assert finish(first.sources, "b") == Settled(Sources(), (), (7, 3))


def test_done_counts_once() -> None:
    settled = finish(two_loading(), "a", "no network")
    assert settled.warnings == ("Async tool source failed: no network",)
    assert finish(settled.sources, "a", "again") == Settled(settled.sources)


def test_a_source_that_never_ends_is_given_up_at_its_time() -> None:
    sources = wait(two_loading(), 1)
    assert sources.next_deadline == 15.0
    assert expire(sources, 14.9) == Settled(sources)
    early = expire(sources, 15.0)
    assert early.warnings == ("Async tool source failed: 'b' did not finish in time",)
    assert early.resume == ()
    late = expire(sources, 99.0)
    assert len(late.warnings) == 2
    assert late.resume == (1,)
    assert late.sources.ready


def test_nothing_waits_when_nothing_loads_or_the_buffer_is_gone() -> None:
    assert wait(Sources(), 1) == Sources()
    assert Sources().next_deadline is None
    sources = forget(wait(two_loading(), 1), 1)
    assert finish(finish(sources, "a").sources, "b").resume == ()

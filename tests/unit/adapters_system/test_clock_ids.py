"""Time and identifiers."""

import re

from flemma.adapters.clock import SystemClock
from flemma.adapters.ids import RandomIds


async def test_the_clock_has_a_time_zone_and_never_goes_back() -> None:
    clock = SystemClock()
    assert clock.now().utcoffset() is not None
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before


def test_identifiers_have_the_known_shapes() -> None:
    ids = RandomIds()
    assert re.fullmatch(r"job_[a-z0-9]{5}", ids.job_id())
    assert re.fullmatch(r"toolu_[a-z0-9]{24}", ids.tool_use_id())


def test_an_identifier_never_comes_twice() -> None:
    drawn = iter("aaaaaaaaaabbbbb")
    ids = RandomIds(lambda _: next(drawn))
    assert [ids.job_id(), ids.job_id()] == ["job_aaaaa", "job_bbbbb"]

"""Parts that are made at their first use."""

import pytest

from flemma.adapters.late import late


class Counter:
    def __init__(self) -> None:
        self.count = 0

    async def next(self) -> int:
        self.count += 1
        return self.count


async def test_a_late_part_is_made_once_and_at_its_first_use():
    made: list[Counter] = []

    def make() -> Counter:
        made.append(Counter())
        return made[-1]

    counter = late(make)
    assert made == []
    assert await counter.next() == 1
    assert await counter.next() == 2
    assert len(made) == 1


def test_what_a_late_part_does_not_have_is_missing():
    with pytest.raises(AttributeError, match="'Counter' object has no attribute 'nothing'"):
        _ = late(Counter).nothing


def test_a_late_part_that_cannot_be_made_is_tried_again():
    attempts: list[int] = []

    def make() -> Counter:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("not now")
        return Counter()

    counter = late(make)
    with pytest.raises(OSError, match="not now"):
        _ = counter.count
    assert counter.count == 0

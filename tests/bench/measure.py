"""What the benchmarks share: a measured value with its target, and how to time things."""

import statistics
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the table; both values in milliseconds, smaller is better."""

    what: str
    target: float
    measured: float

    @property
    def ratio(self) -> float:
        """Measured by target: above 1 is too slow."""
        return self.measured / self.target


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds that a block took."""

    elapsed: float = 0.0


@contextmanager
def stopwatch() -> Generator[Stopwatch]:
    """Time the block."""
    watch = Stopwatch()
    started = time.perf_counter()
    try:
        yield watch
    finally:
        watch.elapsed = (time.perf_counter() - started) * 1000


def median_of(times: int, measure: Callable[[], float]) -> float:
    """Measure several times and return the median."""
    return statistics.median(measure() for _ in range(times))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` (0 to 1) of ``values`` lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]

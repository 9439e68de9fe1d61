"""What the benchmarks share: a measured value with its target, and how to time things."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


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


def until(check: Callable[[], object], timeout: float = 60.0) -> None:
    """Wait for ``check`` to return something true, looking often, so that the time it took counts.

    Raises `AssertionError` after ``timeout`` seconds.
    """
    deadline = time.monotonic() + timeout
    while not check():
        assert time.monotonic() < deadline, "what is measured did not happen"
        time.sleep(0.001)


def cpu_time(process: int) -> float:
    """Return the milliseconds that the main thread of a process has computed so far (Linux)."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e6


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` (0 to 1) of ``values`` lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]

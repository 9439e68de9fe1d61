"""Measure Flemma in a real Neovim and write the result: ``python -m tests.bench.harness``.

Arguments are parts of measurement names; without any, all are made and docs/performance.md is
written.
"""

import sys

from tests.bench import editor_speed, run_speed
from tests.bench.measure import Measurement
from tests.bench.report import PAGE, table, write_page


def main() -> int:
    """Print the table as it grows; always 0, since a busy machine is no fault of the code."""
    wanted = sys.argv[1:]
    done: list[Measurement] = []
    for measure in (*editor_speed.ALL, *run_speed.ALL):
        if wanted and not any(part in measure.__name__ for part in wanted):
            continue
        print(f"... {measure.__name__}", file=sys.stderr, flush=True)
        done += measure()
    print(table(done))
    if not wanted:
        write_page(done)
        print(f"\nWrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

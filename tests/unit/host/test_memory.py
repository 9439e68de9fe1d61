"""Looking for garbage: not while the host starts, and never among what stays."""

import subprocess
import sys

PROGRAM = """
import gc
import flemma.host.__main__
from flemma.host import memory
assert not gc.isenabled(), "importing is faster without"
memory.settle()
assert gc.isenabled()
print(gc.get_freeze_count(), len(gc.get_objects()))
"""


def test_the_host_starts_without_collections_and_then_leaves_alone_what_is_loaded():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    frozen, watched = map(int, run.stdout.split())
    assert frozen > 10_000
    assert watched < 1000

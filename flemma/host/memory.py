"""How the process looks for garbage: not while it starts, and never among what stays."""

import gc

YOUNG, MIDDLE, OLD = 10_000, 20, 50
"""Thresholds of the generations: parsing a large chat makes many objects that are all needed."""


def settle() -> None:
    """Collect once, keep what is left out of all collections to come, and collect from now on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.enable()

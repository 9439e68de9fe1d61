"""Sizes and counts as a model or a user reads them."""

_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB"))


def format_size(size: int) -> str:
    """Return ``size`` bytes in binary units: ``1023B``, ``1.5KB``, ``50.0MB`` (behaviour 5.1)."""
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f}{unit}"
    return f"{size}B"


def counted(number: float, noun: str) -> str:
    """Return ``1 line``, ``2 lines`` or ``1.5 seconds``."""
    return f"{number:g} {noun}" if number == 1 else f"{_plain(number)} {noun}s"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)

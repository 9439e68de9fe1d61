"""Numbers, tokens, money and times as the user reads them (spec: behaviour 11.7)."""

from decimal import ROUND_HALF_UP, Decimal


def format_number(value: int) -> str:
    """Return ``20,449``."""
    return f"{value:,}"


def format_tokens(value: int) -> str:
    """Return ``3,999``, ``4K``, ``4.5K``, ``1M``, ``1.2M``: one decimal, dropped when zero."""
    if value < 4000:
        return format_number(value)
    # Rounding must not give "1000K".
    if value < 999_950:
        return _scaled(value, 1000) + "K"
    return _scaled(value, 1_000_000) + "M"


def _scaled(value: int, unit: int) -> str:
    rounded = (Decimal(value) / unit).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{rounded:,}".removesuffix(".0")


def format_money(dollars: float) -> str:
    """Return ``$0``, ``$3``, ``$1.50``, ``$0.125``, ``$0.02``, ``$0.0042``.

    Two decimals from a dollar on, three from a cent on, four below; zeros beyond the second decimal
    are dropped.
    """
    if dollars == 0:
        return "$0"
    if dollars < 0:
        return "-" + format_money(-dollars)
    if dollars == int(dollars):
        return f"${int(dollars):,}"
    if dollars >= 1:
        return f"${dollars:,.2f}"
    digits = f"{dollars:.3f}" if dollars >= 0.01 else f"{dollars:.4f}"
    whole, _, decimals = digits.partition(".")
    return f"${whole}.{decimals[:2]}{decimals[2:].rstrip('0')}"


def format_elapsed(seconds: float) -> str:
    """Return ``3s`` or ``1m 3s``; hours from sixty minutes on, ``1h 2m 3s``."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m {rest}s"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"

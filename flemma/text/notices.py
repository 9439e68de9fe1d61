"""Notices that say what was left out and where it is (behaviour 5.5)."""

from flemma.text.sizes import format_size
from flemma.text.truncate import MAX_BYTES, Direction, Truncation

_LIMIT = f"{format_size(MAX_BYTES)} limit"


def overflow_notice(truncation: Truncation, direction: Direction, full_output: str | None) -> str:
    """Return the bracketed notice for a truncated output.

    ``full_output`` is the path of the whole output; None (it could not be written) leaves that
    part out. The limit shown is the standard one even where another was given.
    """
    where = f". Full output: {full_output}]" if full_output else "]"
    return f"[{_what_is_shown(truncation, direction)}{where}"


def with_notice(content: str, notice: str) -> str:
    """Put ``notice`` below ``content`` with a blank line between; without content, alone."""
    return f"{content}\n\n{notice}" if content else notice


def _what_is_shown(truncation: Truncation, direction: Direction) -> str:
    if truncation.first_line_exceeds_limit:
        size = format_size(truncation.total_bytes)
        return f"Output too large: {size} in a single line, exceeds {_LIMIT}"
    if truncation.last_line_partial:
        size = format_size(truncation.output_bytes)
        return f"Showing last {size} of line {truncation.total_lines}"
    total = truncation.total_lines
    first = total - truncation.output_lines + 1 if direction == "tail" else 1
    last = total if direction == "tail" else truncation.output_lines
    limit = f" ({_LIMIT})" if truncation.truncated_by == "bytes" else ""
    return f"Showing lines {first}-{last} of {total}{limit}"

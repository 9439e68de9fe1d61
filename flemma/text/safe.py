"""Text that is safe to encode: no surrogates (cases B-14, B-15)."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Join split surrogate pairs and put U+FFFD for every surrogate that stays alone.

    Halves come from JSON escapes and from undecodable bytes kept by ``surrogateescape``; left in,
    they make every later request body invalid.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def byte_length(text: str) -> int:
    """Return the length in UTF-8 bytes (three for a lone surrogate)."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def first_bytes(text: str, limit: int) -> str:
    """Return the longest beginning of at most ``limit`` UTF-8 bytes, whole code points only."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    end = max(0, limit)
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


def last_bytes(text: str, limit: int) -> str:
    """Return the longest ending of at most ``limit`` UTF-8 bytes, whole code points only."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    return data[start_of_code_point(data, len(data) - max(0, limit)) :].decode(
        "utf-8", "surrogatepass"
    )


def start_of_code_point(data: bytes, position: int) -> int:
    """Return the first start of a code point at or after ``position`` in UTF-8 ``data``."""
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position

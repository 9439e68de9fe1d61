"""What an image or PDF really is, from its first bytes (case B-16)."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """Type and size in pixels; the size is None when the header is not understood."""

    mime: str
    size: tuple[int, int] | None


def image_facts(data: bytes) -> ImageFacts | None:
    """Recognise PNG, JPEG, GIF and WebP; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageFacts("image/png", _unpack(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return ImageFacts("image/gif", _unpack("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return ImageFacts("image/jpeg", _jpeg_size(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return ImageFacts("image/webp", _webp_size(data))
    return None


def _unpack(layout: str, data: bytes, offset: int) -> tuple[int, int] | None:
    try:
        first, second = struct.unpack_from(layout, data, offset)
    except struct.error:
        return None
    return first, second


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    for marker, offset in _jpeg_segments(data):
        # Start of frame, but not the Huffman, arithmetic and JPEG-extension tables among them.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            found = _unpack(">HH", data, offset + 3)
            return (found[1], found[0]) if found else None
    return None


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield each marker with the offset of its length field."""
    offset = 2
    while offset + 4 <= len(data) and data[offset] == 0xFF:
        marker = data[offset + 1]
        if marker == 0xFF:
            offset += 1
            continue
        yield marker, offset + 2
        offset += 2 + int.from_bytes(data[offset + 2 : offset + 4], "big")


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width, height = data[24:27], data[27:30]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        found = _unpack("<HH", data, 26)
        return (found[0] & 0x3FFF, found[1] & 0x3FFF) if found else None
    return None


_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_COUNT = re.compile(rb"/Type\s*/Pages\b[^>]*?/Count\s+(\d+)|/Count\s+(\d+)[^>]*?/Type\s*/Pages\b")


def pdf_pages(data: bytes) -> int | None:
    """Return the number of pages as far as it can be read without unpacking, else None."""
    counts = [int(first or second) for first, second in _COUNT.findall(data)]
    pages = max([*counts, len(_PAGE.findall(data))])
    return pages or None

"""The encoding of a file, found out from its bytes, and back again without loss (case E-04).

An encoding is taken only if decoding and encoding again gives the same bytes, so that an edit
leaves every byte outside of it as it was.
"""

import codecs
import re
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Encodings of several bytes accept much that is none of theirs. Characters that make up a good
# share of any real text in the language are the evidence: (codec, characters, share of the
# non-ASCII ones).
_EAST_ASIAN = (
    ("cp932", re.compile("[\u3041-\u30ff]"), 0.2),
    ("euc_jp", re.compile("[\u3041-\u30ff]"), 0.2),
    ("euc_kr", re.compile("[\uac00-\ud7a3]"), 0.8),
    ("gb18030", re.compile("[的一是不了在有我他这，。、：]"), 0.08),
    ("big5", re.compile("[的一是不了在有我他這，。、：]"), 0.08),
)

_EDITOR_NAMES = {
    "ucs-2": "utf-16-be",
    "ucs-2be": "utf-16-be",
    "ucs-2le": "utf-16-le",
    "utf-16": "utf-16-be",
    "ucs-4": "utf-32-be",
    "ucs-4be": "utf-32-be",
    "ucs-4le": "utf-32-le",
    "euc-cn": "gb2312",
    "euc-tw": "big5",
}
"""Encodings that Vim calls by another name than Python does."""

_CONTROL = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f]")
_NON_ASCII = re.compile("[^\x00-\x7f]")
_SAMPLE = 65536


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """A codec of Python and the byte order mark in front of the text."""

    codec: str = "utf-8"
    bom: bytes = b""

    @property
    def is_plain_utf8(self) -> bool:
        """Whether this is UTF-8 without a mark."""
        return self.codec == "utf-8" and not self.bom

    def encode(self, text: str) -> bytes:
        """Encode with the mark. Raises ``UnicodeEncodeError``, never writes a substitute."""
        return self.bom + text.encode(self.codec)


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text, line endings untouched, and what it was encoded in."""

    text: str
    encoding: TextEncoding


def editor_encoding(name: str, *, bom: bool) -> TextEncoding:
    """Return what Vim calls ``name`` in 'fileencoding'; UTF-8 for one that Python does not know."""
    plain = name.removeprefix("8bit-").removeprefix("2byte-")
    codec = _EDITOR_NAMES.get(plain, plain or "utf-8")
    try:
        known = codecs.lookup(codec).name
    except LookupError:
        known = "utf-8"
    mark = next((mark for mark, codec in _BOMS if codec == known), b"") if bom else b""
    return TextEncoding(known, mark)


def decode(data: bytes) -> DecodedText | None:
    """Decode the bytes of a file, or return None if they are not text.

    Tried: byte order marks, UTF-8, UTF-16 without a mark, East Asian encodings on good evidence,
    Windows-1252, Latin-1. What holds NUL bytes beyond a stray one is not text.
    """
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return _strictly(data[len(bom) :], codec, bom)
    if _many_nuls(data):
        return _decode_utf16(data)
    decoded = _strictly(data, "utf-8")
    if decoded:
        return decoded
    if b"\0" in data or _many_controls(data):
        return None
    return _decode_east_asian(data) or _strictly(data, "cp1252") or _strictly(data, "latin-1")


def _strictly(data: bytes, codec: str, bom: bytes = b"") -> DecodedText | None:
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    if codec != "utf-8" and text.encode(codec, "replace") != data:
        return None
    return DecodedText(text, TextEncoding(codec, bom))


def _many_nuls(data: bytes) -> bool:
    sample = data[:_SAMPLE]
    return sample.count(0) * 100 > len(sample)


def _many_controls(data: bytes) -> bool:
    """Whether bytes that no text has in numbers make up more than a fiftieth."""
    sample = data[:_SAMPLE]
    plain = bytes(byte for byte in range(256) if byte >= 0x20 or byte in b"\t\n\r\f\b\x1b")
    return len(sample.translate(None, plain)) * 50 > len(sample)


def _decode_utf16(data: bytes) -> DecodedText | None:
    """UTF-16 of mostly ASCII text has its NULs at every other byte."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if min(even, odd) * 10 > max(even, odd) or max(even, odd) * 4 < len(sample) // 2:
        return None
    decoded = _strictly(data, "utf-16-le" if odd > even else "utf-16-be")
    return None if decoded is None or _CONTROL.search(decoded.text) else decoded


def _decode_east_asian(data: bytes) -> DecodedText | None:
    for codec, typical, share in _EAST_ASIAN:
        decoded = _strictly(data, codec)
        if decoded is None:
            continue
        foreign = len(_NON_ASCII.findall(decoded.text))
        if foreign and len(typical.findall(decoded.text)) >= share * foreign:
            return decoded
    return None

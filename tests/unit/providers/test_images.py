"""Recognising images and PDFs by their bytes (case B-16)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.providers.images import ImageFacts, image_facts, pdf_pages

JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04ab"
    b"\xff\xff\xc0\x00\x0b\x08"
    + (300).to_bytes(2, "big")
    + (400).to_bytes(2, "big")
    + b"\x01\0\0\0"
)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (b"GIF89a" + b"\x0a\x00\x14\x00", ImageFacts("image/gif", (10, 20))),
        (JPEG, ImageFacts("image/jpeg", (400, 300))),
        (b"\xff\xd8\xff\xd9", ImageFacts("image/jpeg", None)),
        (b"\x89PNG\r\n\x1a\n", ImageFacts("image/png", None)),
        (
            b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x1f\0\0\x0f\0\0",
            ImageFacts("image/webp", (32, 16)),
        ),
        (
            b"RIFF\0\0\0\0WEBPVP8L" + b"\0" * 5 + (31 | 15 << 14).to_bytes(4, "little"),
            ImageFacts("image/webp", (32, 16)),
        ),
        (
            b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + b"\x20\0\x10\0",
            ImageFacts("image/webp", (32, 16)),
        ),
        (b"<svg/>", None),
    ],
)
def test_type_and_size_are_read_from_the_header(data: bytes, facts: ImageFacts | None) -> None:
    assert image_facts(data) == facts


@given(
    st.sampled_from([JPEG[:3], b"GIF89a", b"\x89PNG\r\n\x1a\n", b"RIFF0000WEBPVP8 "]), st.binary()
)
def test_no_bytes_make_it_fail(head: bytes, rest: bytes) -> None:
    facts = image_facts(head + rest)
    assert facts is not None
    assert facts.mime.startswith("image/")


@pytest.mark.parametrize(
    ("data", "pages"),
    [
        (b"<</Type /Page>> <</Type/Page >>", 2),
        (b"<</Type /Pages /Count 12>> <</Type /Page>>", 12),
        (b"<</Count 7 /Type /Pages>>", 7),
        (b"compressed", None),
    ],
)
def test_pages_are_counted_as_far_as_they_can_be_read(data: bytes, pages: int | None) -> None:
    assert pdf_pages(data) == pages

"""Files that are not text: their type, and whether a model can be given them."""

import mimetypes
import re

from flemma.text.sizes import format_size

UNKNOWN = "application/octet-stream"

# What providers take for one attachment: 5 MiB of base64 for an image; a request of 32 MB and 100
# pages for a PDF. One that is too large would make every later request of the chat fail (B-16).
_LARGEST_IMAGE = 5 * 1024 * 1024 * 3 // 4
_LARGEST_PDF = 20 * 1024 * 1024
_MOST_PAGES = 100

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


def media_type(head: bytes, path: str) -> str:
    """Return the MIME type of binary data: by its content, else by the name of the file."""
    return _by_content(head, path) or mimetypes.guess_type(path)[0] or UNKNOWN


def attachment_problem(mime: str, data: bytes, size: int, path: str) -> str | None:
    """Return why a model cannot be given the file, None if it can."""
    if mime.startswith("image/") and size > _LARGEST_IMAGE:
        return _too_large("Image", path, size, _LARGEST_IMAGE)
    if mime != "application/pdf":
        return None
    if size > _LARGEST_PDF:
        return _too_large("PDF", path, size, _LARGEST_PDF)
    pages = len(_PAGE.findall(data))
    if pages > _MOST_PAGES:
        return (
            f"PDF has too many pages: {path} has {pages}, at most {_MOST_PAGES} can be attached. "
            "Use bash to extract the text or some of the pages."
        )
    return None


def _too_large(kind: str, path: str, size: int, limit: int) -> str:
    return (
        f"{kind} is too large: {path} has {format_size(size)}, at most {format_size(limit)} can be "
        "attached. Use bash to make a smaller copy."
    )


def _by_content(head: bytes, path: str) -> str | None:
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    import puremagic  # its tables cost more than most tools need

    try:
        return puremagic.from_string(head[:4096], mime=True, filename=path) or None  # pyright: ignore[reportUnknownMemberType]
    except (puremagic.PureError, ValueError):
        return None

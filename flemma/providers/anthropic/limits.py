"""What the API is known to refuse, found before sending and blamed by name (B-16, B-17)."""

from collections.abc import Iterator

from flemma.conversation.messages import (
    ContentPart,
    Conversation,
    DocumentPart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.errors import ErrorKind, ProviderError
from flemma.models.catalogue import Model
from flemma.providers.images import image_facts, pdf_pages
from flemma.providers.largest import base64_length, largest_items
from flemma.text.sizes import format_size

MAX_BODY = 32 * 1024 * 1024
MAX_IMAGE = 5 * 1024 * 1024
"""Bytes of one image in base64, which is what the service counts."""
MAX_PIXELS = 8000
"""Per side."""
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
DEFAULT_PDF_PAGES = 100


def check_attachments(conversation: Conversation, model: Model) -> None:
    """Raise :class:`ProviderError` naming every image and PDF that would be refused."""
    problems = tuple(dict.fromkeys(_problems(conversation, model)))
    if problems:
        raise ProviderError(
            "Some attachments would be refused. Remove them, or make them smaller, and send again.",
            kind=ErrorKind.INVALID_REQUEST,
            details=problems,
        )


def _problems(conversation: Conversation, model: Model) -> Iterator[str]:
    pages_allowed = model.pdf_pages or DEFAULT_PDF_PAGES
    for part in _content(conversation):
        match part:
            case ImagePart():
                yield from _image_problems(part)
            case DocumentPart():
                yield from _document_problems(part, pages_allowed)
            case TextPart():
                continue


def _content(conversation: Conversation) -> Iterator[ContentPart]:
    for message in conversation.messages:
        for part in message.parts:
            match part:
                case ToolResultPart():
                    yield from part.content
                case ThinkingPart() | ToolUsePart():
                    continue
                case _:
                    yield part


def _image_problems(image: ImagePart) -> Iterator[str]:
    facts = image_facts(image.data)
    if facts is None and image.mime not in IMAGE_TYPES:
        yield f"{image.name}: {image.mime} is not supported (use PNG, JPEG, GIF or WebP)"
        return
    encoded = base64_length(len(image.data))
    if encoded > MAX_IMAGE:
        yield (
            f"{image.name}: the image is {format_size(len(image.data))} "
            f"({format_size(encoded)} encoded); the limit is {format_size(MAX_IMAGE)} encoded"
        )
    if facts is not None and facts.size is not None and max(facts.size) > MAX_PIXELS:
        width, height = facts.size
        yield (
            f"{image.name}: the image has {width}x{height} pixels; "
            f"the limit is {MAX_PIXELS} per side"
        )
    if not image.data:
        yield f"{image.name}: the image is empty"


def _document_problems(document: DocumentPart, pages_allowed: int) -> Iterator[str]:
    if not document.data:
        yield f"{document.name}: the document is empty"
        return
    pages = pdf_pages(document.data)
    if pages is not None and pages > pages_allowed:
        yield f"{document.name}: the document has {pages} pages; the limit is {pages_allowed}"
    if base64_length(len(document.data)) > MAX_BODY:
        yield (
            f"{document.name}: the document is {format_size(len(document.data))}; "
            f"a whole request may have {format_size(MAX_BODY)} encoded"
        )


def check_size(body: bytes, conversation: Conversation) -> None:
    """Raise :class:`ProviderError` naming the largest items when the request is too large."""
    if len(body) <= MAX_BODY:
        return
    raise ProviderError(
        f"The request is {format_size(len(body))}; the limit is {format_size(MAX_BODY)}. "
        "Remove some of the largest items and send again.",
        kind=ErrorKind.TOO_LARGE,
        details=largest_items(conversation),
    )

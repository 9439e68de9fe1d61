"""Results, attachments and headers of requests (cases B-16, B-17, S-21)."""

from dataclasses import replace

import pytest

from flemma.conversation.messages import (
    Conversation,
    DocumentPart,
    ImagePart,
    TextPart,
    ToolResultPart,
)
from flemma.errors import ErrorKind, ProviderError
from flemma.providers.largest import largest_items
from tests.unit.providers.conversations import (
    PARAMETERS,
    PNG,
    assistant,
    build,
    call,
    result,
    user,
    wire,
)


def test_a_text_result_is_a_string_and_an_empty_one_says_so() -> None:
    empty = ToolResultPart("b", ())
    messages = wire(user("x"), assistant(call("a"), call("b")), user(result("a", "1"), empty))
    assert [block["content"] for block in messages[2]["content"]] == ["1", "(no output)"]
    assert all("is_error" not in block for block in messages[2]["content"])


def test_a_result_with_an_image_is_a_list_of_blocks() -> None:
    part = ToolResultPart(
        "a", (TextPart("seen: "), TextPart(" "), ImagePart("image/png", PNG, "p"))
    )
    (sent,) = wire(user("x"), assistant(call("a")), user(part))[2]["content"]
    assert [block["type"] for block in sent["content"]] == ["text", "image"]


def test_an_error_result_holds_text_only() -> None:
    parts = (TextPart("boom "), ImagePart("image/png", PNG, "shot.png"))
    part = ToolResultPart("a", parts, is_error=True)
    (sent,) = wire(user("x"), assistant(call("a")), user(part))[2]["content"]
    assert (sent["content"], sent["is_error"]) == ("boom [shot.png]", True)


def test_the_media_type_follows_the_bytes_not_the_name() -> None:
    image = wire(user("x", ImagePart("image/jpeg", PNG, "photo.jpg")))[0]["content"][1]
    assert image["source"]["media_type"] == "image/png"


def test_a_pdf_has_its_base_name_as_title() -> None:
    document = wire(user("x", DocumentPart("application/pdf", b"%PDF-1.4", "/tmp/a b.pdf")))[0]
    assert document["content"][1]["title"] == "a b.pdf"


def big_png(width: int, height: int, size: int = 0) -> bytes:
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR"
    return head + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\0" * size


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        (
            ImagePart("image/png", big_png(10, 10, 4_200_000), "huge.png"),
            "huge.png: the image is 4.0MB",
        ),
        (ImagePart("image/png", big_png(9000, 10), "wide.png"), "wide.png: the image has 9000x10"),
        (ImagePart("image/svg+xml", b"<svg/>", "a.svg"), "a.svg: image/svg+xml is not supported"),
        (ImagePart("image/png", b"", "empty.png"), "empty.png: the image is empty"),
        (
            DocumentPart("application/pdf", b"%PDF" + b"<</Type /Page>>" * 101, "book.pdf"),
            "book.pdf: the document has 101 pages; the limit is 100",
        ),
        (
            DocumentPart("application/pdf", b"<</Type/Pages /Kids [] /Count 640>>", "t.pdf"),
            "t.pdf: the document has 640 pages",
        ),
    ],
)
def test_what_would_be_refused_is_blamed_by_name_before_sending(
    part: ImagePart | DocumentPart, complaint: str
) -> None:  # B-16
    wrapped = ToolResultPart("a", (part,))
    for message in ((user("see", part),), (user("x"), assistant(call("a")), user(wrapped))):
        with pytest.raises(ProviderError, match="attachments would be refused") as caught:
            build(*message)
        assert caught.value.details[0].startswith(complaint)
    assert wire(user("see"))


def test_the_users_word_about_a_model_beats_the_catalogue() -> None:  # S-21
    declared = {"models": {"claude-sonnet-4-6": {"pdf_pages": 600}}}
    parameters = replace(PARAMETERS, specific=declared)
    document = DocumentPart("application/pdf", b"<</Type /Page>>" * 101, "book.pdf")
    assert wire(user("see", document), parameters=parameters)


def test_a_request_that_is_too_large_names_its_largest_items() -> None:  # B-17
    parts = (result("a", "x" * 20_000_000), result("b", "y" * 14_000_000), "please")
    with pytest.raises(ProviderError) as caught:
        build(user("go"), assistant(call("a"), call("b")), user(*parts))
    assert caught.value.kind is ErrorKind.TOO_LARGE
    assert caught.value.details[:2] == (
        "result of tool call a: 19.1MB",
        "result of tool call b: 13.4MB",
    )


def test_the_largest_items_are_named_shortly() -> None:
    conversation = Conversation(None, (user("hello", ImagePart("image/png", PNG, "a.png")),))
    assert largest_items(conversation) == ("a.png: 32B", "text of message 1 (user): 5B")


def test_the_key_goes_into_its_own_header() -> None:
    request = build(user("hi"))
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert request.headers["x-api-key"] == "key"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.secret_headers >= {"x-api-key", "authorization"}


@pytest.mark.parametrize(
    ("environment", "secret"),
    [({"ANTHROPIC_AUTH_TOKEN": "token"}, "token"), ({}, "sk-ant-oat01-abc")],
)
def test_a_token_goes_as_bearer(environment: dict[str, str], secret: str) -> None:
    request = build(user("hi"), environment=environment, secret=secret)
    assert request.headers["authorization"] == f"Bearer {secret}"
    assert "x-api-key" not in request.headers


def test_a_key_wins_over_a_token() -> None:
    environment = {"ANTHROPIC_API_KEY": "same", "ANTHROPIC_AUTH_TOKEN": "same"}
    assert build(user("hi"), environment=environment, secret="same").headers["x-api-key"] == "same"


def test_the_environment_gives_address_and_headers() -> None:
    environment = {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1/",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: birds\nanthropic-beta: one\nbroken line",
    }
    parameters = replace(PARAMETERS, specific={"betas": ["two", "one"]})
    request = build(user("hi"), parameters=parameters, environment=environment)
    assert request.url == "http://127.0.0.1:9/v1/messages"
    assert request.headers["x-team"] == "birds"
    assert request.headers["anthropic-beta"] == "one,two"
    assert "x-team" in request.secret_headers

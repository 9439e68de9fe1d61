"""Classification of errors (spec: providers 0.2, 0.3, 1.7; cases S-06, B-08, B-17)."""

import json
from typing import Any

import pytest

from flemma.errors import ErrorKind, ProviderError
from flemma.providers.anthropic.provider import AnthropicProvider
from flemma.providers.failures import (
    error_text,
    is_context_overflow,
    reported_error,
    retry_after,
    unexpected_response,
)


def classified(
    status: int, body: "str | dict[str, Any]", headers: dict[str, str] | None = None
) -> ProviderError:
    text = body if isinstance(body, str) else json.dumps(body)
    return AnthropicProvider().error(status, headers or {}, text.encode())


def api(type: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type, "message": message}, "request_id": "req_b"}


@pytest.mark.parametrize(
    ("status", "type", "kind", "retryable"),
    [
        (400, "invalid_request_error", ErrorKind.INVALID_REQUEST, False),
        (401, "authentication_error", ErrorKind.AUTHENTICATION, False),
        (402, "billing_error", ErrorKind.INVALID_REQUEST, False),
        (403, "permission_error", ErrorKind.INVALID_REQUEST, False),
        (404, "not_found_error", ErrorKind.INVALID_REQUEST, False),
        (409, "conflict_error", ErrorKind.SERVER, True),
        (413, "request_too_large", ErrorKind.TOO_LARGE, False),
        (429, "rate_limit_error", ErrorKind.RATE_LIMIT, True),
        (500, "api_error", ErrorKind.SERVER, True),
        (504, "timeout_error", ErrorKind.TIMEOUT, True),
        (529, "overloaded_error", ErrorKind.OVERLOADED, True),
    ],
)
@pytest.mark.parametrize("with_body", [True, False])
def test_each_status_has_its_kind(
    status: int, type: str, kind: ErrorKind, retryable: bool, with_body: bool
) -> None:
    error = classified(status, api(type, "words") if with_body else "")
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert error.message == (f"{type} — words" if with_body else error.message)
    assert str(status) in error.message or with_body


OVERFLOW = "prompt is too long: 210000 tokens > 200000 maximum"


@pytest.mark.parametrize(
    ("status", "type", "message", "kind"),
    [
        (400, "invalid_request_error", OVERFLOW, ErrorKind.CONTEXT_OVERFLOW),
        (413, "request_too_large", OVERFLOW, ErrorKind.CONTEXT_OVERFLOW),
        (429, "rate_limit_error", OVERFLOW, ErrorKind.RATE_LIMIT),
        (429, "rate_limit_error", "too many tokens per minute", ErrorKind.RATE_LIMIT),
        (400, "invalid_request_error", "rate limit: too many tokens", ErrorKind.INVALID_REQUEST),
        (529, "overloaded_error", "maximum context length", ErrorKind.OVERLOADED),
    ],
)
def test_a_rate_limit_is_never_taken_for_an_overflow(
    status: int, type: str, message: str, kind: ErrorKind
) -> None:  # S-06
    assert classified(status, api(type, message)).kind is kind


@pytest.mark.parametrize(
    "message",
    [
        "Input token count (5) exceeds the maximum number of tokens",
        "context_length_exceeded",
        "This exceeds the context window",
        "token limit exceeded",
    ],
)
def test_overflows_are_known_by_their_words(message: str) -> None:
    assert is_context_overflow(message)


@pytest.mark.parametrize(
    "message",
    [
        "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
        "different conversation.",
        "messages.1.content.0: Invalid signature in thinking block",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified.",
    ],
)
def test_signature_trouble_is_a_kind_of_its_own(message: str) -> None:  # B-08
    error = classified(400, api("invalid_request_error", message))
    assert error.kind is ErrorKind.SIGNATURE_MISMATCH


def test_rate_limit_headers_are_listed_and_the_wait_is_read() -> None:
    headers = {
        "retry-after": "7",
        "anthropic-ratelimit-requests-remaining": "0",
        "date": "x",
        "request-id": "req_h",
    }
    error = classified(429, api("rate_limit_error", "slow"), headers)
    assert error.details == ("anthropic-ratelimit-requests-remaining: 0", "retry-after: 7")
    assert (error.retry_after, error.request_id) == (7.0, "req_h")
    assert error_text(error) == (
        "rate_limit_error — slow\n\nanthropic-ratelimit-requests-remaining: 0\nretry-after: 7\n"
        "Try again in a moment."
    )


def test_the_request_id_of_the_body_is_used_when_there_is_no_header() -> None:
    assert classified(500, api("api_error", "x")).request_id == "req_b"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "0.5"}, 0.5),
        (
            {
                "retry-after": "Tue, 01 Dec 2026 10:00:30 GMT",
                "date": "Tue, 01 Dec 2026 10:00:00 GMT",
            },
            30.0,
        ),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(("word", "expected"), [("true", True), ("false", False), ("maybe", True)])
def test_the_server_decides_about_retries(word: str, expected: bool) -> None:
    error = classified(529, api("overloaded_error", "x"), {"x-should-retry": word})
    assert error.retryable is expected
    assert classified(400, "{}", {"x-should-retry": "true"}).retryable


def test_an_html_page_is_shown_short_with_its_status() -> None:
    error = classified(502, "<html>\n<h1>502 Bad Gateway</h1>" + "é" * 400)
    assert error.message.startswith("Unexpected API response: <html> <h1>502 Bad Gateway</h1>é")
    assert error.message.endswith("é...")
    assert error.details == ("HTTP 502 Bad Gateway",)
    assert (error.kind, error.retryable) == (ErrorKind.SERVER, True)


def test_an_html_page_for_413_is_too_large() -> None:  # B-17
    assert classified(413, "<html>413</html>").kind is ErrorKind.TOO_LARGE


def test_a_short_body_is_not_cut() -> None:
    assert unexpected_response("a\n b") == "Unexpected API response: a b"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "plain"}, "plain"),
        ({"object": "error", "message": "old"}, "old"),
        ({"detail": "proxy"}, "proxy"),
        ([{"error": {"message": "listed"}}], "listed"),
        ({"errors": [{"message": "first"}]}, "first"),
        ({"error": {"code": 3}}, '{"code": 3}'),
    ],
)
def test_errors_are_found_in_every_shape(body: object, message: str) -> None:
    found = reported_error(body)
    assert found is not None
    assert found.message == message


@pytest.mark.parametrize("body", [None, [], {}, 3, "x", {"message": ""}])
def test_what_is_no_error_is_not_taken_for_one(body: object) -> None:
    assert reported_error(body) is None


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (
            ErrorKind.CONTEXT_OVERFLOW,
            "Your conversation is too long for this model. Remove earlier messages or start a new "
            "conversation.",
        ),
        (
            ErrorKind.AUTHENTICATION,
            "Authentication expired. Send again to generate a fresh token.",
        ),
    ],
)
def test_the_user_is_told_the_way_out(kind: ErrorKind, advice: str) -> None:
    assert error_text(ProviderError("What.", kind=kind)) == f"What.\n\n{advice}"
    assert error_text(ProviderError("What.", kind=ErrorKind.SERVER)) == "What."

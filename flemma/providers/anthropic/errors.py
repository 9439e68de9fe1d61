"""Anthropic's errors, by status, type and text (spec: providers 1.7)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from flemma.errors import ErrorKind, ProviderError
from flemma.providers.failures import (
    Reported,
    is_context_overflow,
    parse_json,
    rate_limit_lines,
    reported_error,
    retry_after,
    should_retry,
    unexpected_response,
)

_KIND_OF_TYPE = {
    "invalid_request_error": ErrorKind.INVALID_REQUEST,
    "authentication_error": ErrorKind.AUTHENTICATION,
    "billing_error": ErrorKind.INVALID_REQUEST,
    "permission_error": ErrorKind.INVALID_REQUEST,
    "not_found_error": ErrorKind.INVALID_REQUEST,
    "conflict_error": ErrorKind.SERVER,
    "request_too_large": ErrorKind.TOO_LARGE,
    "rate_limit_error": ErrorKind.RATE_LIMIT,
    "api_error": ErrorKind.SERVER,
    "timeout_error": ErrorKind.TIMEOUT,
    "overloaded_error": ErrorKind.OVERLOADED,
}
_KIND_OF_STATUS = {
    400: ErrorKind.INVALID_REQUEST,
    401: ErrorKind.AUTHENTICATION,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.SERVER,
    413: ErrorKind.TOO_LARGE,
    429: ErrorKind.RATE_LIMIT,
    504: ErrorKind.TIMEOUT,
    529: ErrorKind.OVERLOADED,
}
_RETRYABLE = frozenset(
    {ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.SERVER, ErrorKind.TIMEOUT}
)
_SIGNATURE = re.compile(
    r"bound to a different conversation|invalid signature in thinking block"
    r"|thinking or redacted_thinking blocks in the latest assistant message cannot be modified",
    re.IGNORECASE,
)


def classify_response(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Make the error of a response that is not 2xx. Header names are in lower case."""
    text = body.decode("utf-8", "replace")
    found = reported_error(parse_json(text))
    if found is not None:
        return classify(found, Context(status, headers))
    kind = _kind_of_status(status)
    message = unexpected_response(text) if text.strip() else f"{_phrase(status)}, without a body"
    return _error(message, kind, Context(status, headers), details=(_phrase(status),))


@dataclass(frozen=True, slots=True)
class Context:
    """Where an error came from: ``status`` is None for one inside a stream."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def classify(found: Reported, context: Context | None = None) -> ProviderError:
    """Make the error that a body, or an event of a stream, reports."""
    where = context or Context()
    return _error(found.text, _kind(found, where.status), where, request_id=found.request_id)


def _kind(found: Reported, status: int | None) -> ErrorKind:
    kind = _KIND_OF_TYPE.get(found.type or "")
    if kind is None and status is not None:
        kind = _kind_of_status(status)
    if kind in (None, ErrorKind.INVALID_REQUEST, ErrorKind.TOO_LARGE):
        if _SIGNATURE.search(found.message.replace("`", "")):
            return ErrorKind.SIGNATURE_MISMATCH
        if is_context_overflow(found.message):
            return ErrorKind.CONTEXT_OVERFLOW
    return kind or ErrorKind.SERVER


def _kind_of_status(status: int) -> ErrorKind:
    known = _KIND_OF_STATUS.get(status)
    if known is not None:
        return known
    return ErrorKind.SERVER if status >= 500 else ErrorKind.INVALID_REQUEST


def _error(
    message: str,
    kind: ErrorKind,
    context: Context,
    *,
    request_id: str | None = None,
    details: tuple[str, ...] = (),
) -> ProviderError:
    limited = kind in (ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED)
    return ProviderError(
        message,
        kind=kind,
        retryable=should_retry(context.headers, kind in _RETRYABLE),
        status=context.status,
        retry_after=retry_after(context.headers),
        request_id=context.headers.get("request-id") or request_id,
        details=(*details, *(rate_limit_lines(context.headers) if limited else ())),
    )


def _phrase(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"

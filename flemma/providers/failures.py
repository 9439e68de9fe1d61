"""What all providers' failures have in common: reading bodies and headers, words for the user.

Spec: providers 0.2 and 0.3, behaviour 2.7 and 11.1; cases S-06, S-17.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, cast

from flemma.errors import ErrorKind, ProviderError
from flemma.text.safe import byte_length, first_bytes

SNIPPET_BYTES = 300

CONTEXT_OVERFLOW = re.compile(
    r"prompt is too long|exceeds? the context window|maximum context length"
    r"|input token count.*exceeds the maximum|context[_ ]length[_ ]exceeded|too many tokens"
    r"|token limit exceeded",
    re.IGNORECASE | re.DOTALL,
)
RATE_LIMIT = re.compile(
    r"rate[_ ]limit|resource[_ ]exhausted|too many requests|quota exceeded|overloaded"
    r"|(?:tokens|requests) per (?:minute|hour|day)",
    re.IGNORECASE,
)

_ADVICE = {
    ErrorKind.CONTEXT_OVERFLOW: (
        "Your conversation is too long for this model. "
        "Remove earlier messages or start a new conversation."
    ),
    ErrorKind.AUTHENTICATION: "Authentication expired. Send again to generate a fresh token.",
    ErrorKind.RATE_LIMIT: "Try again in a moment.",
    ErrorKind.OVERLOADED: "Try again in a moment.",
}


def is_context_overflow(message: str) -> bool:
    """Tell whether ``message`` says that the conversation is too long.

    A rate limit is often told in tokens too; it is never taken for an overflow (case S-06).
    """
    return bool(CONTEXT_OVERFLOW.search(message)) and not RATE_LIMIT.search(message)


def error_text(error: ProviderError) -> str:
    """Return the notification for ``error``: its message, its details, and the way out."""
    advice = error.hint or _ADVICE.get(error.kind)
    tail = [*error.details, *([advice] if advice else [])]
    return "\n".join([error.message, "", *tail]) if tail else error.message


@dataclass(frozen=True, slots=True)
class Reported:
    """An error as a server's JSON body tells it."""

    message: str
    type: str | None = None
    request_id: str | None = None

    @property
    def text(self) -> str:
        """`type — message`."""
        return f"{self.type} — {self.message}" if self.type else self.message


def parse_json(text: str) -> Any:
    """Return the JSON value in ``text``, or None when it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def reported_error(value: object) -> Reported | None:
    """Find an error in a parsed body, in any of the shapes that servers and proxies use."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return reported_error(items[0]) if items else None
    if not isinstance(value, dict):
        return None
    body = cast("dict[str, object]", value)
    identifier = _text(body.get("request_id"))
    error = body.get("error")
    if isinstance(error, dict):
        inner = cast("dict[str, object]", error)
        message = _text(inner.get("message")) or json.dumps(inner, ensure_ascii=False)
        return Reported(message, _text(inner.get("type")), identifier)
    if isinstance(error, str) and error:
        return Reported(error, None, identifier)
    return _bare_message(body, identifier)


def _bare_message(body: Mapping[str, object], identifier: str | None) -> Reported | None:
    for key in ("message", "detail"):
        message = _text(body.get(key))
        if message:
            return Reported(message, None, identifier)
    errors = body.get("errors")
    return reported_error(cast("list[object]", errors)) if isinstance(errors, list) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def unexpected_response(body: str) -> str:
    """Describe a body that is no API response: its first 300 bytes on one line."""
    collapsed = " ".join(body.split())
    if byte_length(collapsed) > SNIPPET_BYTES:
        collapsed = first_bytes(collapsed, SNIPPET_BYTES) + "..."
    return f"Unexpected API response: {collapsed}"


def rate_limit_lines(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return `name: value` of the headers about limits, sorted."""
    wanted = (
        (name.lower(), value)
        for name, value in headers.items()
        if name.lower() == "retry-after" or "ratelimit" in name.lower()
    )
    return tuple(f"{name}: {value}" for name, value in sorted(wanted))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the server asks to wait, from ``retry-after-ms`` or ``retry-after``.

    A date is taken relative to the response's own ``date``, so that a wrong clock here does no
    harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        until = parsedate_to_datetime(value)
        return max(0.0, (until - parsedate_to_datetime(headers["date"])).total_seconds())
    except (ValueError, KeyError, TypeError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def should_retry(headers: Mapping[str, str], default: bool) -> bool:
    """Return the server's ``x-should-retry`` if it gives one, else ``default``."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower(), default)

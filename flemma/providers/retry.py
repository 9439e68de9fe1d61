"""Whether and when a failed request is sent again (cases S-04 to S-07, S-16, B-08)."""

from dataclasses import dataclass
from typing import TypeAlias

from flemma.errors import ErrorKind, ProviderError

MAX_ATTEMPTS = 5
"""Requests in all, the first included."""

MAX_SERVER_WAIT = 120.0
"""Seconds; a server that asks for a longer pause is not waited for."""

_FIRST_DELAY = 1.0
_LONGEST_DELAY = 16.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Send again after ``seconds``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RetryDroppingThinking:
    """Send again at once with `drop_mismatched_thinking`, and keep it for this conversation."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Report the error."""


Decision: TypeAlias = Wait | RetryDroppingThinking | GiveUp


def decide(
    error: ProviderError,
    attempt: int,
    anything_shown: bool,
    jitter: float,
    dropping_thinking: bool = False,
) -> Decision:
    """Decide what to do about ``error``.

    ``attempt`` counts the requests made so far (1 after the first). ``anything_shown`` tells
    whether content of this response is in the buffer: it is never thrown away, so nothing is sent
    again then. ``jitter`` is a random number from 0 to 1, passed in to keep this pure;
    ``dropping_thinking`` tells whether mismatched thinking was already dropped.
    """
    if anything_shown:
        return GiveUp()
    if error.kind is ErrorKind.SIGNATURE_MISMATCH:
        return GiveUp() if dropping_thinking else RetryDroppingThinking()
    if error.kind is ErrorKind.EMPTY_RESPONSE:
        return Wait(_delay(attempt, jitter)) if attempt == 1 else GiveUp()
    if not error.retryable or attempt >= MAX_ATTEMPTS:
        return GiveUp()
    if error.retry_after is None:
        return Wait(_delay(attempt, jitter))
    if error.retry_after > MAX_SERVER_WAIT:
        return GiveUp()
    # Never earlier than asked; the jitter keeps many clients from coming back together.
    return Wait(error.retry_after + jitter * min(1.0, error.retry_after * 0.1))


def _delay(attempt: int, jitter: float) -> float:
    """Double with each attempt, less up to a quarter."""
    return min(_FIRST_DELAY * 2 ** (attempt - 1), _LONGEST_DELAY) * (1 - 0.25 * jitter)


def empty_response() -> ProviderError:
    """Make the error for a response that ended well but held nothing (case S-16)."""
    return ProviderError(
        "Request completed but no response was received.",
        kind=ErrorKind.EMPTY_RESPONSE,
        retryable=True,
    )

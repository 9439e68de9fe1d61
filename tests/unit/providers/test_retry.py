"""When a request is sent again (cases S-04, S-05, S-06, S-16, B-08)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.errors import ErrorKind, ProviderError
from flemma.providers.retry import (
    MAX_ATTEMPTS,
    GiveUp,
    RetryDroppingThinking,
    Wait,
    decide,
    empty_response,
)

OVERLOADED = ProviderError("busy", kind=ErrorKind.OVERLOADED, retryable=True)


def limited(seconds: float) -> ProviderError:
    return ProviderError("slow", kind=ErrorKind.RATE_LIMIT, retryable=True, retry_after=seconds)


def test_an_overload_is_retried_with_growing_delays_and_bounded_attempts() -> None:  # S-04, S-05
    waits = [decide(OVERLOADED, attempt, False, 0.0) for attempt in range(1, MAX_ATTEMPTS + 1)]
    assert waits == [Wait(1.0), Wait(2.0), Wait(4.0), Wait(8.0), GiveUp()]


@pytest.mark.parametrize(
    "error",
    [
        OVERLOADED,
        limited(1),
        empty_response(),
        ProviderError("x", kind=ErrorKind.SIGNATURE_MISMATCH),
    ],
)
def test_what_was_shown_is_never_thrown_away(error: ProviderError) -> None:  # S-04
    assert decide(error, 1, True, 0.0) == GiveUp()


def test_a_refused_request_is_not_sent_again() -> None:
    error = ProviderError("bad", kind=ErrorKind.INVALID_REQUEST)
    assert decide(error, 1, False, 0.0) == GiveUp()


@pytest.mark.parametrize(
    ("asked", "decision"),
    [(7, Wait(7.0)), (0, Wait(0.0)), (120, Wait(120.0)), (121, GiveUp())],
)
def test_the_servers_wait_is_honoured_up_to_two_minutes(
    asked: float, decision: Wait | GiveUp
) -> None:  # S-06
    assert decide(limited(asked), 1, False, 0.0) == decision


@given(st.floats(0, 1), st.integers(1, 4), st.floats(0, 120))
def test_jitter_never_undercuts_the_server_and_keeps_delays_growing(
    jitter: float, attempt: int, asked: float
) -> None:
    waited = decide(limited(asked), attempt, False, jitter)
    assert isinstance(waited, Wait)
    assert asked <= waited.seconds <= asked + 1
    free = decide(OVERLOADED, attempt, False, jitter)
    assert isinstance(free, Wait)
    assert 0.75 * 2 ** (attempt - 1) <= free.seconds <= 2 ** (attempt - 1)


def test_an_empty_response_is_asked_for_once_more() -> None:  # S-16
    assert decide(empty_response(), 1, False, 0.0) == Wait(1.0)
    assert decide(empty_response(), 2, False, 0.0) == GiveUp()
    assert empty_response().message == "Request completed but no response was received."


def test_mismatched_thinking_is_dropped_once() -> None:  # B-08
    error = ProviderError("sig", kind=ErrorKind.SIGNATURE_MISMATCH)
    assert decide(error, 3, False, 0.0) == RetryDroppingThinking()
    assert decide(error, 1, False, 0.0, dropping_thinking=True) == GiveUp()

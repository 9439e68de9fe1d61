"""What is known of a chat beside its text when it is opened."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opening:
    """How a chat came to be opened."""

    empty: bool = False
    """Whether it had no text; what the user typed since then is his first message."""
    broken_off: bool = False
    """Whether a request for it ended with its host."""


JUST_OPENED = Opening()

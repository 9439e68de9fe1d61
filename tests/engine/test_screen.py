"""What a run says beside its transcript."""

from flemma.headless.screen import TerminalScreen
from flemma.ports.editor import Level


def test_a_wait_before_a_retry_is_told_once_and_not_counted_down():  # S-05
    said: list[str] = []
    screen = TerminalScreen(said.append)
    for seconds in (3, 2, 1):
        screen.progress(0, {"phase": "waiting", "message": f"Overloaded — retrying in {seconds}s"})
    screen.progress(0, {"phase": "waiting"})
    screen.progress(0, {"phase": "waiting", "message": "Overloaded — retrying in 8s"})
    screen.progress(0, None)
    assert said == [
        "flemma: Overloaded — retrying in 3s\n",
        "flemma: Overloaded — retrying in 8s\n",
    ]
    assert screen.notifications == ()


def test_a_message_of_several_lines_is_indented_and_kept_whole():
    said: list[str] = []
    screen = TerminalScreen(said.append)
    screen.notify("\nfirst\n\nsecond", Level.WARN, once=True)
    screen.notify("\nfirst\n\nsecond", Level.WARN, once=True)
    assert said == ["flemma: warning: first\n\n  second\n"]
    assert screen.notifications == ({"level": "warn", "message": "first\n\nsecond"},)

"""The guided tour, played to its end without a terminal."""

import shutil
from pathlib import Path

import pytest

from flemma.adapters import composition
from flemma.adapters.clock import SystemClock
from tests.engine.conftest import Chat

ROOT = Path(__file__).resolve().parent.parent.parent


class ImpatientClock(SystemClock):
    """The pauses of a script, which make it look like typing, are skipped."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds if seconds > 0.2 else 0.001)


@pytest.fixture
def tour(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """A copy of the tour."""
    monkeypatch.setattr(composition, "SystemClock", ImpatientClock)
    shutil.copy(ROOT / "demo" / "tour.chat", chat.path)
    return chat


def test_the_tour_reads_writes_edits_and_runs_to_its_end(tour: Chat):  # issue A
    ran = tour.play(provider="demo", approve=("bash",))
    assert ran.code == 0
    assert "That was a real read." in ran.report["reply"]
    tour.write(ran.text.rstrip() + "\nhello\n")
    ran = tour.play(provider="demo", approve=("bash",))
    assert ran.code == 0
    assert ran.report["reply"].startswith("The command ran and said:\n\n> Hello from the shell")
    assert ran.report["cost"] is None
    assert ran.messages == []
    assert "(error)" not in ran.text


def test_without_approval_the_tour_waits_and_hears_the_reason_of_a_rejection(tour: Chat):
    tour.play(provider="demo")
    tour.write(tour.text.rstrip() + "\nhello\n")
    ran = tour.play(provider="demo")
    assert ran.code == 3
    assert [call["name"] for call in ran.report["pending"]] == ["bash"]
    tour.replace("(pending)\n```\n", "(rejected)\n```\nUser feedback: not today\n")
    ran = tour.play(provider="demo")
    assert ran.code == 0
    assert "> not today" in ran.report["reply"]

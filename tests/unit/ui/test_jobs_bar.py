"""The bar of background jobs (spec: behaviour 7.4)."""

from flemma.ui.jobs_bar import JobsFacts, jobs_bar


def test_it_tells_how_many_jobs_run_and_when_the_conversation_goes_on() -> None:
    assert jobs_bar(3, JobsFacts(2, 99.5), "bottom right") == {
        "bufnr": 3,
        "name": "jobs",
        "position": "bottom right",
        "segments": [
            {"items": [{"text": "2 jobs", "priority": 20, "spinner": True}]},
            {"items": [{"text": "continues in", "priority": 10, "deadline": 99.5}]},
        ],
    }
    (segment,) = jobs_bar(3, JobsFacts(1), "top")["segments"]  # type: ignore[typeddict-item]
    assert segment["items"][0]["text"] == "1 job"


def test_it_goes_away_with_nothing_to_tell_or_no_place() -> None:
    assert "segments" not in jobs_bar(3, JobsFacts(0), "top")
    assert "segments" not in jobs_bar(3, JobsFacts(4, 1.0), None)

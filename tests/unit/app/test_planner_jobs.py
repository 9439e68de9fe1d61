"""The planner leaves background jobs alone."""

from flemma.app.actions import Ending
from flemma.app.calls import calls_of
from flemma.app.planner import Facts, plan
from flemma.chat.pairing import CallKey
from flemma.chat.parser import parse

USE = "@You:\nx\n\n@Assistant:\n**Tool Use:** `bash` (`a`)\n```json\n{}\n```\n"
APPROVED = "\n@You:\n\n**Tool Result:** `a` (approved)\n```\n```\n"


def test_a_job_whose_block_is_gone_or_not_written_yet_is_not_run_again() -> None:
    facts = Facts({}, background=frozenset({CallKey("a")}))
    for text in (USE, USE + APPROVED):
        made = plan(calls_of(parse(text)), facts)
        assert (made.actions, made.ending) == ((), Ending.SEND)

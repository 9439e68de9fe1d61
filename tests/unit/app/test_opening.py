"""What is done to a chat when it is opened (spec: tools, "Orphan recovery"; behaviour 7.5)."""

import pytest

from flemma.app.opening import interrupted_calls, open_chat
from flemma.chat.pairing import CallKey
from flemma.chat.parser import parse
from tests.unit.app.opened_chat import opened_chat

USE = "**Tool Use:** `bash` (`{}`)\n```json\n{{}}\n```\n"
LOST = "Job lost: session ended before completion."


def placeholder(name: str, job: str) -> str:
    return f"**Tool Result:** `{name}` (job={job})\n```\nRunning as a background job.\n```\n"


def chat(*blocks: str, uses: tuple[str, ...] = ("a", "b")) -> str:
    asked = "\n".join(USE.format(use) for use in uses)
    return f"@You:\nx\n\n@Assistant:\n{asked}\n@You:\n\n" + "\n".join(blocks)


@pytest.mark.parametrize(
    ("jobs", "told"),
    [(1, "1 orphaned job resolved."), (2, "2 orphaned jobs resolved.")],
)
async def test_lost_jobs_get_an_error_result_and_the_user_their_number(
    jobs: int, told: str
) -> None:  # acceptance 88
    blocks = [placeholder("a", "job_aaaaa"), placeholder("b", "job_bbbbb")][:jobs]
    text = chat(*blocks, uses=("a", "b")[:jobs])
    async with opened_chat(text) as opened:
        await open_chat(opened.session, opened.screen)
        results = [f"**Job Result:** `job_{name * 5}` (error)\n```\n{LOST}\n```" for name in "ab"]
        assert opened.session.buffer.document.text.rstrip() == "\n\n".join(
            [text.rstrip(), *results[:jobs]]
        )
        assert opened.told == [told]
        after = opened.session.buffer.document.text
        await open_chat(opened.session, opened.screen)
        assert opened.session.buffer.document.text == after
        assert opened.told == [told]


async def test_delivered_and_living_jobs_are_no_orphans() -> None:
    delivered = "**Job Result:** `job_aaaaa`\n```\nx\n```\n"
    text = chat(placeholder("a", "job_aaaaa"), delivered, uses=("a",))
    async with opened_chat(text) as opened:
        await open_chat(opened.session, opened.screen)
        assert opened.session.buffer.document.text == text
        assert opened.told == []


async def test_a_tool_that_was_interrupted_counts_as_aborted() -> None:
    text = chat("**Tool Result:** `a`\n```\n```\n", "**Tool Result:** `b`\n```\ndone\n```\n")
    async with opened_chat(text) as opened:
        await open_chat(opened.session, opened.screen)
        after = opened.session.buffer.document.text
        assert after == text.replace("`a`\n```\n```", "`a` (aborted)\n```\n```")
        assert opened.told == ["1 interrupted tool call marked as aborted."]


@pytest.mark.parametrize(
    "block",
    [
        "**Tool Result:** `a` (pending)\n```\n```\n",
        "**Tool Result:** `a` (approved)\n```\n```\n",
        "**Tool Result:** `a` (error)\n```\nbad\n```\n",
        "**Tool Result:** `a`\n```\n(no output)\n```\n",
        "**Tool Result:** `a` (job=job_aaaaa)\n```\n```\n",
    ],
)
def test_what_waits_or_has_ended_was_not_interrupted(block: str) -> None:
    assert interrupted_calls(parse(chat(block, uses=("a",))), frozenset()) == ()


def test_a_call_that_runs_and_one_of_an_earlier_response_are_left_alone() -> None:
    text = chat("**Tool Result:** `a`\n```\n```\n", uses=("a",))
    assert interrupted_calls(parse(text), frozenset({CallKey("a")})) == ()
    assert interrupted_calls(parse(text), frozenset()) == (CallKey("a"),)
    assert interrupted_calls(parse(f"{text}\n@Assistant:\nGo on.\n"), frozenset()) == ()


async def test_an_empty_chat_gets_a_prompt() -> None:  # acceptance 22
    async with opened_chat("") as opened:
        await open_chat(opened.session, opened.screen)
        assert opened.session.buffer.document.text == "@You:\n"


async def test_an_empty_chat_stays_empty_on_request() -> None:
    async with opened_chat("", {"editing": {"auto_prompt": False}}) as opened:
        await open_chat(opened.session, opened.screen)
        assert opened.session.buffer.document.text == ""

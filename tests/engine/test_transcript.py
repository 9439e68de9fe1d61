"""What is printed of a chat while it grows: each line once, in order, when it is settled."""

from flemma.chat.parser import parse
from flemma.headless.transcript import Transcript

QUESTION = "@You:\nPlease go on.\n"
CALLS = (
    "\n@Assistant:\n**Tool Use:** `bash` (`a`)\n```json\n{}\n```\n\n"
    "**Tool Use:** `bash` (`b`)\n```json\n{}\n```\n"
)


def printed(start: str, *texts: str) -> list[str]:
    """Return what is printed for each state of a document, and at the end."""
    said: list[str] = []
    transcript = Transcript(parse(start), said.append)
    pieces: list[str] = []

    def piece() -> str:
        new = "".join(said)
        said.clear()
        return new

    for text in texts:
        transcript.follow(parse(text))
        pieces.append(piece())
    transcript.finish(parse(texts[-1]))
    return [*pieces, piece()]


def results(first: str, second: str) -> str:
    return f"\n@You:\n\n**Tool Result:** `a`{first}\n\n**Tool Result:** `b`{second}\n"


PENDING = " (pending)\n```\n```"
RUNNING = "\n```\n```"
JOB = " (job=job_abcde)\n```\n```"


def done(output: str) -> str:
    return f"\n```\n{output}\n```"


def test_an_answer_is_printed_as_it_comes_and_empty_prompts_are_not():
    base = QUESTION + "\n@Assistant:"
    answered = f"{base}\nHello.\n"
    assert printed(QUESTION, base, f"{base}\nHe", answered, f"{answered}\n@You:\n") == [
        "",
        "@Assistant:\nHe",
        "llo.",
        "",
        "\n",
    ]


def test_a_placeholder_of_an_answer_that_never_came_is_not_printed():
    assert printed(QUESTION, QUESTION + "\n@Assistant:", QUESTION) == ["", "", ""]


def test_a_result_is_printed_only_when_all_before_it_are_settled():
    chat = QUESTION + CALLS
    pieces = printed(
        chat,
        chat + results(RUNNING, RUNNING),
        chat + results(RUNNING, done("two")),
        chat + results(done("one"), done("two")),
    )
    assert pieces[:2] == ["", ""]
    assert pieces[2].startswith("@You:\n\n**Tool Result:** `a`\n```\none\n```\n\n")
    assert "".join(pieces).count("two") == 1


def test_calls_that_wait_are_printed_at_the_end():
    chat = QUESTION + CALLS
    pieces = printed(chat, chat + results(done("one"), PENDING))
    assert "(pending)" not in pieces[0]
    assert "one" in pieces[0]
    assert pieces[1] == "\n\n**Tool Result:** `b` (pending)\n```\n```\n"


def test_a_job_holds_nothing_back():
    chat = QUESTION + CALLS
    assert "two" in printed(chat, chat + results(JOB, done("two")))[0]


def test_results_of_a_run_before_are_printed_from_the_first_that_waited():
    start = QUESTION + CALLS + results(done("one"), PENDING)
    end = QUESTION + CALLS + results(done("one"), done("two"))
    assert "".join(printed(start, end)) == "**Tool Result:** `b`\n```\ntwo\n```\n"


def test_text_that_was_there_is_not_printed_again():
    start = QUESTION + "\n@Assistant:\nHello.\n\n@You:\nMore, please.\n"
    assert printed(start, start + "\n@Assistant:\nMore.\n") == ["@Assistant:\nMore.", "\n"]


def test_an_answer_that_is_taken_back_and_replaced_is_printed_from_its_line_on():
    base = QUESTION + "\n@Assistant:\n"
    assert "".join(printed(QUESTION, base + "One.\nTwo.", base + "One.\nThree.")) == (
        "@Assistant:\nOne.\nTwo.Three.\n"
    )

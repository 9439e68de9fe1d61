"""What a turn costs in a long chat, counted in function calls (case V-11)."""

import json
import sys
from collections.abc import Callable
from types import FrameType

from flemma.app.calls import calls_of
from flemma.app.planner import Facts, plan
from flemma.chat.document import Document
from flemma.chat.edits import append_prompt, apply_edits, begin_assistant
from flemma.chat.lint import lint
from flemma.chat.nodes import AppendText
from flemma.chat.parser import parse
from flemma.providers.anthropic.pairing import pair
from tests.unit.conversation.build_support import built

FEW, MANY = 60, 240


def chat(turns: int) -> str:
    """Return a chat in which each turn is a question, a call with its result, and an answer."""
    return "".join(
        f"@You:\nQuestion {n}\n\n@Assistant:\nI look.\n\n**Tool Use:** `bash` (`toolu_{n}`)\n"
        f"```json\n{json.dumps({'command': f'echo {n}'})}\n```\n\n@You:\n\n"
        f"**Tool Result:** `toolu_{n}`\n```\n{n}\n```\n\n@Assistant:\nIt is {n}.\n\n"
        for n in range(turns)
    )


def cost(work: Callable[[], object]) -> int:
    """Return how many calls of functions ``work`` makes, those of C included."""
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        del frame, argument
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[str], Callable[[], object]]) -> float:
    """Return how much more a chat four times as long costs."""
    few, many = (cost(work(chat(turns))) for turns in (FEW, MANY))
    return many / few


def test_building_a_request_costs_as_much_as_the_chat_is_long() -> None:
    assert growth(lambda text: lambda: built(text)) < 4.5


def test_pairing_calls_with_results_costs_as_much_as_the_chat_is_long() -> None:
    def work(text: str) -> Callable[[], object]:
        messages = built(text).conversation.messages
        return lambda: pair(messages)

    assert growth(work) < 4.5


def test_planning_a_step_costs_as_much_as_the_chat_is_long_and_not_more() -> None:
    def work(text: str) -> Callable[[], object]:
        document = parse(text)
        return lambda: (plan(calls_of(document), Facts({})), lint(document))

    assert growth(work) < 4.5


def test_writing_an_answer_costs_the_same_in_any_chat() -> None:
    def answered(document: Document) -> Document:
        document = apply_edits(document, begin_assistant(document))
        for word in range(50):
            document = apply_edits(
                document, [AppendText(document.line_count - 1, f"word {word}\n")]
            )
        return apply_edits(document, append_prompt(document))

    def work(text: str) -> Callable[[], object]:
        document = parse(text + "@You:\nAnd?\n")
        return lambda: answered(document)

    assert growth(work) < 1.5

import pytest

from flemma.chat.nodes import Frontmatter
from flemma.ui.fold_text import PREVIEW_CHARACTERS, content_preview
from flemma.ui.folds import frontmatter_fold, inner_rows, message_folds
from flemma.ui.payloads import Fold
from flemma.ui.state import RunState, ViewOptions
from tests.unit.ui.drawing import TOOLS, document, scene, words


def folds(text: str, index: int, **arguments: RunState | ViewOptions) -> list[Fold]:
    return message_folds(scene(text, **arguments), index)  # pyright: ignore[reportArgumentType]


DONE = TOOLS.replace(" (pending)\n```\n", "\n```\nall green\n")


def test_a_message_folds_over_all_its_lines() -> None:
    (fold,) = folds("@You:\nhello   there\n\nworld\n", 0)
    assert (fold["row"], fold["end_row"], fold["level"], fold["close"]) == (0, 4, 1, False)
    assert words(fold) == "─ You hello there\n\nworld"


def test_without_rulers_the_marker_stands_in_the_fold() -> None:
    (fold,) = folds("@You:\nhello", 0, options=ViewOptions(rulers=False))
    assert words(fold) == "@You: hello"


def test_a_folded_message_shows_its_calls_but_not_its_thinking() -> None:
    assert words(folds(TOOLS, 1)[0]) == ("─ Assistant On it. | bash: make test — running tests")


def test_expressions_show_as_written() -> None:
    (fold,) = folds("@You:\na {{ x }} {% if y %}b", 0)
    assert words(fold) == "─ You a {{ x }} {% if y %}b"


def test_a_call_folds_once_it_has_a_result_and_closes_once_that_is_final() -> None:
    text = TOOLS[: TOOLS.index("@You:\n\n**")]
    assert [f["id"] for f in folds(text, 1)] == ["message:1", "thinking:1:0"]
    pending = folds(TOOLS, 1)[-1]
    assert (pending["id"], pending["close"]) == ("tool_use:t1", False)
    done = folds(DONE, 1)[-1]
    assert (done["id"], done["close"]) == ("tool_use:t1", True)
    assert words(done) == "⬡ Tool Use: bash: make test — running tests"


@pytest.mark.parametrize(
    ("suffix", "content", "expected"),
    [
        ("", "all green", "⬢ Tool Result: bash: all green — running tests"),
        (" (error)", "boom", "⬢ Tool Result: bash: (error) boom — running tests"),
        (" (rejected)", "", "⬢ Tool Result: bash: (rejected) running tests"),
        (" (denied)", "", "⬢ Tool Result: bash: (denied) running tests"),
        (" (aborted)", "", "⬢ Tool Result: bash: (aborted) running tests"),
    ],
)
def test_a_final_result_folds(suffix: str, content: str, expected: str) -> None:
    text = TOOLS.replace(" (pending)\n```\n", f"{suffix}\n```\n{content}\n")
    fold = folds(text, 2)[-1]
    assert words(fold) == expected
    assert fold["close"] is True


@pytest.mark.parametrize("status", ["pending", "approved"])
def test_a_waiting_result_does_not_fold(status: str) -> None:
    assert [f["level"] for f in folds(TOOLS.replace("pending", status), 2)] == [1]


def test_a_result_without_its_call_is_named_so() -> None:
    text = "@You:\n\n**Tool Result:** `x`\n```\nout\n```\n"
    assert words(folds(text, 0)[-1]) == "⬢ Tool Result: result: out"


def test_the_placeholder_of_a_running_job_stays_open() -> None:
    text = TOOLS.replace("(pending)\n```\n", "(job=job_a)\n```\nstarted\n")
    assert folds(text, 2)[-1]["close"] is True
    assert folds(text, 2, run=RunState(jobs={"job_a": 1.0}))[-1]["close"] is False


def test_a_job_result_is_named_after_its_tool() -> None:
    text = (
        TOOLS.replace("(pending)\n```\n", "(job=job_a)\n```\nstarted\n")
        + "\n@You:\n\n**Job Result:** `job_a` (error)\n```\nbad\n```\n"
    )
    assert words(folds(text, 3)[-1]) == "⬢ Job Result: bash: (error) bad"


def test_options_keep_blocks_open() -> None:
    options = ViewOptions(close_tool_result=False, close_tool_use=False, close_thinking=False)
    assert not any(f["close"] for i in range(3) for f in folds(DONE, i, options=options))


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("<thinking>\na\nb\n</thinking>", "<thinking> a\nb </thinking>"),
        (
            '<thinking vertex:signature="s">\na\n</thinking>',
            "<thinking vertex> a </thinking>",
        ),
        ('<thinking vertex:signature="s">\n</thinking>', "<thinking vertex/>"),
        ("<thinking redacted>\nxyz\n</thinking>", "<thinking redacted>"),
    ],
)
def test_thinking_folds(block: str, expected: str) -> None:
    # Case 106: two lines without text between them fold.
    assert words(folds(f"@Assistant:\n{block}\nhi", 0)[-1]) == expected


def test_thinking_on_one_line_does_not_fold() -> None:
    # Case 106.
    text = '@Assistant:\n<thinking vertex:signature="s"/>\nhi'
    assert [f["level"] for f in folds(text, 0)] == [1]


def test_thinking_closes_once_a_message_follows() -> None:
    text = "@Assistant:\n<thinking>\na\n</thinking>\nhi"
    assert folds(text, 0)[-1]["close"] is False
    assert folds(text + "\n\n@You:\n", 0)[-1]["close"] is True


def test_a_tool_fold_reaches_over_the_blank_lines_to_the_next() -> None:
    text = (
        "@You:\n\n**Tool Result:** `a`\n```\n1\n```\n\n"
        "**Tool Result:** `b`\n```\n2\n```\n\nwords\n\n**Tool Result:** `c`\n```\n3\n```\n"
    )
    inner = folds(text, 0)[1:]
    assert [(f["row"], f["end_row"]) for f in inner] == [(2, 6), (7, 10), (14, 17)]


def test_the_frontmatter_folds() -> None:
    fold = frontmatter_fold(Frontmatter("lua", "a = 1\nb = 2", 4), close=True)
    assert (fold["row"], fold["end_row"], fold["close"]) == (0, 3, True)
    assert words(fold) == "```lua a = 1\nb = 2 ```"
    assert words(frontmatter_fold(Frontmatter("lua", "", 2), close=False)) == "```lua"


def test_a_long_text_is_cut_to_what_a_window_can_show() -> None:
    assert len(content_preview("word " * 100_000)) == PREVIEW_CHARACTERS
    assert content_preview("\n".join("abcdefghijklmnop")) == "a\nb\nc\nd\ne\nf\ng\nh\ni\nj"


def test_the_inner_rows_leave_out_thinking_and_blank_lines() -> None:
    message = document("@Assistant:\n\n<thinking>\na\n</thinking>\n\nhi\nthere\n\n").messages[0]
    assert inner_rows(message, message.segments) == [6, 7]
    empty = document("@Assistant:\n\n").messages[0]
    assert inner_rows(empty, empty.segments) is None

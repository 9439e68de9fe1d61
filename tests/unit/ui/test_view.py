from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.document import Document
from flemma.chat.nodes import Change
from flemma.ui.state import RunState, ViewOptions
from flemma.ui.view import PORTION, ViewDiff
from tests.unit.ui.drawing import TOOLS, Screen, Summary, document, summary_of

IDLE = RunState()


def drawn(text: str) -> tuple[ViewDiff, Document]:
    view, parsed = ViewDiff(1, summary_of), document(text)
    assert view.difference(parsed, IDLE, 1) is not None
    view.accept()
    return view, parsed


def replace_line(parsed: Document, number: int, *lines: str) -> Document:
    return parsed.apply(Change(number, number + 1, lines))


def test_the_first_view_draws_everything() -> None:
    view = ViewDiff(7, summary_of).difference(document("```lua\nx = 1\n```\n@You:\nhi"), IDLE, 3)
    assert view is not None
    assert (view["bufnr"], view["tick"], view.get("reset")) == (7, 3, True)
    assert [(m["role"], m["start"], m["length"]) for m in view["set"]] == [
        ("user", 3, 2),
        ("frontmatter", 0, 3),
    ]


def test_nothing_changed_draws_nothing() -> None:
    view, parsed = drawn(TOOLS)
    assert view.difference(parsed, IDLE, 2) is None


def test_a_key_draws_one_message_under_its_old_key() -> None:
    # Case V-09: the cost of a key does not grow with the chat.
    view, parsed = drawn("@You:\na\n\n@Assistant:\nb\n\n@You:\nc\n")
    after = view.difference(replace_line(parsed, 1, "ab"), IDLE, 2)
    assert after is not None
    assert [(m["key"], m["start"]) for m in after["set"]] == [(2, 0)]
    assert after["remove"] == []
    assert "turns" not in after


def test_a_refused_view_is_computed_again_from_what_is_drawn() -> None:
    view, parsed = drawn("@You:\na\n\n@Assistant:\nb\n")
    first = replace_line(parsed, 1, "x")
    assert view.difference(first, IDLE, 2) is not None
    second = view.difference(replace_line(first, 4, "y"), IDLE, 3)
    assert second is not None
    assert [m["key"] for m in second["set"]] == [2, 3]


def test_a_message_that_goes_is_removed() -> None:
    view, parsed = drawn("@You:\na\n\n@Assistant:\nb\n\n@You:\nc\n")
    after = view.difference(parsed.apply(Change(3, 6)), IDLE, 2)
    assert after is not None
    assert after["remove"] == [3]


def test_the_end_of_a_call_draws_its_use_and_its_result() -> None:
    view, parsed = drawn(TOOLS + "\n@Assistant:\nlater\n")
    after = view.difference(parsed, RunState(executing={"t1": 1.0}), 2)
    assert after is not None
    assert [m["key"] for m in after["set"]] == [3, 4]


def test_a_status_edited_by_hand_draws_the_call_too() -> None:
    view, parsed = drawn(TOOLS + "\n@Assistant:\nlater\n")
    row = parsed.text.split("\n").index("**Tool Result:** `t1` (pending)")
    after = view.difference(replace_line(parsed, row, "**Tool Result:** `t1` (denied)"), IDLE, 2)
    assert after is not None
    assert [m["key"] for m in after["set"]] == [3, 4]


def test_text_beside_a_call_draws_only_its_message() -> None:
    view, parsed = drawn(TOOLS + "\n@Assistant:\nlater\n")
    row = parsed.text.split("\n").index("On it.")
    after = view.difference(replace_line(parsed, row, "On it now."), IDLE, 2)
    assert after is not None
    assert [m["key"] for m in after["set"]] == [3]


def test_a_message_that_is_no_longer_the_last_is_drawn_again() -> None:
    view, parsed = drawn("@You:\na\n\n@Assistant:\n<thinking>\nx\n</thinking>\nb")
    after = view.difference(parsed.apply(Change(8, 8, ("", "@You:", ""))), IDLE, 2)
    assert after is not None
    closed = {m["key"]: [f["close"] for f in m["folds"]] for m in after["set"]}
    assert closed[3] == [False, True]


def test_a_better_preview_is_drawn_when_it_comes() -> None:
    best = {"t1": Summary("bash", "from Python")}
    view, parsed = ViewDiff(1, lambda use: best[use.id]), document(TOOLS)
    assert view.difference(parsed, IDLE, 1) is not None
    view.accept()
    best = {"t1": Summary("bash", "from Lua")}
    after = view.difference(parsed, RunState(previews=best), 2)
    assert after is not None
    details = [m.get("detail") for s in after["set"] for m in s["marks"] if m["kind"] == "preview"]
    assert details == ["from Lua"]


def test_turns_are_sent_when_they_change() -> None:
    view, parsed = drawn("@You:\na\n\n@Assistant:\nb\n\n@You:\nc\n")
    first = ViewDiff(1, summary_of).difference(parsed, IDLE, 1)
    assert first is not None
    assert first.get("turns") == [[2, 3, 1]]
    after = view.difference(parsed.apply(Change(8, 8, ("@Assistant:", "d"))), IDLE, 2)
    assert after is not None
    assert after.get("turns") == [[2, 3, 1], [4, 5, 1]]


def test_a_frontmatter_that_goes_is_removed() -> None:
    view, parsed = drawn("```lua\nx = 1\n```\n@You:\nhi")
    after = view.difference(parsed.apply(Change(0, 3)), IDLE, 2)
    assert after is not None
    assert after["remove"] == [1]


def test_new_options_draw_everything_anew() -> None:
    view, parsed = drawn("@You:\nhi")
    view.reset(ViewOptions(rulers=False))
    after = view.difference(parsed, IDLE, 2)
    assert after is not None
    assert after.get("reset") is True


def test_a_long_chat_is_drawn_in_portions_from_the_end() -> None:
    # Case V-14: opening does not hold the editor.
    count = 2 * PORTION + 10
    view, parsed, screen = ViewDiff(1, summary_of), document("@You:\nx\n" * count), Screen()
    sizes: list[int] = []
    while True:
        portion = view.difference(parsed, IDLE, 1)
        assert portion is not None
        sizes.append(len(portion["set"]))
        screen.draw(portion)
        view.accept()
        if not view.is_unfinished:
            break
    assert sizes[0] == PORTION
    assert max(sizes) <= PORTION + 1
    assert len(screen.messages) == count


def test_the_turns_of_a_long_chat_are_those_of_its_drawn_end_until_all_is_drawn() -> None:
    pairs = PORTION
    text = "@You:\nx\n@Assistant:\ny\n" * pairs
    view, parsed = ViewDiff(1, summary_of), document(text)
    first = view.difference(parsed, IDLE, 1)
    assert first is not None
    view.accept()
    assert len(first.get("turns", ())) == pairs // 2
    last = view.difference(parsed, IDLE, 1)
    assert last is not None
    view.accept()
    assert not view.is_unfinished
    assert len(last.get("turns", ())) == pairs
    assert all(complete for _, _, complete in last.get("turns", ()))


LINES = st.sampled_from(
    [
        "@You:",
        "@Assistant:",
        "@System:",
        "",
        "text",
        "{{ x }}",
        "<thinking>",
        "</thinking>",
        "**Tool Use:** `bash` (`t1`)",
        "**Tool Result:** `t1` (pending)",
        "**Tool Result:** `t1`",
        "```json",
        "```",
        '{"command": "ls"}',
    ]
)
STATES = st.sampled_from(
    [IDLE, RunState(executing={"t1": 1.0}), RunState(finished={"t1": True}), RunState()]
)
EDITS = st.lists(
    st.tuples(
        st.integers(0, 20), st.integers(0, 3), st.lists(LINES, max_size=4), STATES, st.booleans()
    ),
    max_size=8,
)


def shown(screen: Screen) -> list[str]:
    """Return what is drawn without keys and fold ids, which may differ."""
    return sorted(
        repr(
            {
                **{name: value for name, value in message.items() if name != "key"},
                "folds": [{**fold, "id": ""} for fold in message["folds"]],
            }
        )
        for message in screen.messages.values()
    )


@given(st.lists(LINES, max_size=20), EDITS)
def test_differences_lead_to_the_same_screen_as_drawing_anew(
    lines: list[str],
    edits: list[tuple[int, int, list[str], RunState, bool]],
) -> None:
    view, screen = ViewDiff(1, summary_of), Screen()
    parsed, run = Document.from_lines(lines), IDLE
    first = view.difference(parsed, run, 0)
    assert first is not None
    screen.draw(first)
    view.accept()
    for start, length, new, state, accepted in edits:
        parsed = parsed.apply(Change(start, start + length, tuple(new)))
        run = state
        change = view.difference(parsed, run, 1)
        if change is not None and accepted:
            screen.draw(change)
            view.accept()
    last = view.difference(parsed, run, 2)
    if last is not None:
        screen.draw(last)
    anew = Screen()
    everything = ViewDiff(1, summary_of).difference(parsed, run, 2)
    assert everything is not None
    anew.draw(everything)

    assert shown(screen) == shown(anew)
    assert len(screen.turns) == len(anew.turns)

"""What is drawn: marks, folds, turns, progress, bars, with the test in the host's place."""

from collections.abc import Callable

import pytest

from flemma.models.formats import format_elapsed, format_tokens
from tests.editor.lua_shim import Shim, fold, message
from tests.support.nvim import Editor

TALK = "@You:\nhello\n\n@Assistant:\n<thinking>\nhm\n</thinking>\nhi there\n\n@You:\n\n"


@pytest.fixture
def shim(start_editor: Callable[..., Editor]) -> Shim:
    return Shim(start_editor)


def ruler(last: int) -> dict[str, object]:
    return {"kind": "ruler", "row": 0, "column": 1, "end_column": last, "group": "Title"}


def draw_talk(shim: Shim, **more: object) -> None:
    shim.open(TALK)
    thinking = fold("thinking", 1, 3, 2, close=True, entries=[[["hm", "Comment"]]])
    answer = shim.view(
        message(2, 0, 3, inner=[1, 1], marks=[ruler(4)], folds=[fold("first", 0, 2)]),
        message(
            3,
            3,
            6,
            "assistant",
            inner=[4, 4],
            marks=[ruler(10)],
            folds=[fold("second", 0, 5), thinking],
        ),
        message(4, 9, 2, marks=[ruler(4)], folds=[fold("third", 0, 1)]),
        turns=[[2, 3, 1]],
        **more,
    )
    assert answer == {"ok": True}


def closed(shim: Shim) -> list[int]:
    """Return the first lines (1-based) of all closed folds."""
    count = len(shim.editor.lines())
    return sorted({shim.editor.call("foldclosed", n) for n in range(1, count + 1)} - {-1})


def test_a_view_of_another_tick_is_refused_whole(shim: Shim) -> None:
    shim.open(TALK)
    assert shim.view(message(2, 0, 3, marks=[ruler(4)]), tick=1) == {"ok": False, "moved": True}
    assert shim.editor.extmarks("flemma_view") == []


def test_rulers_and_turns_stand_on_the_screen_and_not_in_the_text(shim: Shim) -> None:
    draw_talk(shim)
    rows = shim.editor.screen_lines()
    assert rows[0].startswith("╭── You ─────")
    assert rows[3].startswith("│ ─ Assistant ─────")
    assert rows[6].startswith("╰")
    assert rows[7].strip().startswith("─ You ─────")
    assert shim.editor.text() == TALK.removesuffix("\n")


def test_a_removed_message_takes_its_marks_along(shim: Shim) -> None:
    draw_talk(shim)
    shim.view(remove=[2, 3, 4])
    assert shim.editor.extmarks("flemma_view") == []
    assert shim.editor.call("foldlevel", 1) == 0


def test_a_message_set_again_replaces_what_was_drawn(shim: Shim) -> None:
    draw_talk(shim)
    before = len(shim.editor.extmarks("flemma_view"))
    shim.view(message(2, 0, 3, marks=[ruler(4)], folds=[fold("first", 0, 2)]))
    assert len(shim.editor.extmarks("flemma_view")) == before


def test_a_preview_is_a_virtual_line_cut_to_the_window(shim: Shim) -> None:
    shim.open(TALK)
    mark = {
        "kind": "preview",
        "row": 1,
        "name": "bash",
        "detail": "$ " + "x" * 300 + "\nmore",
        "label": "running tests",
        "language": "bash",
    }
    shim.view(message(2, 0, 3, marks=[mark]))
    ((row, text),) = shim.editor.virtual_text()
    assert row == 0, "above the fence, which is concealed"
    assert text.startswith("bash: $ xxx")
    assert text.endswith("… — running tests")
    assert shim.editor.call("strdisplaywidth", text) <= 100


def test_a_preview_is_drawn_again_when_the_window_narrows(shim: Shim) -> None:
    shim.open(TALK)
    mark = {"kind": "preview", "row": 1, "name": "bash", "detail": "a" * 60, "label": "why"}
    shim.view(message(2, 0, 3, marks=[mark]))
    shim.editor.command("vsplit")
    shim.editor.wait_until(lambda: "…" in shim.editor.virtual_text()[0][1])


def test_line_breaks_in_a_preview_are_a_sign(shim: Shim) -> None:
    shim.open(TALK)
    mark = {"kind": "preview", "row": 1, "name": "bash", "detail": "a\nb"}
    shim.view(message(2, 0, 3, marks=[mark]))
    assert shim.editor.virtual_text() == [(0, "bash: a↵b")]
    shim.editor.command("set listchars=eol:$")
    shim.view(message(2, 0, 3, marks=[mark]))
    assert shim.editor.virtual_text() == [(0, "bash: a$b")]


def test_one_timer_runs_while_a_spinner_lives(shim: Shim) -> None:
    shim.open(TALK)
    running = 'return require("flemma.spinner").is_running()'
    status = {"kind": "status", "row": 0, "text": "Executing…", "group": "Title", "spinner": True}
    assert shim.editor.exec_lua(running) is False
    shim.view(message(2, 0, 3, marks=[status]))
    assert shim.editor.exec_lua(running) is True
    first = shim.editor.virtual_text()
    shim.editor.wait_until(lambda: shim.editor.virtual_text() != first)
    shim.view(remove=[2])
    assert shim.editor.exec_lua(running) is False
    assert shim.editor.virtual_text() == []


def test_a_spinner_stays_with_its_line(shim: Shim) -> None:
    shim.open(TALK)
    status = {"kind": "status", "row": 1, "text": "Executing…", "group": "Title", "spinner": True}
    shim.view(message(2, 0, 3, marks=[status]))
    shim.apply(["replace", 0, 0, ["new", "lines"]])
    first = shim.editor.virtual_text()
    assert first[0][0] == 3
    shim.editor.wait_until(lambda: shim.editor.virtual_text() != first)
    assert shim.editor.virtual_text()[0][0] == 3


def test_an_outcome_goes_with_the_next_edit_of_the_user(shim: Shim) -> None:
    shim.open(TALK)
    status = {"kind": "status", "row": 0, "text": "✔ Complete", "group": "Title", "expires": 60}
    shim.view(message(2, 0, 3, marks=[status]))
    shim.apply(["append", 1, "!"])
    assert len(shim.editor.virtual_text()) == 1
    shim.editor.keys("jx")
    shim.editor.wait_until(lambda: shim.editor.virtual_text() == [])


def test_an_outcome_goes_after_its_time(shim: Shim) -> None:
    shim.open(TALK)
    status = {"kind": "status", "row": 0, "text": "✔ Complete", "group": "Title", "expires": 0.05}
    shim.view(message(2, 0, 3, marks=[status]))
    shim.editor.wait_until(lambda: shim.editor.virtual_text() == [])


def test_folds_stand_where_the_host_says_and_close_when_it_says(shim: Shim) -> None:
    draw_talk(shim)
    levels = [shim.editor.call("foldlevel", n) for n in range(1, 12)]
    assert levels == [1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1]
    assert closed(shim) == [5]


def test_a_fold_text_is_what_the_host_composed(shim: Shim) -> None:
    draw_talk(shim)
    assert shim.editor.call("foldtextresult", 5) == "thinkinghm (3 lines)"


def test_a_fold_that_the_user_opened_stays_open(shim: Shim) -> None:
    # Case 107.
    draw_talk(shim)
    shim.editor.keys("5Gzo")
    thinking = fold("thinking", 1, 3, 2, close=True)
    folds = [fold("second", 0, 5), thinking]
    shim.view(message(3, 3, 6, "assistant", folds=folds))
    assert closed(shim) == []


def test_a_fold_that_the_user_closed_stays_closed(shim: Shim) -> None:
    draw_talk(shim)
    shim.editor.keys("1Gzc")
    shim.apply(["replace", 2, 2, ["more"]])
    shim.view(message(2, 0, 4, folds=[fold("first", 0, 3)]))
    assert shim.editor.call("foldclosedend", 1) == 4


def test_folds_move_with_the_text(shim: Shim) -> None:
    # Case V-12: nothing is computed per line.
    draw_talk(shim)
    shim.apply(["replace", 0, 0, ["a", "b"]])
    assert closed(shim) == [7]


def test_folds_wait_for_the_end_of_insert_mode(shim: Shim) -> None:
    draw_talk(shim)
    shim.editor.keys("2GA!")
    shim.apply(["replace", 2, 2, ["more"]])
    shim.view(message(2, 0, 4, folds=[fold("first", 0, 3), fold("inner", 1, 2, 2, close=True)]))
    assert shim.editor.mode()["mode"] == "i"
    assert shim.editor.call("foldlevel", 3) == 1
    shim.editor.keys("<Esc>")
    shim.editor.wait_until(lambda: closed(shim) == [2, 6])


def test_a_second_window_has_the_folds_too(shim: Shim) -> None:
    draw_talk(shim)
    shim.editor.command("split")
    assert closed(shim) == [5]


def test_space_toggles_the_message(shim: Shim) -> None:
    draw_talk(shim)
    shim.editor.keys("8G<Space>")
    assert closed(shim) == [4]
    shim.editor.keys("<Space>")
    assert closed(shim) == [5]


def test_the_middle_of_a_turn_folds(shim: Shim) -> None:
    draw_talk(shim)
    shim.view(turns=[[2, 4, 1]])
    shim.editor.keys("1Gzy")
    assert closed(shim) == [4]


def test_a_fold_text_fits_the_window(shim: Shim) -> None:
    shim.open(TALK)
    compose = """
        local fold, columns = ...
        local text = ""
        for _, chunk in ipairs(require("flemma.foldtext").compose(fold, 12, columns)) do
          text = text .. chunk[1]
        end
        return text
    """
    entries = [[[word * 20, "Comment"]] for word in ("a", "b", "c", "d")]
    text = shim.editor.exec_lua(compose, fold("x", 0, 5, entries=entries), 60)
    assert text.startswith("x" + "a" * 20 + " | b")
    assert text.endswith(" (+2 more) (12 lines)")
    assert len(text) <= 60


def test_the_next_and_previous_message(shim: Shim) -> None:
    draw_talk(shim)
    seen: list[int] = []
    for key in ("1G]m", "]m", "]m", "[m", "[m"):
        shim.editor.keys(key)
        seen.append(shim.editor.cursor()[0])
    assert seen == [5, 11, 11, 5, 2]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("8Gyim", "hi there"),
        ("8Gyam", "@Assistant:\n<thinking>\nhm\n</thinking>\nhi there\n\n"),
    ],
)
def test_a_message_is_a_text_object(shim: Shim, keys: str, expected: str) -> None:
    draw_talk(shim)
    shim.editor.keys("zR" + keys)
    assert shim.editor.call("getreg", '"') == expected


def test_a_message_is_selected_as_far_as_it_is_still_there(shim: Shim) -> None:
    shim.open("@You:\n\nhi\n")
    shim.view(message(1, 0, 3, inner=[2, 2]))
    shim.editor.keys("zR2GdGggyim")
    assert shim.editor.messages() == ""


def test_progress_stands_at_the_marker_of_the_answer(shim: Shim) -> None:
    shim.open("@You:\nhi\n\n@Assistant:\n")
    shim.view(message(2, 0, 3), message(3, 3, 1, "assistant", marks=[ruler(10)]))
    shim.tell("progress", {"bufnr": shim.buffer, "phase": "waiting", "characters": 0})
    shim.editor.wait_until(lambda: any("Waiting…" in row for row in shim.editor.screen_lines()))
    row = next(row for row in shim.editor.screen_lines() if "Waiting…" in row)
    assert "Assistant" in row
    assert row.endswith("· 0s")
    shim.tell("progress", {"bufnr": shim.buffer})
    assert not any("Waiting…" in row for row in shim.editor.screen_lines())
    assert shim.editor.exec_lua('return require("flemma.progress").is_running()') is False


def test_progress_of_a_running_answer_is_a_bar(shim: Shim) -> None:
    shim.open("@You:\nhi\n\n@Assistant:\nsome\n")
    shim.view(message(2, 0, 3), message(3, 3, 2, "assistant"))
    payload = {"bufnr": shim.buffer, "phase": "streaming", "characters": 1234}
    shim.tell("progress", payload)
    shim.editor.wait_until(
        lambda: any("1,234 characters ·" in row for row in shim.editor.screen_lines())
    )
    shim.tell("progress", {**payload, "phase": "buffering", "tool": "bash", "characters": 1})
    shim.editor.wait_until(
        lambda: any("bash · 1 character ·" in row for row in shim.editor.screen_lines())
    )
    shim.editor.command("enew!")
    shim.tell("progress", {"bufnr": shim.buffer, "phase": None})
    assert len(shim.editor.request("nvim_list_wins")) == 1


def test_a_bar_drops_what_does_not_fit(shim: Shim) -> None:
    fit = """
        local text = ""
        for _, chunk in ipairs(require("flemma.bar").fit(...)) do text = text .. chunk[1] end
        return text
    """
    segments = [
        {"items": [{"text": "model", "priority": 110}, {"text": "(provider)", "priority": 10}]},
        {"items": [{"text": "$0.10", "priority": 70}]},
        {"label": "Σ3", "items": [{"text": "$0.30", "priority": 100}]},
    ]
    cases = {
        80: "model  (provider)  │  $0.10  │  Σ3  $0.30",
        36: "model (provider) │ $0.10 │ Σ3 $0.30",
        26: "model │ $0.10 │ Σ3 $0.30",
        18: "model │ Σ3 $0.30",
        5: "model",
    }
    assert {width: shim.editor.exec_lua(fit, segments, width) for width in cases} == cases


def test_a_bar_displaces_another_at_its_edge_and_goes_after_its_time(shim: Shim) -> None:
    shim.open(TALK)
    items = {"segments": [{"items": [{"text": "words", "priority": 1}]}]}
    bar = {"bufnr": shim.buffer, **items}
    shim.tell("bar", {**bar, "name": "a", "position": "top left"})
    shim.tell("bar", {**bar, "name": "b", "position": "bottom"})
    assert len(shim.editor.request("nvim_list_wins")) == 3
    shim.tell("bar", {**bar, "name": "c", "position": "top", "timeout": 50})
    assert len(shim.editor.request("nvim_list_wins")) == 3
    shim.editor.wait_until(lambda: len(shim.editor.request("nvim_list_wins")) == 2)
    shim.tell("bar", {"bufnr": shim.buffer, "name": "b", "position": "bottom"})
    assert len(shim.editor.request("nvim_list_wins")) == 1


def test_the_line_of_the_cursor_has_the_blended_background(shim: Shim) -> None:
    draw_talk(shim)
    shim.editor.command("set cursorline")
    shim.editor.keys("8G")
    (mark,) = shim.editor.extmarks("flemma_cursorline")
    assert (mark.row, mark.details["line_hl_group"]) == (7, "FlemmaLineAssistantCursorLine")
    shim.editor.command("set nocursorline")
    shim.editor.keys("j")
    assert shim.editor.extmarks("flemma_cursorline") == []


def test_a_portion_of_a_long_chat_is_drawn(shim: Shim) -> None:
    shim.open("@You:\nhello\n\n@Assistant:\nhi there\n" * 4000)
    messages = [
        message(n + 2, start, length, role, marks=[ruler(4)], folds=[fold(f"{n}", 0, length - 1)])
        for n in range(250)
        for start, length, role in [(n // 2 * 5 + n % 2 * 3, 3 - n % 2, "user")]
    ]
    assert shim.view(*messages) == {"ok": True}
    assert len(shim.editor.extmarks("flemma_anchor")) == 250


def test_diagnostics_are_shown_in_place_of_those_before(shim: Shim) -> None:
    shim.open(TALK)
    item = {"line": 1, "column": 2, "severity": "error", "message": "bad"}
    shim.tell("diagnostics", {"bufnr": shim.buffer, "items": [item]})
    shown = shim.editor.exec_lua("return vim.diagnostic.get(0)")
    assert [(d["lnum"], d["col"], d["severity"], d["message"]) for d in shown] == [(1, 2, 1, "bad")]
    shim.tell("diagnostics", {"bufnr": shim.buffer, "items": []})
    assert shim.editor.exec_lua("return vim.diagnostic.get(0)") == []


def test_a_page_opens_once_and_closes_with_q(shim: Shim) -> None:
    shim.open(TALK)
    page = {
        "name": "flemma://status",
        "filetype": "flemma-status",
        "lines": ["Flemma Status", "", "Tools"],
        "marks": [[0, 0, 13, "Title"]],
        "position": 2,
    }
    shim.tell("show", page)
    assert shim.editor.lines() == page["lines"]
    assert shim.editor.cursor()[0] == 3
    shim.tell("show", {**page, "lines": ["new"], "marks": [], "position": None})
    assert shim.editor.lines() == ["new"]
    assert len(shim.editor.request("nvim_list_wins")) == 2
    shim.editor.keys("q")
    assert len(shim.editor.request("nvim_list_wins")) == 1


def test_counts_and_times_are_short(shim: Shim) -> None:
    count = 'return vim.tbl_map(require("flemma.progress").count, ...)'
    numbers = [1, 999, 3999, 4000, 4500, 20449, 999_949, 999_950, 1_200_000]
    shown = shim.editor.exec_lua(count, numbers)
    assert shown == [format_tokens(number) for number in numbers]
    duration = 'return vim.tbl_map(require("flemma.spinner").duration, ...)'
    seconds = [0, 59.9, 60, 185, 3602]
    assert shim.editor.exec_lua(duration, seconds) == [format_elapsed(each) for each in seconds]

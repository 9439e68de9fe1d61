"""Scripts of the demo model: their format, and which turn answers what."""

from importlib.resources import files
from typing import Any

import pytest

from flemma.errors import ConfigError
from flemma.providers.demo.play import Outcome, Situation, choose_turn, fill_in, situation
from flemma.providers.demo.provider import script_path, script_url
from flemma.providers.demo.script import OVER, Pace, Script, Turn, When, parse_script

START = Situation(0, (), 0, "hello")


def after(identifier: str, status: str = "ok", text: str = "", since: int = 0) -> Situation:
    return Situation(1, (Outcome(identifier, "bash", status, text),), since, "")


def test_plain_turns_are_played_one_after_the_other() -> None:
    script = parse_script("turns: [{text: one}, {text: two}]", "s")
    said = [choose_turn(script, Situation(n, (), n, "")).text for n in range(3)]
    assert said == ["one", "two", OVER.text]


def test_conditional_turns_do_not_count_for_the_plain_ones() -> None:
    script = parse_script("turns: [{text: a}, {text: x, when: {says: help}}, {text: b}]", "s")
    assert [turn.when.turn for turn in script.turns] == [0, None, 1]
    assert choose_turn(script, Situation(1, (), 1, "HELP me")).text == "x"


@pytest.mark.parametrize(
    ("when", "now", "holds"),
    [
        (When(turn=0), START, True),
        (When(turn=1), START, False),
        (When(says="HELL"), START, True),
        (When(after=("look",)), after("look"), True),
        (When(after=("bash",)), after("look"), True),
        (When(after=("other",)), after("look"), False),
        (When(after=("look",)), after("look", since=1), False),
        (When(after=("look",), since=1), after("look", since=1), True),
        (When(result=("rejected", "denied")), after("x", "denied"), True),
        (When(result=("ok",)), after("x", "error"), False),
        (When(contains="No such"), after("x", "error", "No such file"), True),
        (When(contains="No such"), START, False),
        (When(), START, True),
    ],
)
def test_conditions(when: When, now: Situation, holds: bool) -> None:
    turn = Turn(text="yes", when=when)
    assert (choose_turn(Script((turn,), OVER), now) is turn) is holds


def body(*messages: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in messages]}


def call(identifier: str, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": name, "input": {}}


def result(identifier: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identifier, "content": content, **more}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def test_the_situation_is_read_off_the_conversation() -> None:
    now = situation(
        body(
            ("user", [text("go")]),
            ("assistant", [call("look_1", "flemma__jobs__status")]),
            ("user", [result("look_1", [text("a"), text("b")]), text("and?")]),
        )
    )
    assert now == Situation(1, (Outcome("look", "flemma.jobs.status", "ok", "a\nb"),), 0, "and?")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("This tool has been rejected by the user.", "rejected"),
        ("User feedback: too risky", "rejected"),
        ("The tool was denied by a policy.", "denied"),
        ("User aborted tool execution.", "aborted"),
        ("Response interrupted by the user.", "aborted"),
        ("File not found: x", "error"),
    ],
)
def test_failed_results_are_told_apart(content: str, status: str) -> None:
    now = situation(
        body(
            ("assistant", [call("a_1", "bash")]), ("user", [result("a_1", content, is_error=True)])
        )
    )
    assert now.outcomes[0].status == status


def test_answers_since_the_last_results_are_counted() -> None:
    now = situation(
        body(
            ("user", [text("go")]),
            ("assistant", [call("a_1", "bash")]),
            ("user", [result("a_1", "x")]),
            ("assistant", [text("done")]),
            ("user", [text("next")]),
        )
    )
    assert (now.answers, now.since, now.said) == (2, 1, "next")


def test_placeholders_are_filled_in_everywhere_and_other_braces_stay() -> None:
    script = parse_script(
        "turns: [{text: '{result} {reason} {nobody} {}', thinking: '{said}', tools: "
        "[{name: bash, input: {command: 'ls {scratch}', list: ['{directory}', 3]}}]}]",
        "s",
    )
    now = Situation(4, (Outcome("a", "bash", "rejected", "User feedback: no\nway"),), 0, " hm ")
    turn = fill_in(script.turns[0], now, {"directory": "/d", "scratch": "/s"})
    assert turn.text == "User feedback: no no\nway {nobody} {}"
    assert turn.thinking == "hm"
    (tool,) = turn.tools
    assert tool.id == "bash_0_5"
    assert tool.input == {"command": "ls /s", "list": ["/d", 3]}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("turns: [{txt: a}]", "turn 1: unknown key 'txt', did you mean 'text'?"),
        ("turns: [{text: 3}]", "turn 1: 'text' must be str"),
        ("turns: [a]", "turn 1: expected a mapping"),
        ("turns: [{tools: [{input: {}}]}]", "turn 1, tools 1: 'name' is missing"),
        ("turns: [{when: {result: bad}}]", "turn 1, when: unknown result 'bad'"),
        ("turns: [{pace: {chunk: yes}}]", "turn 1, pace: 'chunk' must be int"),
        ("turns: []", "has no turns"),
        ("- a", "the script: expected a mapping"),
        ("a: [", "is not YAML"),
    ],
)
def test_mistakes_are_named_with_their_place(source: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_script(source, "my.yaml")
    assert "my.yaml" in caught.value.message
    assert complaint in caught.value.message


def test_pace_and_faults_are_read() -> None:
    script = parse_script(
        "pace: {delay: 0}\nturns: [{text: a, pace: {chunk: 1}, cut: true, stop: max_tokens,"
        " fail: {type: overloaded_error, times: 0, status: 529, retry_after: 1}}]",
        "s",
    )
    (turn,) = script.turns
    assert (script.pace, turn.pace) == (Pace(12, 0.0), Pace(1, 0.02))
    assert (turn.cut, turn.stop) == (True, "max_tokens")
    assert turn.fail is not None
    assert (turn.fail.times, turn.fail.status, turn.fail.retry_after) == (0, 529, 1)


@pytest.mark.parametrize("path", ["/a b/ü?#.yaml", None])
def test_a_script_has_an_address(path: str | None) -> None:
    assert script_path(script_url(path)) == path


def tour() -> Any:
    source = files("flemma.providers.demo") / "scripts" / "tour.yaml"
    return parse_script(source.read_text(encoding="utf-8"), "tour.yaml")


def test_the_tour_calls_read_write_edit_and_bash_and_ends_with_a_summary() -> None:
    script = tour()
    now, called, last = START, list[str](), ""
    for _ in range(8):
        turn = fill_in(choose_turn(script, now), now, {"directory": "/d", "scratch": "/s"})
        last = turn.text
        answers = now.answers + 1
        if turn.tools:
            called += [tool.name for tool in turn.tools]
            outcomes = tuple(
                Outcome(tool.id.rsplit("_", 1)[0], tool.name, "ok", "fine") for tool in turn.tools
            )
            now = Situation(answers, outcomes, 0, "")
        elif "What you have seen" in last:
            break
        else:
            now = Situation(answers, now.outcomes, now.since + 1, "word")
    assert called == ["read", "write", "edit", "bash"]
    assert "What you have seen" in last


@pytest.mark.parametrize("step", ["tour_read", "tour_write", "tour_edit", "tour_shell"])
@pytest.mark.parametrize("status", ["ok", "error", "rejected", "denied", "aborted"])
def test_the_tour_has_an_answer_to_every_outcome(step: str, status: str) -> None:
    text = "User feedback: not now" if status == "rejected" else "what happened"
    script = tour()
    now = Situation(1, (Outcome(step, "x", status, text),), 0, "")
    turn = fill_in(choose_turn(script, now), now, {})
    assert turn.text
    assert turn.text != script.otherwise.text
    if status == "rejected":
        assert "not now" in turn.text


@pytest.mark.parametrize(
    ("answers", "done", "since", "called"),
    [
        (1, None, 1, "read"),
        (3, "tour_read", 2, "write"),
        (4, "tour_write", 1, "edit"),
        (5, "tour_edit", 1, "bash"),
    ],
)
def test_the_tour_goes_on_when_an_answer_was_stopped_before_its_call(
    answers: int, done: str | None, since: int, called: str
) -> None:
    outcomes = (Outcome(done, "x", "ok", "fine"),) if done else ()
    turn = choose_turn(tour(), Situation(answers, outcomes, since, "hello"))
    assert [tool.name for tool in turn.tools] == [called]


def test_the_tour_explains_every_key() -> None:
    everything = "".join(turn.text for turn in tour().turns)
    for key in ("Ctrl-]", "Alt-A", "Alt-R", "Ctrl-C", "Alt-Enter"):
        assert key in everything

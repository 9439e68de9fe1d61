"""What must hold for any text and any edits."""

from hypothesis import given, settings
from hypothesis import strategies as st

from flemma.chat.document import Document
from flemma.chat.folds import fold_ranges
from flemma.chat.lint import lint
from flemma.chat.nodes import Change
from flemma.chat.parser import parse, parse_lines
from flemma.chat.query import node_at, siblings, unresolved
from flemma.chat.turns import turns
from tests.unit.chat.samples import NASTY_LINES, shape

lines = st.lists(st.sampled_from(NASTY_LINES), max_size=24)
changes = st.tuples(
    st.integers(0, 30),
    st.integers(0, 6),
    st.lists(st.sampled_from(NASTY_LINES), max_size=4).map(tuple),
    st.booleans(),
)


@given(st.text())
def test_any_text_parses_and_serializes_to_itself(text: str):
    document = parse(text)
    shape(document)
    assert document.serialize() == text


@given(lines)
def test_questions_about_any_document_have_an_answer(text: list[str]):
    document = parse_lines(text)
    lint(document)
    turns(document)
    assert all(fold.start <= fold.end for fold in fold_ranges(document))
    assert len(unresolved(document)) <= len(siblings(document))
    for line in range(document.line_count):
        node_at(document, line)


@settings(max_examples=400, deadline=None)
@given(lines, st.lists(changes, max_size=8))
def test_a_document_after_any_edits_is_the_one_a_full_parse_gives(
    text: list[str], edits: list[tuple[int, int, tuple[str, ...], bool]]
):
    document = parse_lines(text)
    for first, length, new, looked_at in edits:
        if looked_at:
            shape(document)
        document = document.apply(Change(first, first + length, new))
        assert shape(document) == shape(parse(document.text))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_same_holds_for_texts_of_many_chunks(data: st.DataObject):
    alphabet = data.draw(st.lists(st.sampled_from(NASTY_LINES), min_size=2, max_size=6))
    size = data.draw(st.integers(500, 1500))
    document = parse_lines([alphabet[(i * i + i // 7) % len(alphabet)] for i in range(size)])
    shape(document)
    for _ in range(4):
        first = data.draw(st.integers(0, document.line_count))
        last = first + data.draw(st.integers(0, 700))
        count = data.draw(st.sampled_from([0, 1, 2, 600]))
        new = tuple(data.draw(st.sampled_from(NASTY_LINES)) for _ in range(min(count, 3)))
        document = document.apply(Change(first, last, new * max(1, count // 3)))
        assert shape(document) == shape(parse(document.text))


@settings(deadline=None)
@given(lines, changes)
def test_messages_that_an_edit_does_not_touch_stay_the_same_objects(
    text: list[str], edit: tuple[int, int, tuple[str, ...], bool]
):
    before = parse_lines(text)
    first, length, new, _ = edit
    change = Change(min(first, before.line_count), first + length, new)
    after = before.apply(change)
    last_new = change.first + len(new)
    delta = after.line_count - before.line_count
    old = dict(zip(before.starts, before.messages, strict=True))
    for start, message in zip(after.starts, after.messages, strict=True):
        if start + message.line_count <= change.first:
            was = old.get(start)
        elif start >= last_new > 0:
            was = old.get(start - delta)
        else:
            continue
        if was is not None and was.line_count == message.line_count:
            assert message is was


@given(lines)
def test_lines_belong_to_the_message_whose_marker_is_above_them(text: list[str]):
    document = parse_lines(text)
    _check_message_at(document)


def _check_message_at(document: Document) -> None:
    for line in range(document.line_count):
        found = document.message_at(line)
        if found is None:
            assert not document.starts or line < document.starts[0]
            continue
        index, message = found
        start = document.start_of(index)
        assert start <= line < start + message.line_count
        assert message.line(line - start) == document.line(line)
    assert document.message_at(document.line_count) is None

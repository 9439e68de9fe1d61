"""The edit tool on real files (acceptance 73, 74; cases E-01 to E-21, E-33)."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from flemma.ports.files import BufferChange
from flemma.tools.builtin.edit import definition
from flemma.tools.context import ToolContext
from flemma.tools.definition import ToolPreview, ToolResult
from tests.support.tool_context import Confinement, LoadedBuffers, make_context

edit = definition()
UNENCODABLE = "Cannot write file: '{}' (U+{}) cannot be encoded in {}, the encoding of the file"
DONE = "Successfully replaced text in file."


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path, tool_name="edit")


async def run(
    context: ToolContext, old: str | None, new: str | None, path: str | None = "file"
) -> ToolResult:
    values: Any = {"label": "test", "path": path, "oldText": old, "newText": new}
    result = await edit.execute(values, context)  # pyright: ignore
    assert isinstance(result, ToolResult)
    return result


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"one two\n", "two", "three", b"one three\n"),
        (b"%d+ [x] (a|b)\n", "%d+ [x]", "\\1 $0", b"\\1 $0 (a|b)\n"),
        (b"keep cut keep", "cut ", "", b"keep keep"),
        (b"- a\n- b\n", "- b", "- c", b"- a\n- c\n"),
        (b"\n\nx", "\n\nx", "y", b"y"),
        (b"no final newline", "newline", "line", b"no final line"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\r\nd\n", "b\nc\nd", "B\nC\nd", b"a\r\nB\nC\r\nd\n"),
        (b"a\r\nb\r\nc\n", "c\n", "c\nd\n", b"a\r\nb\r\nc\nd\n"),
        (b"a\r\nb\r\n", "a\r\nb", "a\nb", b"a\nb\r\n"),
        (b"a\rb\rc", "a\nb", "x\ny", b"x\ry\rc"),
        (b"\xef\xbb\xbfmarked\n", "marked", "kept", b"\xef\xbb\xbfkept\n"),
        ("\ufeffa ü\n".encode("utf-16-le"), "a", "bc", "\ufeffbc ü\n".encode("utf-16-le")),
        (b"caf\xe9 x\n\x9d?\n", "x", "\u00fc", b"caf\xe9 \xfc\n\x9d?\n"),
        ("日本語のかな\n".encode("cp932"), "かな", "カナ", "日本語のカナ\n".encode("cp932")),
        (b"form\x0cfeed \xe2\x80\xa8 line\n", "line", "x", b"form\x0cfeed \xe2\x80\xa8 x\n"),
    ],
)  # fmt: skip
async def test_only_the_matched_bytes_change(
    context: ToolContext, content: bytes, old: str, new: str, expected: bytes
) -> None:
    """Acceptance 74; E-01, E-02, E-04, E-18, E-19."""
    path = Path(context.cwd, "file")
    path.write_bytes(content)
    assert await run(context, old, new) == ToolResult.ok(DONE)
    assert path.read_bytes() == expected


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("say “hello” – now", 'say "hello" - now'),
        ("a\u00a0b it’s", "a b it's"),
        ("ｆｕｌｌ（１）", "full(1)"),
        ('plain "quotes"', "plain “quotes”"),
    ],
)
async def test_look_alikes_match_in_one_place_and_the_result_says_so(
    context: ToolContext, content: str, old: str
) -> None:
    """E-07."""
    path = Path(context.cwd, "file")
    path.write_text(f"before\n{content}\nafter\n")
    result = await run(context, old, "new")
    assert isinstance(result.output, str)
    assert result.output.startswith(DONE + " It was found only by taking look-alike characters")
    assert path.read_text() == "before\nnew\nafter\n"


@pytest.mark.parametrize(
    ("content", "old", "lines"),
    [
        ("aaa", "aa", "1, 1"),
        ("x\ny\nx\n", "x", "1, 3"),
        ("a\r\nb\r\na\r\nb\r\n", "a\nb", "1, 3"),
        ("“q”\n„q“\n", '"q"', "1, 2"),
    ],
)
async def test_several_places_are_an_error_with_their_lines(
    context: ToolContext, content: str, old: str, lines: str
) -> None:
    """Acceptance 73; E-08, E-09."""
    path = Path(context.cwd, "file")
    path.write_bytes(content.encode())
    assert (await run(context, old, "new")).error == (
        "Found 2 occurrences of the text in file. The text must be unique. Please provide more "
        f"context to make it unique.\n\nThey begin on lines {lines}."
    )
    assert path.read_bytes() == content.encode()


NOT_FOUND = (
    "Could not find the exact text in file. The old text must match exactly including all "
    "whitespace and newlines."
)


@pytest.mark.parametrize(
    ("content", "old", "hint"),
    [
        (
            "def f():\n\treturn 1\n",
            "def f():\n    return 1\n",
            "The nearest text is at line 1:\ndef f():\n\treturn 1\n"
            "Line 2 differs in its indentation: the file has 1 tab, the given text 4 spaces.",
        ),
        (
            "one\ntwo\nconst limit = 10;\n",
            "const limit = 20;",
            "The nearest text is at line 3:\nconst limit = 10;\n"
            "Line 3 differs at column 15: the file has '1', the given text '2'.",
        ),
        (
            "value =  1\nother\n",
            "value = 1\nother",
            "The nearest text is at line 1:\nvalue =  1\nother\n"
            "Line 1 differs at column 9: the file has space (U+0020), the given text '1'.",
        ),
        (
            "cafe\u0301 au lait",
            "café au lait",
            "The nearest text is at line 1:\ncafe\u0301 au lait\n"
            "Line 1 differs at column 4: the file has 'e', "
            "the given text latin small letter e with acute (U+00E9).",
        ),
        (
            "end of file",
            "end of file\nand more",
            "The nearest text is at line 1:\nend of file\n"
            "The file ends after line 1, the given text goes on.",
        ),
        (
            "trailing  \nnext",
            "trailing\nnext",
            "The nearest text is at line 1:\ntrailing  \nnext\n"
            "Line 1 differs in white space at its end.",
        ),
        ("entirely\nunlike\n", "0123456789", ""),
        ("", "anything", ""),
    ],
)
async def test_text_that_is_not_found_gets_the_nearest_place(
    context: ToolContext, content: str, old: str, hint: str
) -> None:
    """E-05, E-06, E-12, E-18."""
    Path(context.cwd, "file").write_text(content)
    error = (await run(context, old, "new")).error
    assert error == (f"{NOT_FOUND}\n\n{hint}" if hint else NOT_FOUND)


@pytest.mark.parametrize(
    ("old", "new", "path", "error"),
    [
        ("a", "b", None, "No path provided"),
        (None, "b", "file", "No oldText provided"),
        ("", "b", "file", "No oldText provided"),
        ("a", None, "file", "No newText provided"),
        ("a", "b", "none", "File not found: none"),
        ("a", "b", ".", "File not found: . is a directory. Use ls to list it."),
        ("a", "a", "file", "No changes made to file. The replacement produced identical content."),
        ("a", "b", "binary", "Cannot read file: binary is not a text file"),
        ("a", "→", "latin", UNENCODABLE.format('→', '2192', 'cp1252')),
        ("a", "\ud83d", "file", UNENCODABLE.format('', 'D83D', 'utf-8')),
    ],
)  # fmt: skip
async def test_what_cannot_be_done_is_said_and_nothing_changes(
    context: ToolContext, old: str | None, new: str | None, path: str | None, error: str
) -> None:
    """E-04, E-23, B-14."""
    contents = {"file": b"a\n", "binary": b"a\0\xff" * 9, "latin": b"a \xe9\n"}
    files = {name: Path(context.cwd, name) for name in contents}
    for name, content in contents.items():
        files[name].write_bytes(content)
    assert (await run(context, old, new, path)).error == error
    assert {name: files[name].read_bytes() for name in files} == contents


async def test_the_sandbox_is_asked_first(tmp_path: Path) -> None:
    context = make_context(tmp_path, sandbox=Confinement(writable=str(tmp_path / "in")))
    (tmp_path / "file").write_text("a")
    assert (await run(context, "a", "b")).error == (
        "Sandbox: edit denied – path is outside writable directories: file"
    )


async def test_links_and_mode_are_kept(context: ToolContext) -> None:
    """E-14, E-15."""
    real = Path(context.cwd, "real")
    real.write_text("old")
    real.chmod(0o755)
    Path(context.cwd, "file").symlink_to("real")
    await run(context, "old", "new")
    assert (real.read_text(), stat.S_IMODE(real.stat().st_mode)) == ("new", 0o755)
    assert Path(context.cwd, "file").is_symlink()


async def test_edits_of_one_turn_all_land(context: ToolContext) -> None:
    """E-11, E-33: side by side, each on the text as it is then, each with its own result."""
    path = Path(context.cwd, "file")
    path.write_text("".join(f"<{number}>\n" for number in range(20)))
    Path(context.cwd, "link").symlink_to("file")
    results = await asyncio.gather(
        *(
            run(context, f"<{number}>", f"{number}\nnew", "link" if number % 2 else "file")
            for number in range(20)
        ),
        run(context, "<99>", "x"),
    )
    assert [result.success for result in results] == [True] * 20 + [False]
    assert path.read_text() == "".join(f"{number}\nnew\n" for number in range(20))


async def test_a_loaded_buffer_is_edited_as_one_step_and_saved(tmp_path: Path) -> None:
    """E-21."""
    path = tmp_path / "file"
    path.write_text("one\ntwo\nthree\nfour\n")
    buffers = LoadedBuffers()
    buffer = buffers.load(path)
    context = make_context(tmp_path, buffers=buffers)
    assert await run(context, "two\nthree", "two\nTHREE\nmore") == ToolResult.ok(DONE)
    assert buffer.undo_steps == [(2, 3)]
    assert not buffer.modified
    assert path.read_text() == "one\ntwo\nTHREE\nmore\nfour\n"


async def test_unsaved_changes_of_the_user_survive(tmp_path: Path) -> None:
    """E-21, E-13: the buffer is the truth, and it is not saved behind the user's back."""
    path = tmp_path / "file"
    path.write_text("on disk\n")
    buffers = LoadedBuffers()
    buffer = buffers.load(path, "typed\nby hand\n", modified=True)
    result = await run(make_context(tmp_path, buffers=buffers), "by hand", "by both")
    assert result.output == (
        f"{DONE} The file has unsaved changes in the editor: the change was made there and is not "
        "saved."
    )
    assert buffer.lines == ["typed", "by both"]
    assert (buffer.modified, path.read_text()) == (True, "on disk\n")


async def test_typing_meanwhile_moves_the_place_but_not_the_edit(tmp_path: Path) -> None:
    """E-11 with the user as the second editor."""

    class Typing(LoadedBuffers):
        typed = False

        async def replace(self, path: str, change: BufferChange) -> None:
            if not self.typed:
                self.typed = True
                self.loaded[path].lines.insert(0, "typed")
                self.loaded[path].undo_steps.append((0, 0))
            await super().replace(path, change)

    path = tmp_path / "file"
    path.write_text("target\n")
    buffers = Typing()
    buffer = buffers.load(path, modified=True)
    await run(make_context(tmp_path, buffers=buffers), "target", "hit")
    assert buffer.lines == ["typed", "hit"]


def test_the_preview_is_the_path() -> None:
    assert edit.format_preview is not None
    assert edit.format_preview({"path": "config.lua", "label": "fixing typo"}) == ToolPreview(
        "config.lua", "fixing typo"
    )

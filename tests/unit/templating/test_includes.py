"""Files in templates: included, attached, referenced, missing, changed."""

import pytest

from flemma.chat.nodes import Diagnostic, Severity
from flemma.chat.parser import parse
from flemma.chat.references import write_reference
from flemma.conversation.messages import DocumentPart, ImagePart, TextPart
from flemma.conversation.references import Place, drifted, resolve_path
from flemma.conversation.templates import Rendered
from flemma.templating.attachments import mime_type
from flemma.templating.evaluation import Evaluation, TemplateSetting
from flemma.templating.files import Unreadable
from flemma.templating.library import Populator
from tests.unit.conversation.build_support import NOW, FilesInMemory, evaluation


def rendered(body: str, files: dict[str, bytes] | None = None, **variables: object) -> Rendered:
    (message,) = parse("@You:\n" + body).messages
    return evaluation(files, **variables).render(message.segments)


def only_problem(result: Rendered) -> Diagnostic:
    (problem,) = result.diagnostics
    return problem


def test_an_included_file_is_a_template_with_the_variables_it_is_given():
    files = {"/chats/sub/a.md": b"{{ greeting }} {{ name }} in {{ __filename }}\n"}
    body = "{{ include('sub/a.md', {'greeting': 'Hi'}, name='Ada') }}|"
    assert rendered(body, files).items == ("Hi Ada in /chats/sub/a.md\n|",)


def test_includes_start_at_the_directory_of_the_including_file():
    files = {
        "/chats/sub/a.md": b"a{{ include('b.md') }}{{ include('../c.md') }}",
        "/chats/sub/b.md": b"b",
        "/chats/c.md": b"c{{ include('~/d.md') }}{{ include('/abs/e.md') }}",
        "/home/me/d.md": b"d",
        "/abs/e.md": b"e",
    }
    assert rendered("{{ include('sub/a.md') }}", files).items == ("abcde",)


def test_variables_of_the_chat_are_unknown_in_an_include():
    """Acceptance 35."""
    result = rendered("{{ include('a.md') }}", {"/chats/a.md": b"x\ny {{ secret }}"}, secret="s")
    problem = only_problem(result)
    assert result.items == ("{{ include('a.md') }}",)
    assert problem.message == "Undefined variable 'secret'"
    assert problem.stack == ("/chats/a.chat", "/chats/a.md:2")


def test_a_circular_include_names_the_chain():
    """Acceptance 34."""
    files = {"/chats/a.md": b"{{ include('b.md') }}", "/chats/b.md": b"{{ include('a.md') }}"}
    result = rendered("x {{ include('a.md') }}", files)
    problem = only_problem(result)
    assert result.items == ("x {{ include('a.md') }}",)
    assert problem.message == "Circular include detected (requested by '/chats/b.md')"
    assert problem.stack == ("/chats/a.chat", "/chats/a.md", "/chats/b.md", "/chats/a.md")
    assert (problem.type, problem.reference) == ("file", "a.md")


def test_a_chat_cannot_include_itself_but_the_same_file_twice():
    assert "Circular" in only_problem(rendered("{{ include('a.chat') }}")).message
    assert rendered("{{ include('a.md') }}" * 2, {"/chats/a.md": b"x"}).items == ("xx",)


def test_a_statement_that_fails_in_an_include_fails_the_expression_only():
    result = rendered("a {{ include('a.md') }} {{ 1 }}", {"/chats/a.md": b"{% if %}"})
    assert result.items == ("a {{ include('a.md') }} 1",)
    assert only_problem(result).severity is Severity.WARNING


def test_file_references_and_frontmatter_in_an_include_are_plain_text():
    content = b"```lua\nx = 1\n```\n@You:\nsee @./b.md"
    assert rendered("{{ include('a.md') }}", {"/chats/a.md": content}).items == (content.decode(),)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("include(5)", "include() expects a string path, got int"),
        ("include(none)", "include() expects a string path, got NoneType"),
        ("include('a.md', 'x')", "include() expects its options in a mapping, got str"),
        ("include('gone.md')", "File not found: /chats/gone.md"),
        ("include('urn:flemma:personality:codng')", "Unknown personality: 'codng'"),
        (
            "include('urn:flemma:personality:coding-asistant')",
            "Unknown personality: 'coding-asistant' — did you mean 'coding-assistant'?",
        ),
        (
            "include('x.qqq')",
            "Not a text file: /chats/x.qqq; attach it with symbols.BINARY",
        ),
        (
            "include('x.qqq', {symbols.BINARY: true})",
            "Could not determine MIME type for: /chats/x.qqq",
        ),
    ],
)
def test_includes_that_fail_say_why(call: str, message: str):
    files = FilesInMemory({"/chats/a.md": b"", "/chats/x.qqq": b"\0\1\2"})
    place = Place("/chats/a.chat", "/chats", "/home/me")
    setting = TemplateSetting(place, files, NOW, personalities={"coding-assistant": lambda: "P"})
    (chat,) = parse("@You:\n{{ " + call + " }}").messages
    result = Evaluation(setting).render(chat.segments)
    assert only_problem(result).message == message
    assert result.items == ("{{ " + call + " }}",)


def test_a_personality_is_included_by_name():
    place = Place(None, "/work", "/home/me")
    setting = TemplateSetting(place, FilesInMemory({}), NOW, personalities={"p": lambda: "I am"})
    body = "@System:\n{{ include('urn:flemma:personality:p') }} {{ __filename }}"
    assert Evaluation(setting).render(parse(body).messages[0].segments).items == ("I am ",)


def test_an_attached_file_keeps_its_place_among_the_text():
    files = {"/chats/p.png": b"PNG", "/chats/d.pdf": b"PDF", "/chats/n.txt": b"note"}
    body = (
        "a {{ include('p.png', {symbols.BINARY: true}) }} b"
        "{{ include('n.txt', {symbols.BINARY: true, symbols.MIME: 'image/webp'}) }}"
        "{{ include('d.pdf', {symbols.BINARY: true}) }}c"
    )
    assert rendered(body, files).items == (
        "a ",
        ImagePart("image/png", b"PNG", "p.png"),
        " b",
        ImagePart("image/webp", b"note", "n.txt"),
        DocumentPart("application/pdf", b"PDF", "d.pdf"),
        "c",
    )


def test_an_attachment_comes_through_includes_macros_and_loops():
    files = {
        "/chats/p.png": b"PNG",
        "/chats/a.md": b"<{{ include('p.png', {symbols.BINARY: true}) }}>",
    }
    body = "{% macro m() %}[{{ include('a.md') }}]{% endmacro %}"
    body += "{% for i in [1, 2] %}{{ m() }}{% endfor %}"
    image = ImagePart("image/png", b"PNG", "p.png")
    assert rendered(body, files).items == ("[<", image, ">][<", image, ">]")


def test_a_reference_leaves_the_punctuation_to_the_prose():
    """Acceptance 23."""
    result = rendered("See @./a.md. (@./a.md)", {"/chats/a.md": b"text"})
    assert result.items == ("See ", TextPart("text"), ". (", TextPart("text"), ")")


def test_a_reference_may_force_its_type():
    """Acceptance 26."""
    result = rendered("@./data.bin;type=text/csv, ok", {"/chats/data.bin": b"a,b"})
    assert result.items == (TextPart("a,b"), ", ok")


def test_a_missing_reference_is_a_warning_and_stays_literal():
    """Acceptance 28."""
    result = rendered("one\nsee @./missing.md, {{ 1 }}")
    problem = only_problem(result)
    assert result.items == ("one\nsee @./missing.md, 1",)
    assert (problem.type, problem.severity) == ("file", Severity.WARNING)
    assert (problem.line, problem.column, problem.reference) == (2, 4, "@./missing.md")


def test_a_file_that_cannot_be_opened_is_a_warning():
    class Locked:
        def read(self, path: str) -> bytes | Unreadable:
            return Unreadable("Permission denied")

    setting = TemplateSetting(Place(None, "/w", "/h"), Locked(), NOW)
    result = Evaluation(setting).render(parse("@You:\n@./a.md").messages[0].segments)
    assert only_problem(result).message == "Failed to open file: Permission denied"


@pytest.mark.parametrize(
    ("in_tool_result", "text"), [(False, "@x.zip"), (True, "[binary file: x.zip]")]
)
@pytest.mark.parametrize("body", ["@./x.zip", "{{ include('x.zip', {symbols.BINARY: true}) }}"])
def test_an_unsupported_file_is_named_in_text(body: str, text: str, in_tool_result: bool):
    """Acceptance 31."""
    (message,) = parse("@You:\n" + body).messages
    shared = evaluation({"/chats/x.zip": b"PK\x05\x06" + b"\0" * 18})
    result = shared.render(message.segments, in_tool_result=in_tool_result)
    assert result.items == (text,)
    problem = only_problem(result)
    assert problem.message.startswith("Unsupported MIME type: application/")
    assert problem.line == 1


@pytest.mark.parametrize(
    "name",
    [
        *("a b.md", "a'b\".md", "100%.md", "a#b.md", "a[x].md", "a(1).md", "a+b.md", "ü ñ.md"),
        *("a;b.md", "a,b.", "weird)", "%41.md", "a\udcff.md", "c++.md"),
    ],
)
def test_paths_with_any_characters_can_be_referenced(name: str):
    """E-26, E-27, acceptance 25."""
    for reference in (
        write_reference(f"/chats/{name}"),
        write_reference(f"./{name}", "text/plain"),
    ):
        body = reference if name.endswith(".md") else reference + " "
        result = rendered("x " + body, {f"/chats/{name}": b"found"})
        assert TextPart("found") in result.items, reference


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("a.PY", b"", "text/x-python"),
        ("a.json", b"{}", "application/json"),
        ("a.svg", b"<svg/>", "image/svg+xml"),
        ("a.bash", b"", "text/x-shellscript"),
        ("Makefile", b"all:\n", "text/plain"),
        ("unknown.qqq", "ä".encode(), "text/plain"),
        ("noextension", b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "image/png"),
        ("noextension", b"%PDF-1.4\n%\xe2\xe3", "application/pdf"),
        ("noextension", b"\0\1\2\3", None),
        ("empty", b"", "text/plain"),
    ],
)
def test_the_type_of_a_file_is_found_by_name_then_by_content(path, data, expected):
    assert mime_type(path, data) == expected


def test_text_of_files_is_decoded_by_its_charset_and_without_a_byte_order_mark():
    files = {"/chats/a.md": b"\xef\xbb\xbfx", "/chats/l.md": b"\xe4", "/chats/z.md": b"q"}
    body = "@./a.md @./l.md;type='text/plain;charset=latin-1' @./z.md;type='text/plain;charset=zip'"
    assert [item for item in rendered(body, files).items if isinstance(item, TextPart)] == [
        TextPart("x"),
        TextPart("ä"),
        TextPart("q"),
    ]


def test_used_files_are_remembered_and_their_change_is_noticed_once():
    """Acceptance 112."""
    (message,) = parse("@You:\n@./a.md {{ include('b.md') }}").messages
    digests = []
    for content in (b"1", b"2", b"2"):
        shared = evaluation({"/chats/a.md": content, "/chats/b.md": b"b"})
        shared.render(message.segments)
        digests.append(dict(shared.used_files))
    assert list(digests[0]) == ["/chats/b.md", "/chats/a.md"]
    assert drifted({}, digests[0]) == ()
    (warning,) = drifted(digests[0], digests[1])
    assert warning.message == "File changed since last request: /chats/a.md"
    assert drifted(digests[1], digests[2]) == ()


def test_paths_resolve_like_in_a_shell():
    assert resolve_path("a/../b", "/x", "/h") == "/x/b"
    assert resolve_path("~/b", "/x", "/h") == "/h/b"
    assert resolve_path("~", "/x", "/h") == "/h"
    assert resolve_path("/b", "/x", "/h") == "/b"
    assert resolve_path("a~b", "/x", "/h") == "/x/a~b"


def test_populators_run_in_order_of_priority_and_may_change_what_is_there():
    def early(names: dict[str, object]) -> None:
        names["x"] = "early"

    def late(names: dict[str, object]) -> None:
        names["x"] = f"{names['x']}, late"
        del names["math"]

    setting = TemplateSetting(
        Place(None, "/w", "/h"),
        FilesInMemory({}),
        NOW,
        populators=(Populator("late", late), Populator("early", early, 50)),
    )
    body = parse("@You:\n{{ x }} {{ math is defined }}").messages[0].segments
    assert Evaluation(setting).render(body).items == ("early, late false",)

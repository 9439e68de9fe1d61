"""Templates, included files and attachments, from the file to the request."""

import base64

from tests.engine.bodies import result_text, results, said
from tests.engine.conftest import Chat
from tests.support.anthropic_server import message, text, tool_use

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def test_variables_of_the_frontmatter_reach_the_templates(chat: Chat):
    chat.write(
        "```yaml\nname: Ada\nitems: [one, two]\n```\n@System:\nYou help {{ name }}.\n\n"
        "@You:\n{% for item in items %}- {{ item }}\n{% endfor %}Sum: {{ 1 + 2 }}\n"
    )
    chat.run(message(text("Hello.")))
    assert "You help Ada." in str(chat.bodies[0]["system"])
    assert said(chat.bodies[0]) == ["- one\n- two\nSum: 3"]


def test_an_undefined_variable_is_told_and_sent_as_it_stands(chat: Chat):  # acceptance 32
    chat.write("@You:\nHello {{ nme }}.\n")
    ran = chat.run(message(text("Hello.")))
    assert said(chat.bodies[0]) == ["Hello {{ nme }}."]
    assert "Undefined variable 'nme'" in ran.messages[0]
    assert ran.code == 0


def test_a_broken_statement_blocks_the_send_and_names_its_line(chat: Chat):
    chat.write("@You:\nHello.\n{% if %}\nx\n{% endif %}\n")
    before = chat.text
    ran = chat.run()
    assert ran.code == 1
    assert "notes.chat:3" in ran.messages[0]
    assert ran.text == before


def test_files_are_attached_by_what_they_are(chat: Chat):  # acceptance 23, 25, 31
    (chat.directory / "my notes+v2.txt").write_text("plain text\n")
    (chat.directory / "pixel.png").write_bytes(PIXEL)
    (chat.directory / "data.bin").write_bytes(bytes(range(256)))
    chat.write("@You:\nSee @./my%20notes%2Bv2.txt. And @./pixel.png, and @./data.bin\n")
    ran = chat.run(message(text("I see.")))
    assert ran.code == 0
    content = chat.bodies[0]["messages"][-1]["content"]
    images = [block for block in content if block["type"] == "image"]
    assert [image["source"]["media_type"] for image in images] == ["image/png"]
    assert base64.b64decode(images[0]["source"]["data"]) == PIXEL
    assert "plain text" in "".join(said(chat.bodies[0]))
    assert len(ran.messages) == 1
    assert "Unsupported MIME type" in ran.messages[0]


def test_a_missing_file_is_told_and_the_rest_is_sent(chat: Chat):  # acceptance 28
    chat.write("@You:\nSee @./missing.md\n")
    ran = chat.run(message(text("Where?")))
    assert ran.code == 0
    assert "./missing.md" in ran.messages[0]


def test_includes_see_their_own_names_only_and_circles_are_named(chat: Chat):
    # acceptance 34, 35
    (chat.directory / "good.md").write_text("I am {{ who }} in {{ __filename }}.\n")
    (chat.directory / "b.md").write_text("{{ include('c.md') }}")
    (chat.directory / "c.md").write_text("{{ include('b.md') }}")
    chat.write(
        "```yaml\nhidden: secret\n```\n@You:\n{{ include('good.md', {'who': 'good'}) }}\n"
        "{{ include('b.md') }}\n"
    )
    ran = chat.run(message(text("Hm.")))
    sent = "".join(said(chat.bodies[0]))
    assert f"I am good in {chat.directory}/good.md." in sent
    assert "{{ include('b.md') }}" in sent
    assert "Circular include" in ran.messages[0]


def test_an_image_that_a_tool_read_is_sent_as_an_image(chat: Chat):
    (chat.directory / "pixel.png").write_bytes(PIXEL)
    chat.write("@You:\nLook at pixel.png.\n")
    ran = chat.run(
        message(tool_use("toolu_1", "read", {"path": "pixel.png", "label": "looking"})),
        message(text("One pixel.")),
    )
    assert ran.code == 0
    content = results(chat.bodies[-1])["toolu_1"]["content"]
    assert [part["source"]["media_type"] for part in content if part["type"] == "image"] == [
        "image/png"
    ]


def test_template_marks_in_a_file_that_was_read_are_sent_as_they_stand(chat: Chat):
    (chat.directory / "page.html").write_text("{{ title }} {% if x %} @./pixel.png\n")
    chat.write("@You:\nLook.\n")
    ran = chat.run(
        message(tool_use("toolu_1", "read", {"path": "page.html", "label": "looking"})),
        message(text("A template.")),
    )
    assert ran.code == 0
    told = result_text(results(chat.bodies[-1])["toolu_1"])
    assert told == "{{ title }} {% if x %} @./pixel.png"


def test_templates_in_the_answer_are_never_evaluated(chat: Chat):
    chat.write("@You:\nHi.\n")
    chat.run(
        message(
            text("Write {{ 1 + 1 }} and @./x.png"), tool_use("t1", "bash", {"command": "true"})
        ),
        message(text("Done.")),
        approve=("bash",),
    )
    assert said(chat.bodies[-1], "assistant") == ["Write {{ 1 + 1 }} and @./x.png"]

"""Old files (spec: behaviour 1.12)."""

from hypothesis import given
from hypothesis import strategies as st

from flemma.chat.edits import apply_edits, migrate
from flemma.chat.parser import parse_lines
from tests.unit.chat.samples import NASTY_LINES, chat, tool_use


def migrated(*lines: str) -> list[str]:
    document = chat(*lines)
    return apply_edits(document, migrate(document).edits).text.split("\n")


def test_text_behind_a_marker_moves_to_its_own_line():
    """Case 1."""
    assert migrated("@You: hi", "@Assistant:  there ", "@Other: x", "@System:  ") == [
        "@You:",
        "hi",
        "@Assistant:",
        " there ",
        "@Other: x",
        "@System:  ",
    ]


def test_fences_are_left_alone():
    lines = ("@You:", "```", "@You: hi", "```", "@You:")
    assert migrated(*lines) == list(lines)
    assert migrated("@You: ```", "@You: hi", "```") == ["@You:", "```", "@You: hi", "```"]


def test_tool_names_get_dots():
    document = chat("@Assistant: x", *tool_use("a:b", "slack:post"), "```", *tool_use("c", "d:e"))
    migration = migrate(document)
    after = apply_edits(document, migration.edits)
    assert after.line(2) == "**Tool Use:** `slack.post` (`a:b`)"
    assert after.line(7) == "**Tool Use:** `d:e` (`c`)"
    assert migration.renames_tools
    assert not migrate(chat("@You: x")).renames_tools
    assert migrate(chat("@You:", *tool_use("a", "b:c"))).edits == ()


def test_tool_names_in_the_frontmatter_get_dots_too():
    lines = (
        "```lua",
        'flemma.opt.tools = { "slack:post", "-mcp:*", "read" }',
        'flemma.opt.tools.auto_approve:append("flemma:jobs:status")',
        'model = "llama3:8b"; other = "notes:read"; url = "https://x"',
        'include("urn:flemma:personality:x") -- tools',
        "```",
        "@Assistant:",
        *tool_use("a", "notes:write"),
    )
    assert migrated(*lines)[1:5] == [
        'flemma.opt.tools = { "slack.post", "-mcp.*", "read" }',
        'flemma.opt.tools.auto_approve:append("flemma.jobs.status")',
        'model = "llama3:8b"; other = "notes.read"; url = "https://x"',
        'include("urn:flemma:personality:x") -- tools',
    ]


@given(st.lists(st.sampled_from((*NASTY_LINES, "@Assistant: ```", "@You:  x")), max_size=12))
def test_a_migrated_file_needs_no_migration(lines: list[str]):
    document = parse_lines(lines)
    after = apply_edits(document, migrate(document).edits)
    assert migrate(after).edits == ()

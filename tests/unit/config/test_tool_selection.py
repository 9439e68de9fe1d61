"""Which tools a buffer offers (spec: tools, "Per-buffer tool selection", "Glob patterns …")."""

import pytest

from flemma.config.frontmatter.result import apply_frontmatter
from flemma.config.layers import Layers
from flemma.config.tool_selection import selected_tools, selection_errors
from tests.unit.config.support import evaluate, setup

REGISTERED = (
    "bash",
    "edit",
    "flemma.jobs.status",
    "github.search_code",
    "github.create_issue",
    "linear.search_issues",
    "linear.update",
    "read",
    "slack.post",
    "slack.read",
    "write",
)
ENABLED = ("bash", "edit", "flemma.jobs.status", "linear.update", "read", "write")


def selected(code: str, layers: Layers | None = None) -> tuple[str, ...]:
    layers = apply_frontmatter(layers or Layers(), evaluate(code))
    assert selection_errors(layers, REGISTERED) == ()
    return selected_tools(layers, REGISTERED, ENABLED)


def errors(code: str) -> list[str]:
    layers = apply_frontmatter(Layers(), evaluate(code))
    return [error.message for error in selection_errors(layers, REGISTERED)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", ENABLED),
        ('flemma.opt.tools = {"bash", "read"}', ("bash", "read")),
        ('flemma.opt.tools:remove("write")', ENABLED[:-1]),
        ('flemma.opt.tools:append("slack.post")', (*ENABLED, "slack.post")),
        ('flemma.opt.tools:prepend("write")', ("write", *ENABLED[:-1])),
        ('flemma.opt.tools = flemma.opt.tools + "read"', (*ENABLED[:4], "write", "read")),
        ('flemma.opt.tools:append("slack.*")', (*ENABLED, "slack.post", "slack.read")),
        (
            'flemma.opt.tools = { "github.search_*", "linear.search_*" }',
            ("github.search_code", "linear.search_issues"),
        ),
        (
            'flemma.opt.tools:remove("linear.*")',
            tuple(name for name in ENABLED if name != "linear.update"),
        ),
        ("flemma.opt.tools = {}", ()),
        ('flemma.opt.tools = { "+slack.post", "!bash" }', (*ENABLED[1:], "slack.post")),
        ('flemma.opt.tools = {"bash"} flemma.opt.tools = nil', ENABLED),
    ],
)
def test_selection(code, expected) -> None:
    assert selected(code) == expected


def test_disabled_tools_can_be_asked_for_by_name() -> None:
    assert selected('flemma.opt.tools:append("github.create_issue")')[-1] == "github.create_issue"


def test_the_setup_chooses_and_the_file_changes() -> None:
    layers = setup({"tools": ["bash", "read"]})
    assert selected('flemma.opt.tools:append("write")', layers) == ("bash", "read", "write")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        # Acceptance 91 and 92.
        ('flemma.opt.tools = {"bsah"}', "Unknown tool 'bsah' -- did you mean 'bash'?"),
        ('flemma.opt.tools:append("nothing.*")', "Glob pattern 'nothing.*' matched no tools"),
        ('flemma.opt.tools:remove("nothing.*")', "Glob pattern 'nothing.*' matched no tools"),
        ('flemma.opt.tools:remove("BASHH")', "Unknown tool 'BASHH' -- did you mean 'bash'?"),
        ('flemma.opt.tools:prepend("zzzzzzzzz")', "Unknown tool 'zzzzzzzzz'"),
    ],
)
def test_what_nobody_registered_is_told_once_all_is_loaded(code, message) -> None:
    assert errors(code) == [message]


def test_errors_carry_the_line_of_the_block() -> None:
    layers = apply_frontmatter(Layers(), evaluate('\n\nflemma.opt.tools:append("nope.*")'))
    (error,) = selection_errors(layers, REGISTERED)
    assert (error.line, error.layer) == (3, "frontmatter")


def test_while_sources_load_a_glob_waits_for_its_tools() -> None:
    layers = apply_frontmatter(Layers(), evaluate('flemma.opt.tools:append("slack.*")'))
    assert selected_tools(layers, ["bash"], ["bash"]) == ("bash",)
    assert selected_tools(layers, ["bash", "slack.post"], ["bash"]) == ("bash", "slack.post")


def test_globs_of_auto_approve_are_never_checked() -> None:
    assert errors('flemma.opt.tools.auto_approve = {"flmma.*", "bsah"}') == []

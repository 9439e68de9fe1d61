"""Every frontmatter example of the tools document runs unchanged."""

import pytest

from flemma.config.auto_approve import approval_policy
from flemma.config.resolve import resolve
from flemma.config.setup import read_setup
from tests.unit.config.support import Layers, buffer, evaluate, messages

PER_BUFFER_APPROVAL = """\
-- Preset form: read-only access for this buffer
flemma.opt.tools.auto_approve = { "$readonly" }

-- List form: auto-approve these tools in this buffer
flemma.opt.tools.auto_approve = { "bash", "read" }

-- Mix presets and tool names
flemma.opt.tools.auto_approve = { "$standard", "bash" }

-- Function form: full control per-buffer
flemma.opt.tools.auto_approve = function(tool_name, input, ctx)
  if tool_name == "grep" then return true end
  return nil  -- pass to next resolver
end
"""

INCREMENTAL_APPROVAL = """\
-- Start from default, but remove write access
flemma.opt.tools.auto_approve = { "$standard" }
flemma.opt.tools.auto_approve:remove("write")

-- Add bash to the default set
flemma.opt.tools.auto_approve = { "$standard" }
flemma.opt.tools.auto_approve:append("bash")

-- Operator shorthand: + (append), - (remove)
flemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve + "bash" - "write"
"""

TOOL_SELECTION = """\
flemma.opt.tools = {"bash", "read"}             -- only these tools
flemma.opt.tools:remove("write")               -- remove from defaults
flemma.opt.tools:append("grep")                -- add a tool
flemma.opt.tools = flemma.opt.tools + "read"    -- operator overloads work too
"""

GLOBS = """\
-- Enable every Slack tool that the MCPorter discovery surfaced
flemma.opt.tools:append("slack.*")

-- Replace defaults with just GitHub + Linear search tools
flemma.opt.tools = { "github.search_*", "linear.search_*" }

-- Drop a noisy MCP server's tools from this buffer
flemma.opt.tools:remove("linear.*")
"""

PARAMETERS = """\
-- General parameters (work across all providers)
flemma.opt.thinking = "medium"          -- override the unified thinking level
flemma.opt.cache_retention = "long"     -- override prompt caching strategy
flemma.opt.max_tokens = 8000            -- override max output tokens
flemma.opt.temperature = 0.3            -- override sampling temperature

-- Provider-specific overrides (take priority over general)
flemma.opt.anthropic.thinking_budget = 20000
flemma.opt.openai.reasoning = "high"
flemma.opt.vertex.thinking_budget = 4096
"""

ALL = [PER_BUFFER_APPROVAL, INCREMENTAL_APPROVAL, TOOL_SELECTION, GLOBS, PARAMETERS]


@pytest.mark.parametrize("code", ALL)
def test_it_runs_without_a_complaint(code: str) -> None:
    assert messages(evaluate(code)) == []


def test_the_function_form_is_what_is_left_of_the_approval_example() -> None:
    policy = buffer(PER_BUFFER_APPROVAL).config.tools.auto_approve
    assert callable(policy)
    assert policy("grep", {}, {}) is True
    assert policy("bash", {}, {}) is None


def test_the_incremental_example_ends_with_bash_and_without_write() -> None:
    policy = approval_policy(buffer(INCREMENTAL_APPROVAL))
    assert [entry for entry, _ in policy.entries()] == [
        "read", "edit", "find", "grep", "ls", "flemma.*", "bash",
    ]  # fmt: skip


def test_the_parameters_example_sets_general_and_specific_ones() -> None:
    parameters = buffer(PARAMETERS).config.parameters
    assert parameters.thinking.level == "medium"
    assert parameters.cache_retention == "long"
    assert parameters.max_tokens == 8000
    assert parameters.temperature == 0.3
    assert parameters.anthropic.thinking_budget == 20000
    assert parameters.openai.reasoning == "high"
    assert parameters.vertex.thinking_budget == 4096


SETUPS = [
    """{ tools = {
  -- Preset references and tool names can be mixed freely
  auto_approve = { "$readonly", "bash" },

  -- Function form for full control
  auto_approve = function(tool_name, input, ctx)
    if tool_name == "grep" then return true end
    if tool_name == "bash" and input.command:match("rm %-rf") then return "deny" end
    return false  -- require approval
  end,
} }""",
    """{ presets = {
  ["$yolo"] = { auto_approve = { "bash", "read", "write", "edit" } },
},
tools = {
  auto_approve = { "$yolo" },
} }""",
    """{ tools = {
  store = {
    path_format = "$chat",          -- "$chat", "$state", or a template string
    unnamed_path_format = "${TMPDIR:-/tmp}/flemma/unnamed/{{ flemma.pid }}/{{ bufnr }}/{{ source }}_{{ name }}_{{ id }}.txt",
    materialize = false,            -- Write every result to the store, not just overflow and redirects
    preview = {
      lines = 10,                   -- Preview lines shown in the buffer for flemma.save_to redirects (0 = no preview)
      bytes = 2048,                 -- Preview size cap
    },
    backup = "version",             -- Backup strategy before overwriting (false to disable)
  },
} }""",  # noqa: E501
    """{ tools = {
  grep = {
    cwd = "urn:flemma:buffer:path",                         -- working directory
    exclude = { ".git", "node_modules", "__pycache__",      -- patterns to exclude
                ".venv", "target", "dist", "build", "vendor" },
  },
  find = {
    cwd = "urn:flemma:buffer:path",
    exclude = { ".git", "node_modules", "__pycache__",
                ".venv", "target", "dist", "build", "vendor" },
  },
  ls = {
    cwd = "urn:flemma:buffer:path",
  },
} }""",
    """{ tools = { modules = { "my_plugin.tools" } } }""",
]


@pytest.mark.parametrize("table", SETUPS)
def test_setup_examples_are_read_without_a_complaint(table: str) -> None:
    options = evaluate(f"options = {table}").variables["options"]
    operations, errors = read_setup(options)
    assert [error.message for error in errors] == []
    resolve(Layers(setup=operations))


def test_the_policy_of_the_setup_example_denies_what_it_says() -> None:
    options = evaluate(f"options = {SETUPS[0]}").variables["options"]
    policy = options["tools"]["auto_approve"]
    assert policy("grep", {}, {}) is True
    assert policy("bash", {"command": "rm -rf /"}, {}) == "deny"
    assert policy("bash", {"command": "ls"}, {}) is False

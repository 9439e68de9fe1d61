# ruff: noqa: E501 - lines of the page and of its tables
"""The hand-written parts of docs/configuration.md. Every example in them is run by a test."""

INTRODUCTION = """\
# Configuration

Every option, its default and what it does. Nothing has to be set: `require("flemma").setup({})` is
enough. Options go to three places, and the later one wins:

| Layer | Where | Holds for |
|---|---|---|
| SETUP | `require("flemma").setup({ … })` | every chat |
| RUNTIME | `:Flemma switch …`, `:Flemma autopilot:disable` and the like | this session |
| FRONTMATTER | the fenced block at the top of a `.chat` file | this file |

Below all of them are the defaults. `:Flemma status verbose` shows what is in force and the letter
(D, S, R, F) of the layer that said so; `:Flemma why` explains why a tool call was or was not
approved.
"""

TASKS = (
    ("choose the model", '`provider = "anthropic"`, `model = "…"`, or `:Flemma switch`'),
    ("let commands run without asking", '`tools.auto_approve = { "$standard", "bash" }`'),
    (
        "be asked about everything",
        "`tools.auto_approve = {}`, `tools.auto_approve_sandboxed = false`",
    ),
    ("never be asked", "`tools.require_approval = false`"),
    (
        "only let the model look around in one file",
        '`flemma.opt.tools.auto_approve = { "$readonly" }`',
    ),
    ("take a tool away", '`tools = { "!bash" }`'),
    ("have the model think more or less", '`thinking = "low"`'),
    ("shorten or lengthen answers", '`max_tokens = 8000` or `"50%"`'),
    ("stop it from going on by itself", "`tools.autopilot = false`"),
    ("run more tools at once", "`tools.max_concurrent = 4`"),
    ("give commands more time", "`tools.default_timeout = 120`"),
    ("turn the sandbox off", "`sandbox = false`"),
    ("let commands write elsewhere", '`sandbox.policy.rw_paths = { "+~/work" }`'),
    ("cut commands off from the network", "`sandbox.policy.network = false`"),
    ("use another key", '`keymaps.normal.send = "<C-CR>"`; false turns a key off'),
    ("change a colour", '`highlights.tool_name = "Title"` or `"#ff8800"`'),
    ("talk to a gateway or local server", '`parameters.anthropic.base_url = "http://…"`'),
    ("save the file by itself", "`editing.auto_write = true`"),
    ("find out what goes wrong", "`logging.enabled = true`, then `:Flemma logging:open`"),
)

GUIDE = """\
## How values combine

- **Single values**: the highest layer that sets one wins. `nil` there hides what lower layers set.
- **Sections and tables** merge option by option: setting `tools.max_concurrent` leaves the rest of
  `tools` alone.
- **Lists** add up. A plain list replaces what is below; a list whose items all begin with an
  operator changes it:

| Item | Effect |
|---|---|
| `"+bash"` | append (moved to the end if it is there) |
| `"^bash"` | prepend |
| `"!bash"` | remove |
| `"$readonly"` | all members of that preset |

```lua
require("flemma").setup({
  tools = { auto_approve = { "+bash", "!write" } }, -- the default, with bash, without write
})
```

- **Short forms**: `thinking`, `max_tokens`, `temperature`, `timeout` and `cache_retention` stand for
  `parameters.<same>`; `anthropic`, `openai` and the other providers for `parameters.<provider>`;
  `tools.approve` for `tools.auto_approve`; `true` and `false` for the `enabled` of a section.
- **Mistakes** never keep the rest from loading. They are reported once, with the layer, the line and
  the likely name: `unknown key 'tools.max_concurent' -- did you mean 'max_concurrent'?`

## In a chat file

Lua, with `flemma.opt` for settings; every other global becomes a variable for `{{ … }}`:

```lua
flemma.opt.thinking = "medium"
flemma.opt.anthropic.thinking_budget = 20000
flemma.opt.tools:remove("write")
flemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve + "bash" - "edit"
flemma.opt.tools.max_concurrent = 4
audience = "beginners"
```

YAML or JSON, with the key `flemma`; `$set`, `$append`, `$prepend` and `$remove` take one value or a
list, and may stand beside nested options:

```yaml
audience: beginners
flemma:
  thinking: medium
  tools:
    $remove: write
    auto_approve: { $append: [bash], $remove: edit }
```

The block is read when the file is opened, when you leave insert mode or change text in normal mode,
and before each send, always from scratch: a line that is gone has no effect. What is wrong shows as a
diagnostic on its line. A send is refused until it is mended; until then the other settings of the
block hold, or, if the block cannot be understood at all, those of its last good form.

The Lua in a file cannot reach files, programs or the editor, and it is stopped when it takes too long
or too much memory.

Another language is a function that gets the text of the block and returns variables, and settings
below the key `flemma`. In Lua, for blocks that begin with three backticks and `ini`:

```lua
require("flemma.frontmatter").register("ini", {
  parse = function(code, context)
    local found = { flemma = {}, folder = context.__dirname }
    for name, value in code:gmatch("([%w_]+) *= *([%w-]+)") do
      found.flemma[name] = value
    end
    return found
  end,
})
```

and in Python, in a file or module named in `tools.modules`:

```python
import tomllib

from flemma import extensions

extensions.register_frontmatter("toml", lambda code, names: tomllib.loads(code))
```

## Approval

`tools.auto_approve` takes names, globs, presets, or a function:

```lua
require("flemma").setup({
  presets = {
    ["$build"] = { auto_approve = { "read", "ls", "bash" } },
    ["$fast"] = "anthropic claude-haiku-4-5 thinking=low",
  },
  tools = {
    auto_approve = function(tool_name, input, context)
      if tool_name == "bash" and input.command:match("rm %-rf") then
        return "deny"
      end
      return tool_name == "grep" or nil
    end,
  },
})
```

The function answers `true` (run it), `false` (ask me), `"deny"` (tell the model no), or `nil` (the
next resolver decides). A preset may also carry a provider, a model, parameters and `tools`;
`:Flemma switch $fast` or `model = "$fast"` use it. Built in are `$readonly` (read, find, grep, ls) and
`$standard` (these, write, edit, and Flemma's own tools).

[Approval](approval.md) has the rest: who decides in which order, rules for shell commands, resolvers
of your own.
"""

EXAMPLES = {
    "general": """
require("flemma").setup({
  provider = "anthropic",
  model = "$fast",
  presets = { ["$fast"] = { provider = "anthropic", model = "claude-haiku-4-5", thinking = "low" } },
})
""",
    "parameters": """
require("flemma").setup({
  parameters = {
    max_tokens = "25%",
    thinking = { level = "medium", foreign = "drop" },
    anthropic = { thinking_budget = 20000, context_window = 200000 },
  },
})
""",
    "tools": """
require("flemma").setup({
  tools = {
    auto_approve = { "$standard", "bash" },
    autopilot = { max_turns = 20 },
    max_concurrent = 4,
    bash = { env = { CI = "1" } },
    store = { path_format = "$state" },
  },
})
""",
    "sandbox": """
require("flemma").setup({
  sandbox = { backend = "required", policy = { network = false, rw_paths = { "+~/work" } } },
})
""",
    "keymaps": """
require("flemma").setup({
  keymaps = { normal = { send = "<C-CR>", fold_toggle = false }, insert = { send = "<C-CR>" } },
})
""",
    "editing": """
require("flemma").setup({
  editing = { auto_write = true, conceal = false, auto_close = { thinking = false } },
})
""",
    "highlights": """
require("flemma").setup({
  highlights = { user = "Normal", tool_name = "#ff8800", tool_label = { italic = false, bold = true } },
})
""",
    "ui": """
require("flemma").setup({
  ui = { usage = { timeout = 0, position = "bottom right" }, pricing = false },
})
""",
    "turns": """
require("flemma").setup({
  turns = { padding = { 1, 1 } },
})
""",
    "logging": """
require("flemma").setup({
  logging = { enabled = true, level = "INFO" },
})
""",
}

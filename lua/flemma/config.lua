--- Options as Lua needs them: its own defaults, over them what `setup` got, over them what the host
--- merged. The host has the whole list and checks it; here are those of keys and pixels only.
local M = {}

---@type table<string, any>
local DEFAULTS = {
  python = nil,
  keymaps = {
    enabled = true,
    normal = {
      send = "<C-]>",
      cancel = "<C-c>",
      tool_execute = "<M-CR>",
      tool_approve = "<M-a>",
      tool_approve_all = "<M-A>",
      tool_reject = "<M-r>",
      tool_background = "<M-b>",
      message_next = "]m",
      message_prev = "[m",
      fold_toggle = "<Space>",
      conceal_toggle = "yoe",
      conceal_enable = "]oe",
      conceal_disable = "[oe",
      fold_turn = "zy",
      fold_turns = "zY",
    },
    insert = { send = "<C-]>" },
    text_object = "m",
  },
  highlights = {},
  line_highlights = { enabled = true },
  ruler = { enabled = true, char = "─" },
  turns = { enabled = true, padding = { left = 0, right = 1 }, hl = "FlemmaTurn" },
  ui = {
    approval = { syntax_highlighting = true },
    rejection = { enabled = true },
    progress = { position = "bottom left", highlight = "StatusLine" },
  },
  editing = {
    disable_textwidth = true,
    manage_updatetime = true,
    manage_viewoptions = true,
    foldlevel = 1,
    conceal = "2nv",
  },
  tools = { show_spinner = true },
  lsp = { enabled = true },
}

---@type table<string, any>
local given = {}
---@type table<string, any>
local merged = vim.deepcopy(DEFAULTS)

---@type fun()[]
local listeners = {}

---@param options table
local function merge(options)
  merged = vim.tbl_deep_extend("force", DEFAULTS, options)
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- What `setup` got, functions and all.
---@return table<string, any>
function M.given()
  return given
end

--- Keep the options of `setup`.
---@param options table<string, any>
function M.set(options)
  given = options
  -- A wrong type here is for the host to report; it must not break the keys.
  local usable = {}
  for key, value in pairs(options) do
    local default = DEFAULTS[key]
    if type(default) ~= "table" or type(value) == "table" then
      usable[key] = value
    end
  end
  merge(usable)
end

--- Take what the host merged from all layers.
---@param options table<string, any>
function M.pushed(options)
  merge(options)
end

--- Call `listener` whenever the options changed.
---@param listener fun()
function M.on_change(listener)
  table.insert(listeners, listener)
end

--- Return the option at a dotted path, or nil.
---@param path string such as "keymaps.normal.send"
---@return any
function M.get(path)
  local value = merged
  for name in path:gmatch("[^.]+") do
    if type(value) ~= "table" then
      return nil
    end
    value = value[name]
  end
  return value
end

return M

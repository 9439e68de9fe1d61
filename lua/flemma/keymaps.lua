--- Keys of a chat buffer, as the options say.
local config = require("flemma.config")

local M = {}

---@param name string
---@return fun()
local function command(name)
  return function()
    require("flemma.commands").send(name, "", { key = true })
  end
end

---@param module string
---@param name string
---@param ... any
---@return fun()
local function call(module, name, ...)
  local arguments = { ... }
  return function()
    require(module)[name](unpack(arguments))
  end
end

---@class flemma.Key
---@field option string below `keymaps`
---@field mode string|string[]
---@field action fun()
---@field desc string

---@type flemma.Key[]
local KEYS = {
  { option = "normal.send", mode = "n", action = command("send"), desc = "Send or continue" },
  { option = "normal.cancel", mode = "n", action = command("cancel"), desc = "Cancel" },
  {
    option = "normal.tool_execute",
    mode = "n",
    action = command("tool:execute"),
    desc = "Execute the tool at the cursor",
  },
  {
    option = "normal.tool_approve",
    mode = "n",
    action = command("tool:approve"),
    desc = "Approve the tool at the cursor",
  },
  {
    option = "normal.tool_approve_all",
    mode = "n",
    action = command("tool:approve-all"),
    desc = "Approve all pending tools",
  },
  {
    option = "normal.tool_reject",
    mode = "n",
    action = command("tool:reject"),
    desc = "Reject the tool at the cursor, with a reason",
  },
  {
    option = "normal.tool_background",
    mode = "n",
    action = command("tool:background"),
    desc = "Move the tool at the cursor to the background",
  },
  {
    option = "normal.message_next",
    mode = { "n", "x", "o" },
    action = call("flemma.navigation", "next"),
    desc = "Next message",
  },
  {
    option = "normal.message_prev",
    mode = { "n", "x", "o" },
    action = call("flemma.navigation", "previous"),
    desc = "Previous message",
  },
  {
    option = "normal.fold_toggle",
    mode = "n",
    action = call("flemma.folds", "toggle"),
    desc = "Toggle the message's fold",
  },
  {
    option = "normal.fold_turn",
    mode = "n",
    action = call("flemma.folds", "fold_turns", "current"),
    desc = "Fold the middle of this turn",
  },
  {
    option = "normal.fold_turns",
    mode = "n",
    action = call("flemma.folds", "fold_turns", "all"),
    desc = "Fold the middle of all turns",
  },
  {
    option = "normal.conceal_toggle",
    mode = "n",
    action = call("flemma.editing", "conceal", "toggle"),
    desc = "Toggle concealing",
  },
  {
    option = "normal.conceal_enable",
    mode = "n",
    action = call("flemma.editing", "conceal", "on"),
    desc = "Conceal markup",
  },
  {
    option = "normal.conceal_disable",
    mode = "n",
    action = call("flemma.editing", "conceal", "off"),
    desc = "Conceal nothing",
  },
  {
    option = "insert.send",
    mode = "i",
    action = call("flemma.insert", "send"),
    desc = "Send, and type on afterwards",
  },
}

---@param key string
---@return boolean
local function is_leader(key)
  local leader = vim.g.mapleader
  return type(leader) == "string" and leader ~= "" and vim.keycode(key) == vim.keycode(leader)
end

---@type table<integer, { mode: string|string[], key: string }[]> what was set, by buffer
local set_keys = {}

---@param bufnr integer
---@param mode string|string[]
---@param key string
---@param action fun()
---@param desc string
local function map(bufnr, mode, key, action, desc)
  vim.keymap.set(mode, key, action, { buffer = bufnr, desc = "Flemma: " .. desc, silent = true })
  table.insert(set_keys[bufnr], { mode = mode, key = key })
end

---@param bufnr integer
local function map_text_objects(bufnr)
  local letter = config.get("keymaps.text_object")
  if type(letter) ~= "string" or letter == "" then
    return
  end
  for prefix, scope in pairs({ i = "inner", a = "around" }) do
    local desc = (scope == "inner" and "inside a message" or "a message")
    local action = call("flemma.navigation", "select", scope)
    map(bufnr, { "x", "o" }, prefix .. letter, action, desc)
  end
end

---@param bufnr integer
local function clear(bufnr)
  for _, entry in ipairs(set_keys[bufnr] or {}) do
    pcall(vim.keymap.del, entry.mode, entry.key, { buffer = bufnr })
  end
  set_keys[bufnr] = {}
end

--- Set the keys of a chat buffer, in place of those set before.
---@param bufnr integer
function M.set(bufnr)
  clear(bufnr)
  if config.get("keymaps.enabled") == false then
    return
  end
  for _, entry in ipairs(KEYS) do
    local key = config.get("keymaps." .. entry.option)
    local usable = type(key) == "string" and key ~= ""
    if usable and not (entry.option == "normal.fold_toggle" and is_leader(key)) then
      map(bufnr, entry.mode, key, entry.action, entry.desc)
    end
  end
  map_text_objects(bufnr)
end

config.on_change(function()
  for bufnr in pairs(set_keys) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      M.set(bufnr)
    else
      set_keys[bufnr] = nil
    end
  end
end)

return M

--- Options of chat buffers and their windows; nothing leaks to others.
local config = require("flemma.config")

local M = {}

local UPDATETIME = 100 -- milliseconds

--- Global options while a chat buffer is current, and what they were before.
---@type table<string, any>
local saved = {}

--- A chat buffer was opened.
---@param bufnr integer
function M.opened(bufnr)
  if config.get("editing.disable_textwidth") ~= false then
    vim.bo[bufnr].textwidth = 0
  end
  vim.bo[bufnr].commentstring = "<!-- %s -->"
  require("flemma.markdown").highlight(bufnr)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    M.shown(window, bufnr)
  end
  if vim.api.nvim_get_current_buf() == bufnr then
    M.entered()
  end
end

---@return string? level
---@return string? modes
local function conceal_option()
  local value = config.get("editing.conceal")
  if type(value) ~= "string" then
    return nil
  end
  return value:match("^([0-3])([nvic]*)$")
end

--- A window shows a chat buffer.
---@param window integer
---@param bufnr integer
function M.shown(window, bufnr)
  local level, modes = conceal_option()
  if level then
    local options = vim.wo[window][0]
    options.conceallevel = tonumber(level)
    options.concealcursor = modes
  end
  require("flemma.turns").shown(window)
  require("flemma.folds").shown(window, bufnr)
end

---@param name string
---@param value any
local function set_global(name, value)
  if saved[name] == nil then
    saved[name] = vim.o[name]
  end
  vim.o[name] = value
end

--- A chat buffer became current.
function M.entered()
  if config.get("editing.manage_updatetime") ~= false then
    set_global("updatetime", UPDATETIME)
  end
  if config.get("editing.manage_viewoptions") ~= false then
    local kept = vim.tbl_filter(function(word)
      return word ~= "folds"
    end, vim.split(vim.o.viewoptions, ","))
    set_global("viewoptions", table.concat(kept, ","))
  end
end

--- A chat buffer is no longer current: global options are what they were.
function M.left()
  for name, value in pairs(saved) do
    vim.o[name] = value
  end
  saved = {}
end

--- Conceal markup or not, in the current window.
---@param change "on"|"off"|"toggle"
function M.conceal(change)
  local level = tonumber((conceal_option())) or 2
  local options = vim.wo[0][0]
  if change == "toggle" then
    change = options.conceallevel > 0 and "off" or "on"
  end
  options.conceallevel = change == "on" and level or 0
  require("flemma.marks").redraw(vim.api.nvim_get_current_buf(), "window")
end

return M

--- The line beside a turn, from the user's first message to the answer that ends it.
local config = require("flemma.config")
local outline = require("flemma.outline")

local M = {}

local EXPRESSION = "%!v:lua.require'flemma.turns'.column()"

--- The last line of a turn (0-based), or nil.
---@param bufnr integer
---@param turn integer[]
---@return integer?
local function end_of(bufnr, turn)
  local line = outline.line_of(bufnr, turn[2])
  local message = outline.of(bufnr).messages[turn[2]]
  return line and message and line + message.length - 1
end

--- Whether a turn covers a line.
---@param bufnr integer
---@param turn integer[]
---@param line integer 0-based
---@return boolean
function M.covers(bufnr, turn, line)
  local first = outline.line_of(bufnr, turn[1])
  local last = end_of(bufnr, turn)
  return first ~= nil and last ~= nil and first <= line and line <= last
end

--- The turn at a line, by its message: turns are few, but a screen has many lines.
---@param bufnr integer
---@param line integer 0-based
---@return integer[]?
local function turn_at(bufnr, line)
  local turns = outline.of(bufnr).turns
  local low, high = 1, #turns
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local turn = turns[middle]
    local first = outline.line_of(bufnr, turn[1])
    if not first or first > line then
      high = middle - 1
    elseif M.covers(bufnr, turn, line) then
      return turn
    else
      low = middle + 1
    end
  end
end

---@param bufnr integer
---@param turn integer[]
---@param line integer 0-based
---@param virtual boolean a wrapped or virtual line
---@return string
local function char_at(bufnr, turn, line, virtual)
  local complete = turn[3] == 1
  if line == outline.line_of(bufnr, turn[1]) and not virtual then
    return "╭"
  end
  local closed_end = vim.fn.foldclosedend(line + 1)
  local reach = closed_end > 0 and closed_end - 1 or line
  if reach >= (end_of(bufnr, turn) or math.huge) and not virtual then
    return complete and "╰" or "└"
  end
  return complete and "│" or "┊"
end

--- The turn's part of the status column at `v:lnum`.
---@param bufnr integer
---@param line integer 0-based
---@param virtual boolean
---@return string
function M.cell(bufnr, line, virtual)
  local padding = config.get("turns.padding") or {}
  local left, right = padding.left or 0, padding.right or 1
  local turn = turn_at(bufnr, line)
  if not turn then
    return (" "):rep(left + 1 + right)
  end
  local char = char_at(bufnr, turn, line, virtual)
  local ruled = char == "╭" and config.get("ruler.enabled") ~= false
  local filler = ruled and (config.get("ruler.char") or "─") or " "
  local group = config.get("turns.hl") or "FlemmaTurn"
  return ("%s%%#%s#%s%s%%*"):format((" "):rep(left), group, char, filler:rep(right))
end

--- The value of 'statuscolumn'.
---@return string
function M.column()
  local window = vim.g.statusline_winid
  local bufnr = vim.api.nvim_win_get_buf(window)
  return "%C%s%l" .. M.cell(bufnr, vim.v.lnum - 1, vim.v.virtnum ~= 0)
end

--- Show the column in a window, unless the user has one of his own or wants none.
---@param window integer
function M.shown(window)
  local options = vim.wo[window][0]
  if config.get("turns.enabled") ~= false and options.statuscolumn == "" then
    options.statuscolumn = EXPRESSION
  end
end

--- Turns changed: the column is drawn again.
---@param bufnr integer
function M.changed(bufnr)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local options = vim.wo[window][0]
    if options.statuscolumn == EXPRESSION then
      options.statuscolumn = EXPRESSION
    end
  end
end

return M

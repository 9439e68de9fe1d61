--- Jumps and text objects over messages.
local outline = require("flemma.outline")

local M = {}

---@return integer bufnr
---@return integer line 0-based
local function here()
  return vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
end

---@param located flemma.Located[]
---@return flemma.Located[]
local function messages_of(located)
  return vim.tbl_filter(function(entry)
    return entry.message.role ~= "frontmatter"
  end, located)
end

---@param bufnr integer
---@param line integer 0-based
local function jump(bufnr, line)
  vim.cmd("normal! m'")
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  require("flemma.cursor").request({ bufnr = bufnr, line = math.min(line, last), force = true })
  local row = vim.api.nvim_win_get_cursor(0)[1]
  vim.api.nvim_win_set_cursor(0, { row, 0 })
end

--- Go to the content of the next message.
function M.next()
  local bufnr, line = here()
  local found = messages_of(outline.from(bufnr, line + 1))[1]
  if found then
    jump(bufnr, found.line + 1)
  end
end

--- Go to the content of the message before (or to the top of this one's).
function M.previous()
  local bufnr, line = here()
  for _, found in ipairs(messages_of(outline.above(bufnr, line))) do
    if found.line + 1 < line then
      jump(bufnr, found.line + 1)
      return
    end
  end
end

---@param first integer 0-based
---@param last integer
---@param mode "v"|"V"
local function select(first, last, mode)
  -- The text may be shorter already than what was drawn of it.
  last = math.min(last, vim.api.nvim_buf_line_count(0) - 1)
  first = math.min(first, last)
  local final = vim.api.nvim_buf_get_lines(0, last, last + 1, false)[1] or ""
  if vim.api.nvim_get_mode().mode:find("^[vV\22]") then
    vim.cmd("normal! \27")
  end
  vim.api.nvim_win_set_cursor(0, { first + 1, 0 })
  vim.cmd("normal! " .. mode)
  vim.api.nvim_win_set_cursor(0, { last + 1, math.max(0, #final - 1) })
end

--- Select a message: `inner` its content, characterwise; `around` all of it, linewise.
---@param scope "inner"|"around"
function M.select(scope)
  local bufnr, line = here()
  local found = outline.at(bufnr, line)
  if not found or found.message.role == "frontmatter" then
    return
  end
  if scope == "around" then
    select(found.line, found.line + found.message.length - 1, "V")
  elseif found.message.inner then
    select(found.line + found.message.inner[1], found.line + found.message.inner[2], "v")
  end
end

return M

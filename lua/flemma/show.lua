--- Scratch buffers with text of the host, such as the status.
local M = {}

local namespace = vim.api.nvim_create_namespace("flemma_show")

---@class flemma.Page
---@field name string
---@field filetype string
---@field lines string[]
---@field marks? any[][] line, column, end column, group
---@field position? integer 0-based line
---@field update? boolean only if it is on the screen

--- Close the window; the last one of all shows something else instead.
local function close()
  if not pcall(vim.cmd.close) then
    vim.cmd.bwipeout()
  end
end

---@type table<string, integer> buffers by the name of their page
local buffers = {}

---@param name string
---@return integer
local function buffer_named(name)
  if buffers[name] and vim.api.nvim_buf_is_valid(buffers[name]) then
    return buffers[name]
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].bufhidden = "wipe"
  buffers[name] = bufnr
  vim.keymap.set("n", "q", close, { buffer = bufnr, nowait = true, desc = "Close" })
  return bufnr
end

---@param bufnr integer
---@param page flemma.Page
local function fill(bufnr, page)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, page.lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].modified = false
  if vim.bo[bufnr].filetype ~= page.filetype then
    vim.bo[bufnr].filetype = page.filetype
  end
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for _, mark in ipairs(page.marks or {}) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, mark[1], mark[2], {
      end_col = mark[3],
      hl_group = mark[4],
      strict = false,
    })
  end
end

--- Renew a page that is on the screen.
---@param page flemma.Page
---@return boolean shown
local function update(page)
  local bufnr = buffers[page.name]
  if not bufnr or not vim.fn.win_findbuf(bufnr)[1] then
    return false
  end
  if not vim.deep_equal(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), page.lines) then
    fill(bufnr, page)
  end
  return true
end

--- Show a page in a vertical split, or in the window that shows it already.
---@param page flemma.Page
---@return { shown: boolean }
function M.open(page)
  if page.update then
    return { shown = update(page) }
  end
  local bufnr = buffer_named(page.name)
  local window = vim.fn.win_findbuf(bufnr)[1]
  local is_new = window == nil
  fill(bufnr, page)
  if is_new then
    vim.cmd("vsplit")
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
    local options = vim.wo[window][0]
    options.number, options.relativenumber, options.wrap = false, false, false
    options.signcolumn, options.foldcolumn, options.statuscolumn = "no", "0", ""
  end
  if page.position then
    local line = math.min(page.position + 1, vim.api.nvim_buf_line_count(bufnr))
    vim.api.nvim_win_set_cursor(window, { math.max(1, line), 0 })
  end
  return { shown = true }
end

return M

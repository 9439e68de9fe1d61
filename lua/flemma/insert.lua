--- What happens in insert mode: role markers complete themselves, and a send from insert mode returns
--- to it.
local M = {}

local SWALLOW = 800 -- milliseconds

local MARKERS = { ["@System"] = true, ["@You"] = true, ["@Assistant"] = true }

---@type table<integer, boolean> buffers whose user was typing when he sent
local resuming = {}

local swallower = vim.api.nvim_create_namespace("flemma_swallow")

--- One Space or Enter typed by habit after the marker is dropped.
local function swallow()
  local deadline = vim.uv.now() + SWALLOW
  vim.on_key(function(_, typed)
    if typed == nil or typed == "" then
      return
    end
    vim.on_key(nil, swallower)
    local is_habit = typed == " " or typed == "\r"
    if is_habit and vim.uv.now() <= deadline and vim.api.nvim_get_mode().mode == "i" then
      return ""
    end
  end, swallower)
end

---@param bufnr integer
---@param row integer 1-based
local function complete_marker(bufnr, row)
  if vim.api.nvim_get_current_buf() ~= bufnr or not vim.bo[bufnr].modifiable then
    return
  end
  local line = vim.api.nvim_buf_get_lines(bufnr, row - 1, row, false)[1] or ""
  if not MARKERS[line:sub(1, -2)] or line:sub(-1) ~= ":" then
    return
  end
  local below = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  if not below or below:match("%S") then
    vim.api.nvim_buf_set_lines(bufnr, row, row, false, { "" })
  end
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  swallow()
end

--- A character is about to be inserted.
---@param bufnr integer
function M.typed(bufnr)
  if vim.v.char ~= ":" then
    return
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  if MARKERS[line] and column == #line then
    vim.schedule(function()
      complete_marker(bufnr, row)
    end)
  end
end

--- Send from insert mode: leave it first, and come back when the work is done.
function M.send()
  local bufnr = vim.api.nvim_get_current_buf()
  vim.cmd("stopinsert")
  vim.schedule(function()
    if vim.api.nvim_get_current_buf() == bufnr then
      resuming[bufnr] = true
      require("flemma.commands").send("send", "", { key = true, insert = true })
    end
  end)
end

--- The user entered insert mode by himself: there is nothing to return to.
---@param bufnr integer
function M.entered(bufnr)
  resuming[bufnr] = nil
end

--- What the send set going is over. He types on if there is something to say, and if he left the
--- cursor at the end.
---@param payload { bufnr: integer, resume: boolean }
function M.ended(payload)
  local bufnr = payload.bufnr
  local is_due = resuming[bufnr] and payload.resume
  resuming[bufnr] = nil
  local is_here = vim.api.nvim_get_current_buf() == bufnr
    and vim.api.nvim_get_mode().mode == "n"
    and vim.api.nvim_win_get_cursor(0)[1] == vim.api.nvim_buf_line_count(bufnr)
  if is_due and is_here then
    vim.cmd("startinsert!")
  end
end

return M

--- The cursor: it follows growing text where the user lets it, and moves elsewhere only when he is
--- still.
---
--- A window is *with us* while its cursor is on the last line, where we put it, or where the user asked
--- for the next step. Once the user moves away it is his; only forced moves reach it.
local M = {}

--- Where we put the cursor of a window: an extmark with the window's number.
local placed = vim.api.nvim_create_namespace("flemma_placed")
local selection = vim.api.nvim_create_namespace("flemma_selection")
local targets = vim.api.nvim_create_namespace("flemma_cursor")
local STILL = 100 -- milliseconds, when 'updatetime' is longer than that it counts

---@class flemma.PendingMove
---@field mark? integer extmark of the target line; none means the last line
---@field timer uv.uv_timer_t

---@type table<integer, flemma.PendingMove> by buffer
local pending = {}

---@param window integer
---@return integer line 1-based
local function line_of(window)
  return vim.api.nvim_win_get_cursor(window)[1]
end

---@param window integer
---@param bufnr integer
---@return boolean
local function is_with_us(window, bufnr)
  local line = line_of(window)
  local mark = vim.api.nvim_buf_get_extmark_by_id(bufnr, placed, window, {})
  return line == vim.api.nvim_buf_line_count(bufnr) or mark[1] == line - 1
end

---@param bufnr integer
---@return integer[]
local function windows_with_us(bufnr)
  return vim.tbl_filter(function(window)
    return is_with_us(window, bufnr)
  end, vim.fn.win_findbuf(bufnr))
end

--- Count the window as being where we put it.
---@param window integer
---@param bufnr integer
local function note(window, bufnr)
  vim.api.nvim_buf_set_extmark(bufnr, placed, line_of(window) - 1, 0, { id = window })
end

---@param window integer
---@param bufnr integer
---@param line integer 1-based
local function place(window, bufnr, line)
  line = math.max(1, math.min(line, vim.api.nvim_buf_line_count(bufnr)))
  local text = vim.api.nvim_buf_get_lines(bufnr, line - 1, line, true)[1]
  vim.api.nvim_win_set_cursor(window, { line, #text })
  note(window, bufnr)
end

---@param bufnr integer
---@return boolean
local function is_typing(bufnr)
  local mode = vim.api.nvim_get_mode().mode
  return vim.api.nvim_get_current_buf() == bufnr and mode:sub(1, 1) ~= "n"
end

--- Hold the end of a selection in the current window: Neovim takes a cursor at the end of the text
--- along with what is appended there.
---@param bufnr integer
---@return { restore: fun(), release: fun() }
local function hold_selection(bufnr)
  local window = vim.api.nvim_get_current_win()
  local is_selecting = vim.api.nvim_get_mode().mode:find("^[vVsS\22\19]") ~= nil
  if not is_selecting or vim.api.nvim_win_get_buf(window) ~= bufnr then
    return { restore = function() end, release = function() end }
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(window))
  local options = { right_gravity = false }
  local mark = vim.api.nvim_buf_set_extmark(bufnr, selection, row - 1, column, options)
  local function release()
    vim.api.nvim_buf_del_extmark(bufnr, selection, mark)
  end
  return {
    restore = function()
      local position = vim.api.nvim_buf_get_extmark_by_id(bufnr, selection, mark, {})
      release()
      if vim.api.nvim_win_is_valid(window) and position[1] then
        vim.api.nvim_win_set_cursor(window, { position[1] + 1, position[2] })
      end
    end,
    release = release,
  }
end

--- Note how windows stand in a buffer that is about to change. `follow` keeps those at its end there,
--- and the others where we put them: the change may have pushed their mark off the cursor's line.
--- `release` is for a change that did not come about.
---@param bufnr integer
---@return { follow: fun(), release: fun() }
function M.tail(bufnr)
  local held = hold_selection(bufnr)
  local count = vim.api.nvim_buf_line_count(bufnr)
  ---@type table<integer, boolean> whether at the end, by window
  local ours = {}
  for _, window in ipairs(windows_with_us(bufnr)) do
    -- Who types or selects is not moved.
    if window ~= vim.api.nvim_get_current_win() or not is_typing(bufnr) then
      ours[window] = line_of(window) == count
    end
  end
  return {
    follow = function()
      held.restore()
      local last = vim.api.nvim_buf_line_count(bufnr)
      for window, is_at_end in pairs(ours) do
        if vim.api.nvim_win_is_valid(window) then
          if is_at_end and last > count then
            place(window, bufnr, last)
          else
            note(window, bufnr)
          end
        end
      end
    end,
    release = held.release,
  }
end

---@param bufnr integer
local function drop(bufnr)
  local move = pending[bufnr]
  if not move then
    return
  end
  pending[bufnr] = nil
  move.timer:stop()
  move.timer:close()
  if move.mark and vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_del_extmark(bufnr, targets, move.mark)
  end
end

---@param bufnr integer
---@param move flemma.PendingMove
---@return integer? line 1-based
local function target_of(bufnr, move)
  if not move.mark then
    return vim.api.nvim_buf_line_count(bufnr)
  end
  local position = vim.api.nvim_buf_get_extmark_by_id(bufnr, targets, move.mark, {})
  return position[1] and position[1] + 1
end

---@param bufnr integer
local function run(bufnr)
  local move = pending[bufnr]
  if not move or is_typing(bufnr) then
    return -- leaving insert mode starts the wait anew
  end
  local line = vim.api.nvim_buf_is_loaded(bufnr) and target_of(bufnr, move)
  drop(bufnr)
  if not line then
    return
  end
  for _, window in ipairs(windows_with_us(bufnr)) do
    place(window, bufnr, line)
  end
end

---@param bufnr integer
local function wait_until_still(bufnr)
  local delay = math.max(STILL, vim.o.updatetime)
  pending[bufnr].timer:start(
    delay,
    0,
    vim.schedule_wrap(function()
      run(bufnr)
    end)
  )
end

---@param bufnr integer
---@param line integer 0-based, -1 for the last one
local function defer(bufnr, line)
  drop(bufnr)
  local mark
  if line >= 0 then
    local row = math.min(line, vim.api.nvim_buf_line_count(bufnr) - 1)
    mark = vim.api.nvim_buf_set_extmark(bufnr, targets, row, 0, {})
  end
  pending[bufnr] = { mark = mark, timer = assert(vim.uv.new_timer()) }
  wait_until_still(bufnr)
end

--- Move to a line: at once when forced, else when the user has been still; the newest wish wins.
---@param payload { bufnr: integer, line: integer, force: boolean }
function M.request(payload)
  local bufnr = payload.bufnr
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  if not payload.force then
    if #windows_with_us(bufnr) > 0 then
      defer(bufnr, payload.line)
    end
    return
  end
  drop(bufnr)
  local current = vim.api.nvim_get_current_win()
  local windows = vim.fn.win_findbuf(bufnr)
  local window = vim.list_contains(windows, current) and current or windows[1]
  if window then
    local line = payload.line < 0 and vim.api.nvim_buf_line_count(bufnr) or payload.line + 1
    place(window, bufnr, line)
  end
end

--- The user asked for the next step in the current window: it comes along, and where it should have
--- gone before does not matter any more.
---@param bufnr integer
function M.join(bufnr)
  drop(bufnr)
  note(vim.api.nvim_get_current_win(), bufnr)
end

--- The user moved: a waiting move waits on.
---@param bufnr integer
function M.moved(bufnr)
  if pending[bufnr] then
    wait_until_still(bufnr)
  end
end

--- Drop what is kept of a buffer that is gone.
---@param bufnr integer
function M.forget(bufnr)
  drop(bufnr)
end

return M

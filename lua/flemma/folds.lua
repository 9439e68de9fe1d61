--- Folds of a chat: manual ones, made and removed message by message as views arrive.
---
--- Neovim moves manual folds along with the text, so that nothing is computed per line. With the
--- option `editing.foldlevel = false` folding is left to the user.
local config = require("flemma.config")
local outline = require("flemma.outline")
local patience = require("flemma.patience")

local M = {}

local FOLDTEXT = "v:lua.require'flemma.foldtext'.text()"

---@class flemma.FoldState
---@field windows table<integer, boolean> windows that have the folds
---@field closed_once table<string, boolean> ids that were closed by us: the user's word counts since
---@field stale boolean whether views came during insert mode, and the folds wait for its end

---@type table<integer, flemma.FoldState>
local states = {}

---@param bufnr integer
---@return flemma.FoldState
local function state_of(bufnr)
  states[bufnr] = states[bufnr] or { windows = {}, closed_once = {}, stale = false }
  return states[bufnr]
end

---@return boolean
local function is_managed()
  return config.get("editing.foldlevel") ~= false
end

--- Whether the user types or selects: folds would disturb the one and end the other.
---@param bufnr integer
---@return boolean
local function is_held(bufnr)
  return vim.api.nvim_get_current_buf() == bufnr
    and vim.api.nvim_get_mode().mode:find("^[iRvVsS\22\19]") ~= nil
end

--- The windows of a buffer that have our folds, each made ready if it is new.
---@param bufnr integer
---@return integer[]
local function windows_of(bufnr)
  local state = state_of(bufnr)
  return vim.tbl_filter(function(window)
    return state.windows[window] == true
  end, vim.fn.win_findbuf(bufnr))
end

---@param window integer
---@param action fun()
local function within(window, action)
  vim.api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    action()
    vim.fn.winrestview(view)
  end)
end

---@param window integer
local function set_options(window)
  local options = vim.wo[window][0]
  if options.foldmethod ~= "manual" then
    options.foldmethod = "manual"
  end
  if options.foldtext ~= FOLDTEXT then
    options.foldtext = FOLDTEXT
  end
end

--- Delete the folds that start with a message's first line.
---@param line integer 0-based
local function delete_at(line)
  if vim.fn.foldlevel(line + 1) > 0 then
    vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
    vim.cmd("normal! zD")
  end
end

--- Whether each fold is closed, by id.
---@alias flemma.FoldMemory table<string, boolean>

---@param message flemma.Message
---@param line integer 0-based
---@param memory flemma.FoldMemory
local function remember(message, line, memory)
  for _, fold in ipairs(message.folds) do
    local first = line + fold.row + 1
    memory[fold.id] = vim.fn.foldclosed(first) == first
  end
end

--- Whether a fold is closed when it is made (again). In a new window (no memory) the host's word
--- counts; later only its first one, as the user may have opened the fold since.
---@param state flemma.FoldState
---@param fold flemma.Fold
---@param memory? flemma.FoldMemory
---@return boolean
local function should_close(state, fold, memory)
  if not memory then
    return fold.close or fold.level > (config.get("editing.foldlevel") or 1) and fold.level == 1
  end
  return memory[fold.id] == true or (fold.close and not state.closed_once[fold.id])
end

---@param state flemma.FoldState
---@param message flemma.Message
---@param line integer 0-based
---@param memory? flemma.FoldMemory
local function create(state, message, line, memory)
  local count = vim.api.nvim_buf_line_count(0)
  local making, closing = {}, {}
  -- Outer folds first: an inner one made before would be opened along with them.
  local folds = vim.list_slice(message.folds)
  table.sort(folds, function(left, right)
    return left.level < right.level
  end)
  for _, fold in ipairs(folds) do
    local first = line + fold.row + 1
    local last = math.min(line + fold.end_row + 1, count)
    if first <= last then
      table.insert(making, ("%d,%dfold"):format(first, last))
      table.insert(making, ("%dfoldopen!"):format(first))
      if should_close(state, fold, memory) then
        table.insert(closing, 1, ("%dfoldclose"):format(first))
      end
    end
  end
  if #making > 0 then
    vim.api.nvim_exec2(table.concat(vim.list_extend(making, closing), "\n"), {})
  end
end

---@param state flemma.FoldState
---@param message flemma.Message
local function mark_closed(state, message)
  for _, fold in ipairs(message.folds) do
    if fold.close then
      state.closed_once[fold.id] = true
    end
  end
end

--- Memory of messages that were removed in the view that is being drawn, by window.
---@type table<integer, flemma.FoldMemory>
local memories = {}

---@param window integer
---@return flemma.FoldMemory
local function memory_of(window)
  memories[window] = memories[window] or {}
  return memories[window]
end

--- A message goes: its folds go first, while its place is still known.
---@param bufnr integer
---@param key integer
function M.removed(bufnr, key)
  local message = outline.of(bufnr).messages[key]
  local line = message and outline.line_of(bufnr, key)
  if not line or not is_managed() then
    return
  end
  if is_held(bufnr) then
    state_of(bufnr).stale = true
    return
  end
  for _, window in ipairs(windows_of(bufnr)) do
    within(window, function()
      remember(message, line, memory_of(window))
      delete_at(line)
    end)
  end
end

--- Make all folds of a window anew.
---@param window integer
---@param bufnr integer
---@param memory? flemma.FoldMemory
local function rebuild(window, bufnr, memory)
  within(window, function()
    local all = outline.from(bufnr, 0)
    if memory then
      for _, located in ipairs(all) do
        remember(located.message, located.line, memory)
      end
    end
    vim.cmd("normal! zE")
    for _, located in ipairs(all) do
      create(state_of(bufnr), located.message, located.line, memory)
    end
  end)
end

--- A window shows the buffer: give it all folds.
---@param window integer
---@param bufnr integer
function M.shown(window, bufnr)
  if not is_managed() then
    return
  end
  state_of(bufnr).windows[window] = true
  set_options(window)
  vim.wo[window][0].foldlevel = config.get("editing.foldlevel") or 1
  rebuild(window, bufnr)
end

---@param window integer
---@param bufnr integer
---@param messages flemma.ViewMessage[]
local function update(window, bufnr, messages)
  set_options(window)
  within(window, function()
    for _, message in ipairs(messages) do
      delete_at(message.start)
      create(state_of(bufnr), message, message.start, memory_of(window))
    end
  end)
end

--- Messages are new or changed. While the user types or selects their folds wait.
---@param bufnr integer
---@param messages flemma.ViewMessage[]
function M.changed(bufnr, messages)
  if not is_managed() then
    return
  end
  local state = state_of(bufnr)
  if is_held(bufnr) then
    state.stale = true
    return
  end
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    if state.windows[window] then
      update(window, bufnr, messages)
    else
      M.shown(window, bufnr)
    end
  end
  memories = {}
  for _, message in ipairs(messages) do
    mark_closed(state, message)
  end
end

--- Insert mode or a selection ended: make the folds that waited.
---@param bufnr integer
function M.resume(bufnr)
  local state = state_of(bufnr)
  if not state.stale then
    return
  end
  state.stale = false
  vim.schedule(function()
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    state = state_of(bufnr)
    if is_held(bufnr) then
      state.stale = true
      return
    end
    patience.run(function()
      for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
        -- All may have been drawn anew meanwhile, and then no window has any fold.
        if state.windows[window] then
          rebuild(window, bufnr, {})
        else
          M.shown(window, bufnr)
        end
      end
    end)
    for _, message in pairs(outline.of(bufnr).messages) do
      mark_closed(state, message)
    end
  end)
end

--- Forget a buffer's folds.
---@param bufnr integer
function M.forget(bufnr)
  local waits = vim.api.nvim_buf_is_loaded(bufnr) and is_held(bufnr)
  if vim.api.nvim_buf_is_loaded(bufnr) and is_managed() and not waits then
    for _, window in ipairs(windows_of(bufnr)) do
      within(window, function()
        vim.cmd("normal! zE")
      end)
    end
  end
  states[bufnr] = nil
  if waits then
    state_of(bufnr).stale = true
  end
end

--- Close the fold at a line, unless it is closed.
---@param line integer 1-based
local function close(line)
  if vim.fn.foldclosed(line) == -1 and vim.fn.foldlevel(line) > 0 then
    vim.cmd(line .. "foldclose")
  end
end

--- Toggle the fold of the message (or the frontmatter) at the cursor; its inner folds close with it.
function M.toggle()
  local bufnr = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)[1]
  local located = outline.at(bufnr, cursor - 1)
  if not located then
    return
  end
  local first = located.line + 1
  if vim.fn.foldclosed(first) == first then
    vim.cmd(first .. "foldopen")
    return
  end
  for _, fold in ipairs(located.message.folds) do
    if fold.level > 1 then
      close(first + fold.row)
    end
  end
  close(first)
end

---@param bufnr integer
---@param turn integer[]
local function fold_middle(bufnr, turn)
  local first = outline.line_of(bufnr, turn[1])
  local last = outline.line_of(bufnr, turn[2])
  if not first or not last then
    return
  end
  for _, located in ipairs(outline.from(bufnr, first + 1)) do
    if located.line >= last then
      return
    end
    close(located.line + 1)
  end
end

--- Close the messages between the first and the last one of the turn at the cursor, or of all turns.
---@param scope "current"|"all"
function M.fold_turns(scope)
  local bufnr = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, turn in ipairs(outline.of(bufnr).turns) do
    if scope == "all" or require("flemma.turns").covers(bufnr, turn, line) then
      fold_middle(bufnr, turn)
    end
  end
end

return M

--- Applies the host's edits: at the tick they were computed for, locked or not, in one undo step.
local M = {}

---@class flemma.UndoState
---@field group? string
---@field tick integer

---@type table<integer, flemma.UndoState>
local undo = {}

---@param bufnr integer
---@return integer
local function tick_of(bufnr)
  return vim.api.nvim_buf_get_changedtick(bufnr)
end

--- Continue the undo step of the same group, or start a new one.
---@param bufnr integer
---@param group? string
local function prepare_undo(bufnr, group)
  local last = undo[bufnr]
  if group and last and last.group == group and last.tick == tick_of(bufnr) then
    vim.api.nvim_buf_call(bufnr, function()
      -- Refused after an undo (E790); then the change starts a step of its own.
      pcall(vim.cmd, "silent undojoin")
    end)
  else
    -- Setting the option to itself ends the current undo step.
    vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
  end
end

---@param bufnr integer
---@param edit any[]
local function apply_one(bufnr, edit)
  if edit[1] == "append" then
    local line = edit[2]
    local present = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, true)[1]
    local text = vim.split(edit[3], "\n", { plain = true })
    vim.api.nvim_buf_set_text(bufnr, line, #present, line, #present, text)
  else
    vim.api.nvim_buf_set_lines(bufnr, edit[2], edit[3], true, edit[4])
  end
end

--- Bottom up, so that no edit moves the place of another; of two at one place the later goes first.
---@param edits any[][]
---@return any[][]
local function bottom_up(edits)
  local order = {}
  for index, edit in ipairs(edits) do
    order[index] = { edit = edit, index = index }
  end
  table.sort(order, function(left, right)
    if left.edit[2] ~= right.edit[2] then
      return left.edit[2] > right.edit[2]
    end
    return left.index > right.index
  end)
  return vim.tbl_map(function(entry)
    return entry.edit
  end, order)
end

---@param bufnr integer
---@param edits any[][]
---@param group? string
local function write(bufnr, edits, group)
  local modifiable = vim.bo[bufnr].modifiable
  vim.bo[bufnr].modifiable = true
  local ok, reason = pcall(function()
    prepare_undo(bufnr, group)
    for index, edit in ipairs(bottom_up(edits)) do
      if index > 1 then
        vim.api.nvim_buf_call(bufnr, function()
          pcall(vim.cmd, "silent undojoin")
        end)
      end
      apply_one(bufnr, edit)
    end
  end)
  vim.bo[bufnr].modifiable = modifiable
  if not ok then
    error(reason, 0)
  end
  undo[bufnr] = { group = group, tick = tick_of(bufnr) }
end

--- See `Apply` in flemma/host/protocol.py.
---@param payload { bufnr: integer, tick: integer, edits: any[][], undo_group?: string }
---@return { ok: boolean, tick: integer, busy?: boolean, gone?: boolean, error?: string }
function M.apply(payload)
  local bufnr = payload.bufnr
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return { ok = false, tick = 0, gone = true }
  end
  local tick = tick_of(bufnr)
  if payload.tick ~= tick then
    return { ok = false, tick = tick }
  end
  local group = payload.undo_group ~= vim.NIL and payload.undo_group or nil
  local tail = require("flemma.cursor").tail(bufnr)
  local ok, reason = pcall(write, bufnr, payload.edits, group)
  if not ok then
    tail.release()
    local text = tostring(reason)
    return {
      ok = false,
      tick = tick_of(bufnr),
      busy = require("flemma.patience").is_busy(text),
      error = text,
    }
  end
  require("flemma.markdown").changed(bufnr)
  tail.follow()
  return { ok = true, tick = tick_of(bufnr) }
end

--- Whether the last change of a buffer was ours.
---@param bufnr integer
---@return boolean
function M.is_ours(bufnr)
  return undo[bufnr] ~= nil and undo[bufnr].tick == tick_of(bufnr)
end

--- Drop what is kept of a buffer that is gone.
---@param bufnr integer
function M.forget(bufnr)
  undo[bufnr] = nil
end

return M

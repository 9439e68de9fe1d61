--- Where the messages of a chat are, as the host told: an anchor per message that moves with the text.
local M = {}

local anchors = vim.api.nvim_create_namespace("flemma_anchor")

---@class flemma.Message
---@field key integer
---@field length integer
---@field role string
---@field inner? integer[] rows of the first and last line of content
---@field folds flemma.Fold[]
---@field marks flemma.Mark[]

---@class flemma.Outline
---@field messages table<integer, flemma.Message> by key; the key is the anchor's extmark id as well
---@field turns integer[][] key of the first and last message, 1 if complete

---@type table<integer, flemma.Outline> by buffer
local outlines = {}

---@param bufnr integer
---@return flemma.Outline
function M.of(bufnr)
  outlines[bufnr] = outlines[bufnr] or { messages = {}, turns = {} }
  return outlines[bufnr]
end

--- Place a message.
---@param bufnr integer
---@param message flemma.Message
---@param line integer 0-based
function M.place(bufnr, message, line)
  M.of(bufnr).messages[message.key] = message
  vim.api.nvim_buf_set_extmark(bufnr, anchors, line, 0, {
    id = message.key,
    right_gravity = true,
  })
end

---@param bufnr integer
---@param key integer
function M.remove(bufnr, key)
  M.of(bufnr).messages[key] = nil
  vim.api.nvim_buf_del_extmark(bufnr, anchors, key)
end

--- The 0-based line a message starts at now, or nil.
---@param bufnr integer
---@param key integer
---@return integer?
function M.line_of(bufnr, key)
  return vim.api.nvim_buf_get_extmark_by_id(bufnr, anchors, key, {})[1]
end

---@class flemma.Located
---@field message flemma.Message
---@field line integer 0-based line of its marker

---@param bufnr integer
---@param from any
---@param to any
---@param limit? integer
---@return flemma.Located[]
local function located(bufnr, from, to, limit)
  local messages = M.of(bufnr).messages
  local list = {}
  local marks = vim.api.nvim_buf_get_extmarks(bufnr, anchors, from, to, { limit = limit })
  for _, mark in ipairs(marks) do
    local message = messages[mark[1]]
    if message then
      table.insert(list, { message = message, line = mark[2] })
    end
  end
  return list
end

--- The message that covers a line, or nil.
---@param bufnr integer
---@param line integer 0-based
---@return flemma.Located?
function M.at(bufnr, line)
  local found = located(bufnr, { line, -1 }, 0, 1)[1]
  return found
end

--- The last message, or nil.
---@param bufnr integer
---@return flemma.Located?
function M.last(bufnr)
  return located(bufnr, -1, 0, 1)[1]
end

--- All messages from a line downwards.
---@param bufnr integer
---@param line integer 0-based
---@return flemma.Located[]
function M.from(bufnr, line)
  return located(bufnr, { line, 0 }, -1)
end

--- All messages whose marker is above a line, the nearest first.
---@param bufnr integer
---@param line integer 0-based, exclusive
---@return flemma.Located[]
function M.above(bufnr, line)
  if line <= 0 then
    return {}
  end
  return located(bufnr, { line - 1, -1 }, 0)
end

--- Forget everything about a buffer.
---@param bufnr integer
function M.clear(bufnr)
  outlines[bufnr] = nil
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, anchors, 0, -1)
  end
end

return M

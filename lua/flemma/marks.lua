--- Keeps what is drawn in step with the views of the host.
local draw = require("flemma.draw")
local outline = require("flemma.outline")

local M = {}

---@type table<integer, table<integer, integer[]>> extmarks by buffer and message key
local drawn = {}
--- Messages to draw again when a width changes, by buffer and by what changes.
---@type table<integer, { window: table<integer, boolean>, screen: table<integer, boolean> }>
local fitted = {}
---@type table<integer, integer[]> extmarks that go away with the next edit, by buffer
local fleeting = {}

---@param bufnr integer
---@param key integer
local function erase(bufnr, key)
  local ids = drawn[bufnr] and drawn[bufnr][key]
  for _, id in ipairs(ids or {}) do
    draw.erase(bufnr, id)
  end
  if ids then
    drawn[bufnr][key] = nil
    fitted[bufnr].window[key], fitted[bufnr].screen[key] = nil, nil
  end
end

---@param bufnr integer
---@param id integer
---@param seconds number
local function expire(bufnr, id, seconds)
  fleeting[bufnr] = fleeting[bufnr] or {}
  table.insert(fleeting[bufnr], id)
  vim.defer_fn(function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      draw.erase(bufnr, id)
    end
  end, math.floor(seconds * 1000))
end

---@param bufnr integer
---@param message flemma.Message
---@param line integer
local function draw_message(bufnr, message, line)
  fitted[bufnr] = fitted[bufnr] or { window = {}, screen = {} }
  local canvas = { bufnr = bufnr, line = line, width = require("flemma.buffers").width(bufnr) }
  local ids = {}
  for _, mark in ipairs(message.marks) do
    local made = draw.mark(canvas, mark)
    local width = draw.WIDTH[mark.kind]
    if width then
      fitted[bufnr][width][message.key] = true
    end
    vim.list_extend(ids, made)
    if mark.expires then
      expire(bufnr, made[1], mark.expires)
    end
  end
  drawn[bufnr] = drawn[bufnr] or {}
  drawn[bufnr][message.key] = ids
end

--- Draw the difference to the view before. Refused when the buffer moved on, which the answer says.
---@param view flemma.View
---@return { ok: boolean, moved?: boolean }
function M.apply(view)
  local bufnr = view.bufnr
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return { ok = false }
  end
  if vim.api.nvim_buf_get_changedtick(bufnr) ~= view.tick then
    return { ok = false, moved = true }
  end
  local folds = require("flemma.folds")
  if view.reset then
    M.forget(bufnr)
  end
  for _, key in ipairs(view.remove) do
    folds.removed(bufnr, key)
    erase(bufnr, key)
    outline.remove(bufnr, key)
  end
  for _, message in ipairs(view.set) do
    folds.removed(bufnr, message.key)
    erase(bufnr, message.key)
    outline.place(bufnr, message, message.start)
    draw_message(bufnr, message, message.start)
  end
  if view.turns then
    outline.of(bufnr).turns = view.turns
    require("flemma.turns").changed(bufnr)
  end
  folds.changed(bufnr, view.set)
  require("flemma.cursorline").moved(bufnr)
  return { ok = true }
end

--- A width changed: draw again what was fitted to it.
---@param bufnr integer
---@param width "window"|"screen"
function M.redraw(bufnr, width)
  for key in pairs(fitted[bufnr] and fitted[bufnr][width] or {}) do
    local message = outline.of(bufnr).messages[key]
    local line = message and outline.line_of(bufnr, key)
    if line then
      erase(bufnr, key)
      draw_message(bufnr, message, line)
    end
  end
end

--- The user edited the buffer: what was shown for a moment goes away.
---@param bufnr integer
function M.edited(bufnr)
  if not fleeting[bufnr] or require("flemma.edits").is_ours(bufnr) then
    return
  end
  for _, id in ipairs(fleeting[bufnr]) do
    draw.erase(bufnr, id)
  end
  fleeting[bufnr] = nil
end

--- End all animations (nobody is left to end them).
---@return integer count
function M.stop_spinners()
  return require("flemma.spinner").clear()
end

--- Take away all that is drawn in a buffer.
---@param bufnr integer
function M.forget(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    for key in pairs(drawn[bufnr] or {}) do
      erase(bufnr, key)
    end
  end
  drawn[bufnr], fitted[bufnr] = nil, nil
  fleeting[bufnr] = nil
  require("flemma.folds").forget(bufnr)
  outline.clear(bufnr)
end

return M
